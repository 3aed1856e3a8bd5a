"""Undoes changes by commit, run, job or time, and keeps everything that was written since.

An undo is a new commit that names the commits it undoes, so it can be undone too. This module writes the result;
`undo_choice` selects the commits and `undo_plan` plans each note.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from agent.dataclass import dataclass
from agent.errors import Conflict
from agent.texts import Sentence, joined
from agent.vault.change import FileChange, Kind, Outcome, Stamp
from agent.vault.history.commit_index import HUMAN, load_index
from agent.vault.history.commits import Commit
from agent.vault.history.difference import uncommitted
from agent.vault.history.find import refuse_unknown_run
from agent.vault.history.squashed import refuse_squashed, with_squashed
from agent.vault.history.undo_choice import Selection, UndoChoice, choose
from agent.vault.history.undo_plan import PlannedFile, Reason, UndoPlan, needed
from agent.vault.history.undo_walk import Step, Walk, against_other_parents, selectable, steps
from agent.vault.message import one_line
from agent.vault.store import Vault
from agent.vault.transaction import Transaction
from agent.vault.waiting import commit_waiting, commit_work
from agent.vault.worktree.survey import closed
from agent.vault.write.held_notes import HeldNote
from agent.vault.write.holding import by_commit

TOOL = "undo"
_LISTED = 40


@dataclass(frozen=True, slots=True)
class Undone:
    """The result of an undo, or the expected result of a dry run. Ids are full.

    `undone`: commits undone completely. `partial`: commits of which a part was kept or refused; a later undo takes
    that part, once nothing is in the way. `files`: the changes. `kept`:
    notes that stay because they were edited since. `refused`: notes that could not be merged. `skipped`: changes that
    needed nothing. `queued`: the reason for waiting, if the repository is not free.
    """

    commit: str | None = None
    undone: tuple[str, ...] = ()
    partial: tuple[str, ...] = ()
    files: tuple[FileChange, ...] = ()
    kept: tuple[Reason, ...] = ()
    refused: tuple[Reason, ...] = ()
    skipped: tuple[Reason, ...] = ()
    conflicts: tuple[str, ...] = ()
    human_commits_kept: int = 0
    waiting: int = 0
    """In a dry run, the commits that do not exist yet: what waits for the evening or is a part of a run that goes on,
    and would be taken back, too."""
    queued: str | None = None


def undo(
    vault: Vault,
    selection: Selection,
    *,
    partial: bool = False,
    confirmed: bool = False,
    dry_run: bool = False,
    actor: str = HUMAN,
) -> Undone:
    """Undo the selected changes in one commit of `actor`; with `dry_run` only the result is returned.

    Raises `Conflict` if the same lines of a note were changed since (with `partial`, such notes stay and the rest is
    undone), `MassChange` if too many notes would be lost without `confirmed`, and `UserError` for an unknown
    commit or run.
    """
    refuse_squashed(vault, selection)
    held = vault.writer.held.all() if dry_run else []
    waiting = [each for each in held if (each.waits or each.work) and selection.takes(each)]
    if not dry_run:
        commit_waiting(vault, apart=True, since=selection.since)  # each of them can be taken back, too
        commit_work(vault, selection.takes)
    index = load_index(vault)
    chosen = with_squashed(vault, selection, choose(vault, selectable(vault, index, selection), selection))
    if not chosen.commits:
        if waiting:
            return _with_waiting(Undone(human_commits_kept=chosen.skipped_human), waiting)
        if selection.run:
            refuse_unknown_run(vault, selection.run)
        absent = tuple(Reason(actor, "no change here is of it") for actor in selection.by)
        return Undone(skipped=chosen.skipped or absent, human_commits_kept=chosen.skipped_human)
    unsaved = uncommitted(vault)
    if not dry_run and vault.options.human_commits and any(item.kind is Kind.RENAMED for item in unsaved):
        vault.commit_human(confirmed=confirmed)  # otherwise the untouched half of a rename would not be in the history
        index = load_index(vault)
        unsaved = uncommitted(vault)
    undo_plan = plan(vault, steps(vault, index, unsaved, chosen.commits), unsaved, chosen.commits)
    undo_plan.partial.update(commit.id for commit in chosen.commits if selection.notes)
    planned = _result(undo_plan, chosen)
    if planned.refused and not partial:
        raise _conflict(undo_plan, chosen, selection)
    if dry_run or not planned.files:
        return _with_waiting(planned, waiting)
    subject, stamp = Sentence("undo(notes): {name}", name=chosen.name), Stamp(actor, tool=TOOL, undoes=planned.undone)
    with vault.transaction(subject, stamp, body=_body(planned), confirmed=confirmed, system=True) as transaction:
        _request(transaction, undo_plan)
    return _settle(vault, planned, transaction.outcome)


def _with_waiting(planned: Undone, waiting: Sequence[HeldNote]) -> Undone:
    """The expected result with what is not committed yet and would be taken back, too."""
    there = {path for change in planned.files for path in (change.path, change.old_path)}
    more = [each for each in waiting if each.path not in there]
    files = (
        FileChange(Kind.CREATED if each.data is None else Kind.EDITED if each.base else Kind.DELETED, each.path)
        for each in more
    )
    return replace(planned, files=(*planned.files, *files), waiting=len(by_commit(waiting, apart=True)))


def plan(vault: Vault, history: Sequence[Step], unsaved: Sequence[FileChange], commits: Sequence[Commit]) -> UndoPlan:
    """The plan for the content of each note; reads notes and writes nothing."""
    ids = needed(list(commits), vault.home)
    found = vault.git.objects(ids) if ids else []
    blobs = {oid: item.data if item else None for oid, item in zip(ids, found, strict=True)}
    paths = {path for each in commits for change in each.files for path in (change.path, change.old_path) if path}
    undo_plan = UndoPlan(vault.git, vault.writer.files, vault.home, blobs, closed(vault.git, vault.place, paths))
    Walk(undo_plan, against_other_parents(vault, history)).back(history, unsaved, {commit.id for commit in commits})
    return undo_plan


def _result(undo_plan: UndoPlan, chosen: UndoChoice) -> Undone:
    drafts = sorted(undo_plan.drafts, key=lambda draft: draft.name)
    files = tuple(change for draft in drafts if (change := _as_change(draft)) is not None)
    reasons = {Reason(draft.now, draft.reason_to_stay): None for draft in drafts if draft.reason_to_stay and draft.now}
    refused = {Reason(draft.name, draft.refused): None for draft in drafts if draft.refused}
    skipped = (*chosen.skipped, *dict.fromkeys(undo_plan.skipped))
    if not (files or reasons or refused or skipped):
        skipped = _why_nothing(drafts, chosen)
    return Undone(
        undone=tuple(commit.id for commit in chosen.commits if commit.id not in undo_plan.partial),
        partial=tuple(commit.id for commit in chosen.commits if commit.id in undo_plan.partial),
        files=files,
        kept=tuple(reasons),
        refused=tuple(refused),
        skipped=skipped,
        human_commits_kept=chosen.skipped_human,
    )


def _why_nothing(drafts: Sequence[PlannedFile], chosen: UndoChoice) -> tuple[Reason, ...]:
    """Why an undo without an obstacle changes no note: the commit changed none, or all are as they were before it."""
    empty = (Reason(commit.id, "it changed no note") for commit in chosen.commits if not commit.files)
    same = (Reason(draft.name, "it is as it was before that already") for draft in drafts)
    return (*empty, *same)


def _as_change(draft: PlannedFile) -> FileChange | None:
    """The planned change of a file; None if it stays the same."""
    there = draft.now if draft.before is not None else None
    if draft.path is None or draft.after is None:
        return FileChange(Kind.DELETED, there) if there else None
    if there is None:
        return FileChange(Kind.CREATED, draft.path)
    if there != draft.path:
        return FileChange(Kind.RENAMED, draft.path, there)
    return FileChange(Kind.EDITED, draft.path) if draft.before != draft.after else None


def _conflict(undo_plan: UndoPlan, chosen: UndoChoice, selection: Selection) -> Conflict:
    refused = [draft for draft in undo_plan.drafts if draft.refused]
    rest = Sentence("repeat it with --partial to undo the rest and leave these notes as they are")
    others = _jobs_after(refused) - set(selection.jobs) if selection.jobs else set()
    both = " ".join(f"--job {job}" for job in (*selection.jobs, *sorted(others)))
    together = Sentence("take them back together, with {jobs}; or {rest}", jobs=both, rest=rest)
    return Conflict(
        "cannot undo {name} without losing later work; nothing was changed\n{lines}",
        name=chosen.name,
        lines=joined(map(_refusal, refused), "\n"),
        paths=tuple(dict.fromkeys(draft.name for draft in refused)),
        hint=together if others else rest,
    )


def _jobs_after(refused: Sequence[PlannedFile]) -> set[str]:
    """The jobs that changed the same lines since; empty if anybody else did, too."""
    actors = {commit.actor for draft in refused for commit in draft.later}
    jobs = {each.removeprefix("job:") for each in actors if each.startswith("job:")}
    is_all = len(jobs) == len(actors) and not any(draft.unsaved for draft in refused)
    return jobs if is_all else set()


def _refusal(draft: PlannedFile) -> Sentence:
    """The reason for one note, with the later commits that touched it, for a person to look at."""
    named: list[str] = [f"{commit.id[:8]} {commit.subject}" for commit in dict.fromkeys(draft.later)]
    named += [Sentence("your edit that is not committed yet")] if draft.unsaved else []
    if not named:
        return Sentence("  {path}: {reason}", path=draft.name, reason=Sentence(draft.refused))
    by = joined(named[:3], ", ")
    if named[3:]:
        by = Sentence("{shown} and {count} more", shown=by, count=len(named) - 3)
    return Sentence("  {path}: {reason} (by {by})", path=draft.name, reason=Sentence(draft.refused), by=by)


def _body(planned: Undone) -> str:
    lines = [f"- kept: {word.about} ({word.reason})" for word in planned.kept]
    lines += [f"- not undone: {word.about} ({word.reason})" for word in planned.refused]
    lines += [f"- undone in part: {oid}" for oid in planned.partial]
    more = [f"- and {len(lines) - _LISTED} more"] if len(lines) > _LISTED else []
    return "\n".join([*(one_line(line) for line in lines[:_LISTED]), *more])


def _request(transaction: Transaction, undo_plan: UndoPlan) -> None:
    """Add the planned files to the transaction, deletions first, to free the paths of moved or restored notes."""
    moving: list[PlannedFile] = []
    staying: list[PlannedFile] = []
    for draft in undo_plan.drafts:
        change = _as_change(draft)
        match change.kind if change else None:
            case Kind.DELETED:
                transaction.delete(draft.now or "", draft.before)
            case Kind.RENAMED:
                moving.append(draft)
            case Kind.EDITED | Kind.CREATED:
                staying.append(draft)
            case None:
                pass
    for draft in [*_move(transaction, moving), *staying]:
        assert draft.path is not None and draft.after is not None
        if draft.now is None:
            transaction.create(draft.path, draft.after)
        else:  # the path has a text of its own, or that of a note it trades places with
            transaction.edit(draft.path, undo_plan.present(draft.path).before or b"", draft.after)


def _move(transaction: Transaction, moving: list[PlannedFile]) -> list[PlannedFile]:
    """Add each move once its target is free; returns the files that trade places, to be written as edits."""
    while moving:
        sources = {draft.now for draft in moving}
        free = [draft for draft in moving if draft.path not in sources]
        if not free:
            return moving
        for draft in free:
            assert draft.now is not None and draft.path is not None
            transaction.move(draft.now, draft.path)
            if draft.before is not None and draft.after is not None and draft.before != draft.after:
                transaction.edit(draft.path, draft.before, draft.after)
        moving = [draft for draft in moving if draft not in free]
    return []


def _settle(vault: Vault, planned: Undone, outcome: Outcome) -> Undone:
    """Complete the result with the transaction's outcome, and remove folders that it left empty."""
    if outcome.queued:
        return replace(planned, queued=outcome.queued)
    left = [change.old_path or change.path for change in planned.files if change.kind in {Kind.DELETED, Kind.RENAMED}]
    for _, paths in groupby(sorted(left), key=lambda path: path.rpartition("/")[0]):
        vault.writer.files.prune(next(paths))
    return replace(planned, commit=outcome.commit, conflicts=outcome.conflicts)
