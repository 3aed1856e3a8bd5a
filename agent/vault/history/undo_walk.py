"""Follows files back through renames: finds the present file of a path in an old commit.

Walks from the working tree and HEAD to the parents. For each commit still to come, it has a table from the paths of
that time to the present files. The changes of undone commits go to the `UndoPlan`; other commits only update the table.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import field

from agent.dataclass import dataclass
from agent.vault.change import FileChange, Kind
from agent.vault.history.commit_index import (
    CommitIndex,
    IndexedChange,
    IndexedCommit,
    against,
    field_start,
    id_of,
    indexed,
    needle,
    parse_row,
    seconds_of,
)
from agent.vault.history.commits import Commit, read_commits, resolve
from agent.vault.history.undo_choice import Selection
from agent.vault.history.undo_plan import PlannedFile, UndoPlan
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


Whereabouts = dict[str, PlannedFile | None]
"""Path at some time to its present file; None: that file is gone. A missing path still has the same file."""


@dataclass(slots=True)
class Walk:
    """One walk back. `merged` has the changes of each merge against each of its parents except the first."""

    undo_plan: UndoPlan
    merged: dict[tuple[str, str], tuple[FileChange, ...]]
    _born: dict[str, tuple[str, PlannedFile | None]] = field(default_factory=dict)
    _died: dict[str, str] = field(default_factory=dict)

    def back(self, history: Sequence[Step], unsaved: Sequence[FileChange], targets: Collection[str]) -> None:
        """Undo the `targets` in `history` (children first), starting from a working tree with `unsaved` changes."""
        if not history:
            return
        left = set(targets)
        start: Whereabouts = {}
        self._learn(start, unsaved, None)
        waiting = {history[0].id: start}
        for step in history:
            if not left:
                break
            here = waiting.pop(step.id, {})
            for parent in step.parents[1:]:
                other = dict(here)
                self._learn(other, self.merged.get((step.id, parent), ()), step.commit)
                _add(waiting, parent, other)
            if step.commit is not None and step.id in left:
                left.remove(step.id)
                self._undo(here, step.commit)
            elif step.commit is not None:
                self._learn(here, step.commit.files, step.commit)
            if step.parents:
                _add(waiting, step.parents[0], here)
        self.undo_plan.finish()

    def _undo(self, here: Whereabouts, commit: Commit) -> None:
        for change in commit.files:
            known = None if change.kind is Kind.DELETED else self._find(here, change.path)
            draft = self.undo_plan.undo(commit, change, known)
            if change.kind in {Kind.CREATED, Kind.RENAMED}:
                here[change.path] = None
            if change.kind is not Kind.CREATED:
                here[change.old_path or change.path] = draft

    def _learn(self, here: Whereabouts, changes: Sequence[FileChange], commit: Commit | None) -> None:
        """Update the table for a change that stays; `commit` is None for an uncommitted change."""
        for change in changes:
            draft = None if change.kind is Kind.DELETED else self._find(here, change.path)
            if draft is not None and commit is None:
                draft.unsaved = True
            elif draft is not None and commit is not None:
                draft.later.append(commit)
            match change.kind:
                case Kind.CREATED:
                    here[change.path] = None
                    self._bear(here, change, draft)
                case Kind.RENAMED:
                    here[change.path] = None
                    here[change.old_path or change.path] = draft
                case Kind.DELETED:
                    here[change.path] = self._returned(change)
                    if change.before is not None:
                        self._died[change.before.oid] = change.path
                case Kind.EDITED:
                    pass

    def _bear(self, here: Whereabouts, change: FileChange, draft: PlannedFile | None) -> None:
        """Record a created file; if a later commit deleted the same content elsewhere, it was moved in two steps."""
        if change.after is None:
            return
        self._born[change.path] = (change.after.oid, draft)
        left = self._died.get(change.after.oid)
        if left is not None and left in here and here[left] is None:
            here[left] = draft

    def _returned(self, change: FileChange) -> PlannedFile | None:
        """The file that was created again later with exactly the content deleted here: it is the same file."""
        oid, draft = self._born.get(change.path, ("", None))
        return draft if change.before is not None and change.before.oid == oid else None

    def _find(self, here: Whereabouts, path: str) -> PlannedFile | None:
        return here[path] if path in here else self.undo_plan.present(path)


def _add(waiting: dict[str, Whereabouts], commit: str, found: Whereabouts) -> None:
    """Join two tables of one commit; a file known in either is known in the result."""
    known = waiting.setdefault(commit, found)
    if known is not found:
        known.update({path: draft for path, draft in found.items() if known.get(path) is None})


def against_other_parents(vault: Vault, history: Sequence[Step]) -> dict[tuple[str, str], tuple[FileChange, ...]]:
    """The changes of each merge that matters against its parents other than the first, read by one process."""
    pairs = [(step.id, parent) for step in history if step.commit is not None for parent in step.parents[1:]]
    return dict(zip(pairs, against(vault, pairs), strict=True))
