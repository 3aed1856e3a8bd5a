"""The subject of a commit with a person's edits: the notes by name, so that a list of commits says what was done."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from agent.markdown.title import columns
from agent.vault.message import SUBJECT
from agent.vault.worktree.survey import DirtyKind

_SCOPE = "human(notes): "


def edit_summary(kinds: Mapping[str, DirtyKind], renames: Mapping[str, str]) -> str:
    """The subject for files by kind, at least one, such as `human(notes): edited Trip plan, created Packing`.

    `renames` is old to new path, both also in `kinds`. Names that do not fit are counted.
    """
    moved = {*renames, *renames.values()}
    named: dict[str, list[str]] = {}
    for kind in (DirtyKind.EDITED, DirtyKind.CREATED, DirtyKind.DELETED):
        names = [_name(path) for path, found in kinds.items() if found is kind and path not in moved]
        named |= {kind.value: names} if names else {}
    for old, new in renames.items():
        verb, words = _as_move(old, new)
        named.setdefault(verb, []).append(words)
    longest = min(SUBJECT, max((len(names) for names in named.values()), default=0))  # no name takes less than a column
    groups = list(named.items())
    tries = [(most, len(groups)) for most in range(longest, 0, -1)]
    tries += [(1, full) for full in range(len(groups))[::-1]]
    line = ""
    for most, full in tries:
        line = _SCOPE + ", ".join(_groups(groups, most, full))
        if columns(line) <= SUBJECT:
            break
    return line


def _groups(groups: Sequence[tuple[str, Sequence[str]]], most: int, full: int) -> Iterator[str]:
    """Each verb with its names, at most `most`; after the first `full` groups with their number only."""
    for at, (verb, names) in enumerate(groups):
        yield f"{verb} {_listed(names, most)}" if at < full else f"{len(names)} {verb}"


def find_renames(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, str]:
    """Old to new path of the files that moved: `before` has the deleted ones and their blob ids, `after` the created.

    A file counts as moved if its content is the same, or if it has the same name in another folder.
    """
    same = {oid: path for path, oid in after.items()}
    renames = {old: same[oid] for old, oid in before.items() if oid in same}
    taken = set(renames.values())
    left = {PurePosixPath(path).name: path for path in after if path not in taken}
    for old in [path for path in before if path not in renames]:
        name = PurePosixPath(old).name
        if name in left:
            renames[old] = left.pop(name)
    return renames


def _as_move(old: str, new: str) -> tuple[str, str]:
    if PurePosixPath(old).name == PurePosixPath(new).name:
        folder = new.rpartition("/")[0]
        return "moved", f"{_name(old)} to {folder or 'the top folder'}"
    return "renamed", f"{_name(old)} → {_name(new)}"


def _listed(names: Sequence[str], most: int) -> str:
    more = len(names) - most
    if more > 0:
        return f"{', '.join(names[:most])} and {more} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _name(path: str) -> str:
    return PurePosixPath(path).name.removesuffix(".md")
