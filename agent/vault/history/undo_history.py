"""The part of the history that an undo needs, from the index: what it may select, and what touched the same files.

`undo_choice` and `undo_walk` then work as on the whole history, and give the same result. `selectable` has the selected
commits and each undo that decides whether one of them still counts. `steps` follows the files of the chosen commits
through every rename, and through a move in two steps (a file deleted, and its content created elsewhere).
"""

from collections.abc import Collection, Iterable, Iterator, Sequence

from agent.dataclass import dataclass
from agent.vault.file_changes import FileChange
from agent.vault.history.commit_index import (
    CommitIndex,
    IndexedChange,
    IndexedCommit,
    field_start,
    id_of,
    indexed,
    needle,
    parse_row,
    seconds_of,
)
from agent.vault.history.commits import Commit, read_commits, resolve
from agent.vault.history.undo_choice import Selection
from agent.vault.store import Vault

_FEW = 8
"""Names up to which a row is searched for each of them."""


@dataclass(frozen=True, slots=True)
class Step:
    """One commit on the walk back; `commit` is None if it touched none of the files in question."""

    id: str
    parents: tuple[str, ...]
    commit: Commit | None


def whole(history: Sequence[Commit], commits: Sequence[Commit]) -> list[Step]:
    """The steps of a walk that looks at each commit of a history, to undo some of them."""
    parts = {commit.id: commit for commit in commits}
    return [Step(commit.id, commit.parents, parts.get(commit.id, commit)) for commit in history]


def selectable(vault: Vault, index: CommitIndex, selection: Selection) -> list[Commit]:
    """The commits that a selection may choose, and the undos about them, children before parents."""
    wanted = _selected(vault, index, selection)
    undos, ids = index.undos(), set(wanted)
    while more := {each.id for each in undos if not ids.isdisjoint(each.undoes)} - ids:
        ids |= more
    if len(ids) <= _FEW:
        return read_commits(vault, [each.id for each in index.having(*map(str.encode, ids)) if each.id in ids])
    return read_commits(vault, [commit for commit in map(id_of, index.rows) if commit in ids])


def _selected(vault: Vault, index: CommitIndex, selection: Selection) -> Collection[str]:
    if selection.commits:
        return {resolve(vault, name) for name in selection.commits}
    if selection.run:
        found = index.having(field_start(selection.run))
        return {each.id for each in found if each.run == selection.run or each.run.startswith(f"{selection.run}.")}
    chosen: set[str] | None = None
    if selection.by:
        chosen = {commit for each in selection.by for commit in index.ids_having(needle(each))}
    if selection.since is not None:
        start = selection.since.timestamp()
        recent = {id_of(row) for row in index.rows if seconds_of(row) >= start}
        chosen = recent if chosen is None else chosen & recent
    return chosen or ()


def steps(vault: Vault, index: CommitIndex, unsaved: Iterable[FileChange], commits: Sequence[Commit]) -> list[Step]:
    """The steps from HEAD back to the last of these commits, those that may matter with their files."""
    content = _back_to_last(index, commits)
    changes = [indexed(change) for commit in commits for change in commit.files]
    near = _near(content, changes, [indexed(change) for change in unsaved])
    found = {commit.id: commit for commit in read_commits(vault, near)}
    parts = {commit.id: commit for commit in commits}
    walk = []
    for row in content.split(b"\n")[:-1]:
        head, parents, _ = row.split(b"\t", 2)
        name = head.decode()
        walk.append(Step(name, tuple(parents.decode().split()), parts.get(name, found.get(name))))
    return walk


def _back_to_last(index: CommitIndex, commits: Sequence[Commit]) -> bytes:
    """The rows from HEAD to the oldest of these commits."""
    content, end = index.content, 0
    for commit in commits:
        row = commit.id.encode() + b"\t"
        at = 0 if content.startswith(row) else content.index(b"\n" + row) + 1
        end = max(end, content.index(b"\n", at) + 1)
    return content[:end]


def _near(content: bytes, changes: Iterable[IndexedChange], unsaved: Iterable[IndexedChange]) -> list[str]:
    """The commits that changed the files of these changes, under any of their names."""
    fields = {field for change in changes for field in _fields(change)}
    found: dict[str, IndexedCommit] = {}
    known = list(unsaved)
    new = fields
    while new:
        for commit in _with_any(content, new):
            if commit.id not in found:
                found[commit.id] = commit
                known += [change for side in commit.sides for change in side]
        new = _linked(known, fields) - fields
        fields = fields | new
    return list(found)


def _with_any(content: bytes, fields: Collection[bytes]) -> Iterator[IndexedCommit]:
    """The commits whose rows have one of the fields."""
    if len(fields) <= _FEW:
        yield from CommitIndex(content).having(*(b"\t" + each + b"\t" for each in fields))
        return
    wanted = frozenset(fields)
    yield from (parse_row(row) for row in content.split(b"\n")[:-1] if not wanted.isdisjoint(row.split(b"\t")))


def _linked(changes: Iterable[IndexedChange], fields: Collection[bytes]) -> set[bytes]:
    """The other names, and the contents, in changes that have one of the fields."""
    named = [_fields(change) for change in changes]
    return {field for each in named if not each.isdisjoint(fields) for field in each}


def _fields(change: IndexedChange) -> set[bytes]:
    """A change's names, and the content that began or ended with it, as fields of a row."""
    return {needle(name)[1:-1] for name in (change.path, change.old_path, change.blob) if name}
