"""Selects the commits for an undo: named ones, or all of a run, an actor or a time, except those already undone."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from agent.dataclass import dataclass
from agent.errors import UserError
from agent.events.runs import parse_record_subject
from agent.texts import Sentence, joined
from agent.vault.change import CAPTURE, EVENING
from agent.vault.folders import APPROVALS, ENTRIES, MEMORY_NOTE, QUESTIONS, AgentFolder
from agent.vault.history.commit_index import HUMAN
from agent.vault.history.commits import Commit, resolve, work_of
from agent.vault.history.undo_plan import Reason
from agent.vault.message import one_line
from agent.vault.store import Vault
from agent.vault.write.held_notes import HeldNote

_SETUP = "init"
_WORDS = (ENTRIES, MEMORY_NOTE, APPROVALS, QUESTIONS)


@dataclass(frozen=True, slots=True)
class Selection:
    """The commits to undo: named ones, all of a run, all of jobs or another actor, or all since a time. Exactly one
    of them is set, or jobs or an actor and a time: then those of the jobs or the actor since that time.

    An `actor` is as commits name it, such as `mcp:claude-code`; a job is the actor `job:ID`.
    The record of a run (`Folder.undone`) stays when the run or the actor is undone, or a commit that has an answer in a
    person's note besides, or what tools have done; otherwise it goes with its commit. What the person has said in a run
    that is undone stays remembered, and what they were asked stands.
    Of the commits, only the changes of these `notes` are undone, if any are named.
    `since` leaves out people's own commits and the vault's set-up, unless `include_human`.
    """

    commits: tuple[str, ...] = ()
    run: str = ""
    jobs: tuple[str, ...] = ()
    since: datetime | None = None
    include_human: bool = False
    actor: str = ""
    notes: tuple[str, ...] = ()

    @property
    def by(self) -> tuple[str, ...]:
        """The actors whose commits are selected; empty for any."""
        return tuple(f"job:{each}" for each in self.jobs) or ((self.actor,) if self.actor else ())

    def takes(self, note: HeldNote) -> bool:
        """True for what waits for the evening's commit, if its commit would be selected."""
        stamp = note.stamp
        if self.run:
            return stamp.run == self.run or stamp.run.startswith(f"{self.run}.")
        if self.since is not None and note.since < self.since.timestamp():
            return False
        return stamp.actor in self.by if self.by else self.since is not None


def last_change(history: Sequence[Commit], home: AgentFolder) -> Selection | None:
    """The newest change that was no person's and is not undone: all of its run, or the one commit; None without one.
    `history` is newest first; records of runs are no change. The vault's set-up is one only while it is the newest
    commit: one `--last` too many must not take the vault away."""
    done = _undone(history, set())
    for commit in history:
        if commit.actor == HUMAN or commit.id in done or commit.undoes or commit.tool == EVENING:
            continue
        if _is_set_up(commit) and commit != history[0]:
            continue
        if _without_records(commit, home, keeps_words=True).files:
            run = commit.run.partition(".")[0]
            return Selection(run=run) if run else Selection((commit.id,))
    return None


@dataclass(frozen=True, slots=True)
class UndoChoice:
    """The commits to undo, newest first, the skipped commits, and their name in the subject of the undo."""

    commits: tuple[Commit, ...]
    skipped: tuple[Reason, ...]
    skipped_human: int
    name: str


def choose(vault: Vault, history: Sequence[Commit], selection: Selection) -> UndoChoice:
    """The selected commits that are not undone already; raises `UserError` for one that does not exist."""
    found = _selected(vault, history, selection)
    wanted, aside = [*found.commits], [*found.skipped]
    if selection.run or selection.by:
        wanted = [_without_records(each, vault.home, keeps_words=bool(selection.run)) for each in wanted]
        aside += [Reason(each.id, "it is the record of a run, and stays") for each in wanted if not each.files]
        wanted = [each for each in wanted if each.files]
    if selection.notes:
        wanted = [part for each in wanted if (part := _of_notes(each, selection.notes)).files]
    done = _undone(history, {commit.id for commit in wanted})
    aside += [Reason(commit.id, "it is undone already") for commit in wanted if commit.id in done]
    return replace(found, commits=tuple(each for each in wanted if each.id not in done), skipped=tuple(aside))


def _selected(vault: Vault, history: Sequence[Commit], selection: Selection) -> UndoChoice:
    """All commits of a selection, also those that are undone already."""
    touching = [commit for commit in history if commit.files]
    if selection.commits:
        named = tuple(_as_named(each, vault.home) for each in _named(vault, history, selection.commits))
        return UndoChoice(named, (), 0, one_line(named[0].subject) if len(named) == 1 else f"{len(named)} commits")
    if selection.run:
        of_run = tuple(commit for commit in touching if commit.is_of(selection.run))
        return UndoChoice(of_run, (), 0, _run_name(history, selection.run))
    since = selection.since
    recent = [commit for commit in touching if since is None or commit.when >= since]
    if selection.by:
        return UndoChoice(tuple(each for each in recent if each.actor in selection.by), (), 0, _actor_name(selection))
    if since is None:
        raise UserError("nothing to undo was named", hint="a commit, --run ID, --job ID, --actor WHO or --since TIME")
    foreign = [commit for commit in recent if selection.include_human or commit.actor != HUMAN]
    aside = tuple(Reason(c.id, "it set up the vault; name it to undo it") for c in foreign if _is_set_up(c))
    wanted = tuple(commit for commit in foreign if not _is_set_up(commit))
    name = Sentence("everything since {when:%Y-%m-%d %H:%M}", when=since)
    return UndoChoice(wanted, aside, len(recent) - len(foreign), name)


def _of_notes(commit: Commit, notes: Sequence[str]) -> Commit:
    """What of a commit is in these notes, by their names before and after it."""
    return replace(commit, files=tuple(each for each in commit.files if {each.path, each.old_path} & {*notes}))


def _named(vault: Vault, history: Sequence[Commit], names: Sequence[str]) -> list[Commit]:
    ids = {resolve(vault, name): name for name in names}
    wanted = [commit for commit in history if commit.id in ids]
    missing = ids.keys() - {commit.id for commit in wanted}
    if missing:
        missing_names = joined((ids[oid] for oid in missing), ", ")
        raise UserError(
            "{shown} is not in this branch's history", hint="vault-agent log lists what is", shown=missing_names
        )
    return wanted


def _without_records(commit: Commit, home: AgentFolder, *, keeps_words: bool = False) -> Commit:
    """The commit without the notes in which the program records what happened in a run; `keeps_words`: also without
    what it has kept of what the person said in it."""
    left = [change for change in commit.files if home.row(change.path).undone]
    if keeps_words and commit.tool == CAPTURE:
        work = work_of(commit).files
        left = [each for each in left if each in work or home.row(each.path).path not in _WORDS]
    return replace(commit, files=tuple(left))


def _as_named(commit: Commit, home: AgentFolder) -> Commit:
    """What of a commit is undone with it where it is named: a record goes only with a commit that has nothing else."""
    if commit.tool != CAPTURE or not (commit.work or _answers(commit, home)):
        return commit
    undone = {*_without_records(commit, home, keeps_words=bool(commit.work)).files, *work_of(commit).files}
    return replace(commit, files=tuple(each for each in commit.files if each in undone))


def _run_name(history: Sequence[Commit], run: str) -> Sentence:
    """What a run was asked, from the commit with its record; its id if there is none."""
    records = (parse_record_subject(each.subject) for each in history if each.run == run and each.tool == CAPTURE)
    asked = next((task for _, task in filter(None, records)), "")
    return Sentence("the run “{task}”", task=asked) if asked else Sentence("run {run}", run=run)


def _actor_name(selection: Selection) -> Sentence:
    """What the undo of an actor is called."""
    since, values = selection.since, {"job": joined(selection.jobs, ", "), "actor": selection.actor}
    if since is None:
        return Sentence("job {job}" if selection.jobs else "everything of {actor}", **values)
    which = "job {job} since {when:%Y-%m-%d %H:%M}" if selection.jobs else "{actor} since {when:%Y-%m-%d %H:%M}"
    return Sentence(which, when=since, **values)


def _answers(commit: Commit, home: AgentFolder) -> bool:
    """True if the commit has the record of a run and its answer in a person's note."""
    return commit.tool == CAPTURE and any(home.row(each.path).is_written_for_the_person for each in commit.files)


def _is_set_up(commit: Commit) -> bool:
    return commit.tool == _SETUP and commit.actor != HUMAN


def _undone(history: Sequence[Commit], leaving: set[str]) -> set[str]:
    """The commits that are undone once the commits in `leaving` are taken back.

    An undo that was itself undone does not count, and so on. As `history` has children first, the state of an undo is
    known before the commits that it undid are reached.
    """
    done: set[str] = set()
    for commit in history:
        if commit.id not in leaving and commit.id not in done:
            done.update(commit.undoes)
    return done
