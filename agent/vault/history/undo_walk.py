"""Follows files back through renames: finds the present file of a path in an old commit.

Walks from the working tree and HEAD to the parents. For each commit still to come, it has a table from the paths of
that time to the present files. The changes of undone commits go to the `UndoPlan`; other commits only update the table.
"""

from collections.abc import Collection, Sequence
from dataclasses import field

from agent.dataclass import dataclass
from agent.vault.file_changes import FileChange, Kind
from agent.vault.history.commit_index import against
from agent.vault.history.commits import Commit
from agent.vault.history.undo_history import Step
from agent.vault.history.undo_plan import PlannedFile, UndoPlan
from agent.vault.store import Vault

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
