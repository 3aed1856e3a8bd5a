"""The part of the history that an undo needs, from the index: what it may select, and what touched the same files.

`undo_choice` and `undo_walk` then work as on the whole history, and give the same result. `selectable` has the selected
commits and each undo that decides whether one of them still counts. `steps` follows the files of the chosen commits
through every rename, and through a move in two steps (a file deleted, and its content created elsewhere).
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from agent.vault.file_changes import FileChange
from agent.vault.history.commit_index import (
    CommitIndex,
    IndexedChange,
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
    if selection.job:
        return {each.id for each in index.having(needle(f"job:{selection.job}"))}
    if selection.since is not None:
        start = selection.since.timestamp()
        return {id_of(row) for row in index.rows if seconds_of(row) >= start}
    return ()


def steps(vault: Vault, index: CommitIndex, unsaved: Iterable[FileChange], commits: Sequence[Commit]) -> list[Step]:
    """The steps from HEAD back to the last of these commits, those that may matter with their files."""
    rows = _back_to_last(index, {commit.id for commit in commits})
    files = _Files(indexed(change) for change in unsaved)
    for commit in commits:
        for change in commit.files:
            files.add(change)
    near = _near(rows, files)
    found = {commit.id: commit for commit in read_commits(vault, list(near))}
    parts = {commit.id: commit for commit in commits}
    walk = []
    for row in rows:
        head, parents, _ = row.split(b"\t", 2)
        name = head.decode()
        walk.append(Step(name, tuple(parents.decode().split()), parts.get(name, found.get(name))))
    return walk


def _back_to_last(index: CommitIndex, ids: set[str]) -> list[bytes]:
    left, rows = {commit.encode() for commit in ids}, list[bytes]()
    for row in index.rows:
        if not left:
            break
        rows.append(row)
        left.discard(row[: row.index(b"\t")])
    return rows


class _Files:
    """The names that the files in question have had, and the contents that they began or ended with."""

    def __init__(self, unsaved: Iterable[IndexedChange]) -> None:
        self.fields: set[bytes] = set()
        self.unsaved = list(unsaved)

    def add(self, change: FileChange) -> None:
        """Follow the files of a change that is undone."""
        self._learn(indexed(change))

    def learn(self, changes: Iterable[IndexedChange]) -> None:
        """Follow the changes that are about files in question to their other names."""
        for change in changes:
            names = {_field(name) for name in (change.path, change.old_path, change.blob) if name}
            if not self.fields.isdisjoint(names):
                self._learn(change)

    def _learn(self, change: IndexedChange) -> None:
        self.fields.update(_field(name) for name in (change.path, change.old_path, change.blob) if name)

    def is_in(self, row: bytes) -> bool:
        """True if the row may be about a file in question."""
        if len(self.fields) <= _FEW:
            return any(each in row for each in self.fields)
        return not self.fields.isdisjoint(row.split(b"\t"))


def _near(rows: Sequence[bytes], files: _Files) -> dict[str, None]:
    """The commits that changed a file in question, under any of its names."""
    while True:
        before = len(files.fields)
        files.learn(files.unsaved)
        found = [parse_row(row) for row in rows if files.is_in(row)]
        for commit in found:
            files.learn(change for side in commit.sides for change in side)
        if len(files.fields) == before:
            return dict.fromkeys(commit.id for commit in found)


def _field(text: str) -> bytes:
    return needle(text)[1:-1]
