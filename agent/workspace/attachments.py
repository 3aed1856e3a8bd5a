"""The attachments of a vault: which there are, and the index of their texts, which follows that of the notes.

Notes come first: texts are extracted outside of the index's lock, and taken in a few at a time.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING, TypeAlias

from agent.attachments.cache import ExtractedTexts, keep_checked, load_checked
from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.json_value import parse_json
from agent.lazy import later
from agent.vault.listing import attachment_paths, differing
from agent.vault.store import Vault
from agent.workspace.index_status import indexed_hashes, named
from agent.workspace.workspace import Workspace

if TYPE_CHECKING:
    from agent.attachments.extract import Extractor
    from agent.workspace.search_index import SearchIndex
else:
    Extractor = later("agent.attachments.extract", "Extractor")

TOGETHER = 20
"""Files that are taken in at once: a note that is saved meanwhile waits for no more of them, about a second."""
_MOST_BYTES = 1_000_000
"""Bytes of their texts, too."""
_STAMPS = "stamps.json"
_SETTLED = 2_000_000_000
"""Nanoseconds from its last change after which a file that looks the same is the same."""
_Stamp: TypeAlias = tuple[int, int, int]
"""Size, time of the last change, and inode of a file."""
Progress: TypeAlias = Callable[[int, int], object]
Cancelled: TypeAlias = Callable[[], bool]


def never() -> bool:
    """False: it is not cancelled."""
    return False


def ignore_progress(done: int, of: int) -> None:
    """Do nothing; for where no progress is shown."""


@dataclass(frozen=True, slots=True)
class AttachmentChanges:
    """How many attachments were taken into the index, and how many were removed from it; `left` are still to be."""

    indexed: int = 0
    forgotten: int = 0
    left: int = 0


def hash_attachments(workspace: Workspace, paths: Iterable[str]) -> dict[str, str]:
    """Path to content hash of the attachments at these paths; only those that changed are read.

    One that is larger than the settings allow has a hash that tells so. One that cannot be read is left out.
    """
    vault, place = workspace.vault, workspace.cache / "attachments" / _STAMPS
    largest, known = workspace.texts.largest, _load_stamps(place)
    now, found, stamps = workspace.clock.now().timestamp() * 1e9, dict[str, str](), dict[str, tuple[_Stamp, str]]()
    for path in named(dict.fromkeys(paths)):
        stamp = _stamp(vault.place.root / path)
        if stamp is None:
            continue
        if stamp[0] > largest:
            found[path] = vault.content_id(f"larger than {largest}: {stamp[0]}".encode())
            continue
        before = known.get(path)
        digest = before[1] if before is not None and before[0] == stamp else _hash(vault, path)
        if digest:
            found[path] = digest
            if stamp[1] < now - _SETTLED:
                stamps[path] = (stamp, digest)
    if stamps != known:
        keep_checked(place, json.dumps(stamps).encode())
    return found


def list_attachments(workspace: Workspace) -> dict[str, str]:
    """Path to content hash of all attachments that git does not ignore."""
    return hash_attachments(workspace, attachment_paths(workspace.vault))


def update_attachments(
    index: "SearchIndex",
    listed: Mapping[str, str],
    cancelled: Cancelled = never,
    progress: Progress = ignore_progress,
) -> AttachmentChanges:
    """Bring the index, which has all notes, up to these attachments, some at a time, until it is `cancelled`. Raises
    `LockHeld` if another process is updating it."""
    workspace = index.workspace
    differs = sorted(differing(indexed_hashes(index.files, attachments=True), listed))
    indexed = forgotten = done = 0
    if not differs:
        return AttachmentChanges()
    with closing(Extractor()) as extractor:
        texts = replace(workspace.texts, extractor=extractor)
        for read in _in_batches(workspace.vault, texts, {path: listed.get(path) for path in differs}, cancelled):
            changed = {path: listed.get(path) for path in read}
            report = index.updater.touch(changed, partial(_bytes_of, read))
            if report is None:  # the index has to be made anew: with the notes first
                index.refresh()
                report = index.updater.touch(changed, partial(_bytes_of, read))
            if report is None:
                break
            indexed, forgotten = indexed + report.indexed, forgotten + report.forgotten
            done += len(read)
            progress(done, len(differs))
    if not cancelled():
        texts.forget_others({*listed.values()})
    return AttachmentChanges(indexed, forgotten, len(differs) - done)


def _in_batches(
    vault: Vault, texts: ExtractedTexts, files: Mapping[str, str | None], cancelled: Cancelled
) -> Iterator[dict[str, bytes | OSError]]:
    """The texts of the files, some at a time, as the index reads them, or why one cannot be read; empty for a file that
    is gone."""
    held: dict[str, bytes | OSError] = {}
    size = 0
    for path, digest in files.items():
        if cancelled():
            return
        found = _text_of(vault, texts, path) if digest is not None else b""
        length = len(found) if isinstance(found, bytes) else 0
        if held and (len(held) == TOGETHER or size + length > _MOST_BYTES):
            yield held
            held, size = {}, 0
        held[path] = found
        size += length
    if held:
        yield held


def _text_of(vault: Vault, texts: ExtractedTexts, path: str) -> bytes | OSError:
    try:
        stamp = _stamp(vault.place.root / path)
        if stamp is not None and stamp[0] > texts.largest:
            return texts.too_large().to_bytes()
        data = vault.read_now(path) or b""
        return texts.text_of(path, data, vault.content_id(data)).to_bytes()  # it may have changed since it was listed
    except (OSError, AgentError) as error:
        return error if isinstance(error, OSError) else OSError(str(error))


def _bytes_of(read: Mapping[str, bytes | OSError], path: str) -> bytes:
    found = read[path]
    if isinstance(found, OSError):
        raise found
    return found


def _stamp(path: Path) -> _Stamp | None:
    """What a file looks like; None for what is none."""
    try:
        found = path.lstat()
    except OSError:
        return None
    return (found.st_size, found.st_mtime_ns, found.st_ino) if S_ISREG(found.st_mode) else None


def _hash(vault: Vault, path: str) -> str:
    """The content hash of a file; empty if it cannot be read."""
    try:
        data = vault.read_now(path)
    except (OSError, AgentError):
        return ""
    return "" if data is None else vault.content_id(data)


def _load_stamps(place: Path) -> dict[str, tuple[_Stamp, str]]:
    """What the files looked like when they were read last, with their hashes."""
    try:
        return {path: (tuple(stamp), digest) for path, (stamp, digest) in parse_json(load_checked(place)).items()}
    except (ValueError, TypeError, AttributeError):
        return {}
