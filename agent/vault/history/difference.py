"""Changes in two forms: as a patch of lines, and in the notes' own terms (a task ticked, a property set).

The working tree is compared through a private copy of the index, so that new notes and manual renames are included and
the person's index stays unchanged. No command from a vault's configuration is run.
"""

import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.git.object_ids import FILE, PROGRAM, object_id
from agent.git.repository import Place
from agent.markdown import changes
from agent.markdown.note import Note
from agent.texts import Sentence
from agent.vault.change import FileChange, Kind, parse_raw
from agent.vault.history.commits import public_changes
from agent.vault.store import Vault
from agent.vault.worktree.files import Files
from agent.vault.worktree.paths import is_note, is_temporary

_NOTE_BYTES = 1 << 20
_OPTIONS = (
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--no-abbrev",
    "-M",
    "--no-relative",
    "--ignore-submodules=all",
)
_PREFIXES = ("--src-prefix=a/", "--dst-prefix=b/")
_FIRST_LINE = re.compile(rb"^(?:diff --git |\* Unmerged path )", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class FileDifference:
    """One changed file: its change, its part of git's patch, and lines that describe the change to the note."""

    change: FileChange
    patch: bytes
    lines: tuple[str, ...]

    def is_in(self, path: str) -> bool:
        """True if the file is, or was, the note at this path or in this folder; empty: the whole vault."""
        names = (self.change.path, self.change.old_path or "")
        return not path or any(name == path or name.startswith(f"{path}/") for name in names)


def of_commit(vault: Vault, commit: str) -> list[FileDifference]:
    """The changes of a commit (a full id) against its first parent, or against an empty tree if it has none."""
    git, place = vault.git, vault.place
    rows = git.run("rev-list", "--parents", "--max-count=1", "--end-of-options", commit).decode().split()
    old = rows[1] if len(rows) > 1 else object_id("tree", b"", git.width)
    command = ["diff-tree", "-r", "--raw", "-p", "-z", *_OPTIONS, *_PREFIXES]
    out = git.run(*command, old, commit, *place.pathspec)
    found, patches = _split(out, place)
    return _public(vault, found, patches, describe(vault, found))


def of_working_tree(vault: Vault) -> list[FileDifference]:
    """The uncommitted changes, staged or not, including new files that git does not ignore."""
    found, patches = _split(_against_head(vault, ["--raw", "-p"]), vault.place)
    return _public(vault, found, patches, describe(vault, found, vault.writer.files))


def _public(
    vault: Vault, found: Sequence[FileChange], patches: Sequence[bytes], described: Sequence[tuple[str, ...]]
) -> list[FileDifference]:
    """The differences without private notes; of a note that came out of one, only that it was made."""
    public = public_changes(vault, found)
    visible = (each for each in zip(found, patches, described, strict=True) if each[0] in public)
    return [
        FileDifference(change, patch, lines) if public[change] is change else FileDifference(public[change], b"", ())
        for change, patch, lines in visible
    ]


def uncommitted(vault: Vault) -> tuple[FileChange, ...]:
    """The files that differ from the last commit, with renames detected; faster than their patches."""
    fields = _against_head(vault, ["--raw"]).decode("utf-8", "surrogateescape").split("\0")
    found = parse_raw(fields, 0, vault.place.prefix)[0]
    return tuple(change for change in found if not is_temporary(change.path))


def _against_head(vault: Vault, output: Sequence[str]) -> bytes:
    git, place = vault.git, vault.place
    listed = git.run("ls-files", "-z", "--others", "--exclude-standard", *place.pathspec)
    new = [path for path in listed.split(b"\0") if path and not path.endswith(b"/")]
    old = vault.head or object_id("tree", b"", git.width)
    blob = object_id("blob", b"", len(old)).encode()
    lines = b"".join(FILE.encode() + b" " + blob + b"\t" + path + b"\0" for path in new)
    with tempfile.TemporaryDirectory(prefix="vault-agent-diff-") as folder:
        index = Path(folder) / "index"
        if (place.gitdir / "index").exists():
            # Keep the index's own time: git needs it to find files that changed within the same clock tick.
            shutil.copy2(place.gitdir / "index", index)
        if lines:
            git.run("update-index", "-z", "--index-info", stdin=lines, index=index, drivers_off=True)
        command = ["diff", *output, "-z", *_OPTIONS, *_PREFIXES]
        return git.run(*command, "--end-of-options", old, *place.pathspec, index=index, drivers_off=True)


def _split(out: bytes, place: Place) -> tuple[tuple[FileChange, ...], list[bytes]]:
    """The changes, and the part of the patch for each; git writes both in the same order."""
    raw, _, patch = out.partition(b"\0\0")
    fields = raw.decode("utf-8", "surrogateescape").split("\0")
    found = parse_raw(fields, 0, place.prefix)[0]
    starts = [match.start() for match in _FIRST_LINE.finditer(patch)]
    parts = [patch[start:end] for start, end in zip(starts, [*starts[1:], len(patch)], strict=False)]
    files = iter(part for part in parts if part.startswith(b"diff --git "))
    patches = [b"".join(next(files, b"") for _ in range(2 if _is_two(change) else 1)) for change in found]
    visible = [(change, part) for change, part in zip(found, patches, strict=True) if not is_temporary(change.path)]
    return tuple(change for change, _ in visible), [part for _, part in visible]


def _is_two(change: FileChange) -> bool:
    """True if git shows the change as a removal and an addition: a file became a link, or a link a file."""
    if change.before is None or change.after is None:
        return False
    return change.before.mode[:2] != change.after.mode[:2]


def describe(vault: Vault, found: Sequence[FileChange], files: Files | None = None) -> list[tuple[str, ...]]:
    """For each change of a note, lines that describe it; all objects are read at once.

    With `files`, the new version is read from the working tree. Empty for files that are not notes, are new or deleted,
    or are larger than a megabyte.
    """
    wanted = [change for change in found if _is_described(change)]
    ends = [entry for change in wanted for entry in (change.before, None if files else change.after) if entry]
    data = vault.git.small_blobs((entry.oid for entry in ends), _NOTE_BYTES)
    return [tuple(_described(change, data, files)) if _is_described(change) else () for change in found]


def _is_described(change: FileChange) -> bool:
    plain = {FILE, PROGRAM}
    if change.before is None or change.after is None or not is_note(change.path):
        return False
    return change.before.mode in plain and change.after.mode in plain and change.before.oid != change.after.oid


def _described(change: FileChange, data: Mapping[str, bytes], files: Files | None) -> Iterator[str]:
    assert change.before is not None and change.after is not None
    before = data.get(change.before.oid)
    try:
        after = files.read(change.path) if files else data.get(change.after.oid)
    except AgentError:
        after = None
    if before is None or after is None or len(after) > _NOTE_BYTES:
        return
    yield from changes.format_changes(changes.compare_notes(Note.parse(before), Note.parse(after)))


def summary(change: FileChange) -> str:
    """One line with the name of the file and its change."""
    if change.kind is Kind.RENAMED:
        return Sentence("renamed: {old} → {path}", old=change.old_path, path=change.path)
    return Sentence("{kind}: {path}", kind=Sentence(change.kind), path=change.path)
