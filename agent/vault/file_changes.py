"""Changes of files between two trees, parsed from git's raw diff, in the vault's own paths."""

from collections.abc import Iterator, Sequence
from enum import StrEnum

from agent.dataclass import dataclass
from agent.vault.plumbing.objects import TreeEntry

_NOT_THERE = "0"


class Kind(StrEnum):
    """The kind of a file's change."""

    CREATED = "created"
    EDITED = "edited"
    DELETED = "deleted"
    RENAMED = "renamed"


@dataclass(frozen=True, slots=True)
class FileChange:
    """The change of one file in a commit; paths are relative to the vault, `old_path` is set for a rename.

    `before` and `after` are git's entries (None: no file; an id of zeros: the content is only in the working tree).
    """

    kind: Kind
    path: str
    old_path: str | None = None
    before: TreeEntry | None = None
    after: TreeEntry | None = None


def parse_raw(fields: Sequence[str], position: int, prefix: str) -> tuple[tuple[FileChange, ...], int]:
    """The records of `--raw -z` from `position` on, without files outside the vault, and the position after them."""
    files: list[FileChange] = []
    while position < len(fields) and fields[position].lstrip("\n").startswith(":"):
        old_mode, mode, old_id, new_id, status = fields[position].lstrip("\n")[1:].split(" ")
        count = 2 if status[0] in "RC" else 1
        paths = fields[position + 1 : position + 1 + count]
        names = [path.removeprefix(prefix) if path.startswith(prefix) else None for path in paths]
        position += 1 + count
        before = TreeEntry(old_mode, old_id) if old_mode.strip(_NOT_THERE) else None
        after = TreeEntry(mode, new_id) if mode.strip(_NOT_THERE) else None
        if status[0] != "U":
            files += _change(names[0], names[-1], before, after)
    return tuple(files), position


def parse_raw_lists(fields: Sequence[str], prefix: str) -> Iterator[tuple[FileChange, ...]]:
    """The changes in each list that `git diff-tree --stdin --always -z` prints, one list for each commit."""
    position = 0
    while position < len(fields) and fields[position]:
        found, position = parse_raw(fields, position + 1, prefix)
        yield found


def _change(
    old: str | None, new: str | None, before: TreeEntry | None, after: TreeEntry | None
) -> Iterator[FileChange]:
    """One record as a change inside the vault: a file moved in counts as created, a file moved out as deleted."""
    if old is not None and new is not None and old != new:
        yield FileChange(Kind.RENAMED, new, old, before, after)
    elif new is not None:
        inside = before if old is not None else None
        kind = Kind.CREATED if inside is None else Kind.EDITED if after is not None else Kind.DELETED
        yield FileChange(kind, new, None, inside, after)
    elif old is not None:
        yield FileChange(Kind.DELETED, old, None, before, None)
