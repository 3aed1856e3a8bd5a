"""Checks that git has every object that the history needs; what was found whole before is not walked again.

A walk over a long history takes many seconds. After one that found all, the tips are recorded with the packs and the
loose objects of that moment. The next check compares those files with their checksums, which is quick and says more
than a walk, and walks what is new. When one of them is gone or damaged, the whole history is walked.
"""

import json
import zlib
from dataclasses import asdict
from pathlib import Path

from agent.dataclass import dataclass
from agent.errors import GitFailed
from agent.json_value import parse_json
from agent.vault import durable
from agent.vault.plumbing.git import Git
from agent.vault.plumbing.object_ids import hasher
from agent.vault.plumbing.repository import common_folder, is_id
from agent.vault.store import Vault

MOST_LOOSE = 20_000
"""The most loose objects that are recorded: with more, the next check walks everything."""
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class WholeHistory:
    """A history that was whole: the commits of its references, and the names of its packs and loose objects."""

    tips: tuple[str, ...]
    packs: tuple[str, ...]
    loose: tuple[str, ...]


def check_objects(vault: Vault, git: Git) -> None:
    """Raise `GitFailed` with what `git fsck` says if an object is missing or damaged, `Retryable` after the time limit
    of `git`."""
    record, folder = vault.private_folder / "whole-history.json", common_folder(vault.place.gitdir) / "objects"
    now, known = _present(git, folder), _load(record)
    is_known = known is not None and not (folder / "info" / "alternates").exists() and _is_whole(git, folder, known)
    excluded = known.tips if known is not None and is_known else ()
    try:
        walk = ("rev-list", "--objects", "--quiet", "--all", "--indexed-objects", "--stdin")
        git.run(*walk, stdin="".join(f"^{tip}\n" for tip in excluded).encode())
    except GitFailed:
        record.unlink(missing_ok=True)
        git.run("fsck", "--connectivity-only", "--no-dangling", "--no-progress")
        return
    if now != known and len(now.loose) <= MOST_LOOSE:
        durable.replace(record, json.dumps(asdict(now)))


def _present(git: Git, folder: Path) -> WholeHistory:
    """What there is now. In this order: what the tips need was there before them, and git packs before it deletes."""
    tips = git.run("for-each-ref", "--format=%(objectname)").decode().split()
    tips += git.run("rev-parse", "--verify", "-q", "HEAD", ok=(0, 1, 128)).decode().split()
    names = (path.parent.name + path.name for path in folder.glob("[0-9a-f][0-9a-f]/*"))
    loose = sorted(filter(is_id, names))
    packs = sorted(path.name for path in (folder / "pack").glob("*") if path.suffix in {".pack", ".idx"})
    return WholeHistory(tuple(sorted(set(tips))), tuple(packs), tuple(loose))


def _load(record: Path) -> WholeHistory | None:
    """The record of the last check; None if it is missing or damaged."""
    try:
        found = parse_json(record.read_text("utf-8"))
        tips, packs, loose = (tuple(map(str, found[name])) for name in ("tips", "packs", "loose"))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return WholeHistory(tips, packs, loose)


def _is_whole(git: Git, folder: Path, known: WholeHistory) -> bool:
    """True if all that was there at the last check still is, byte by byte."""
    try:
        if not all(_has_checksum(folder / "pack" / name, git.width) for name in known.packs):
            return False
        packed = [oid for oid in known.loose if not _is_loose(folder / oid[:2] / oid[2:], oid)]
        asked = "".join(f"{oid}\n" for oid in packed).encode()
        return not packed or b" missing\n" not in git.run("cat-file", "--batch-check", stdin=asked)
    except (OSError, zlib.error):
        return False


def _has_checksum(path: Path, width: int) -> bool:
    """True if a pack, or the index of one, ends in the checksum of its other bytes."""
    size = width // 2
    left = path.stat().st_size - size
    hashed = hasher(width)
    with path.open("rb") as file:
        while left > 0 and (data := file.read(min(left, _CHUNK))):
            hashed.update(data)
            left -= len(data)
        return left == 0 and file.read() == hashed.digest()


def _is_loose(path: Path, oid: str) -> bool:
    """True if an object is there and is what its name says; False if it is not there. Raises `zlib.error`."""
    try:
        data = zlib.decompress(path.read_bytes())
    except FileNotFoundError:
        return False
    hashed = hasher(len(oid))
    hashed.update(data)
    if hashed.hexdigest() != oid:
        raise zlib.error("another object")
    return True
