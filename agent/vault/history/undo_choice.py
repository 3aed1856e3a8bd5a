"""Selects the commits for an undo: named ones, or all of a run, a job or a time, except those already undone."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from agent.errors import UserError
from agent.vault.folders import folder_of
from agent.vault.history.commits import HUMAN, Commit, resolve
from agent.vault.history.undo_plan import Reason
from agent.vault.message import one_line
from agent.vault.store import Vault

_SETUP = "init"


@dataclass(frozen=True, slots=True)
class Selection:
    """The commits to undo: named ones, all of a run, all of a job, or all since a time. Exactly one of them is set.

    The record of a run (`Folder.undone`) stays when the run or the job is undone, and goes with its commit otherwise.
    `since` leaves out people's own commits and the vault's set-up, unless `include_human`.
    """

    commits: tuple[str, ...] = ()
    run: str = ""
    job: str = ""
    since: datetime | None = None
    include_human: bool = False


@dataclass(frozen=True, slots=True)
class UndoChoice:
    """The commits to undo, newest first, the skipped commits, and their name in the subject of the undo."""

    commits: tuple[Commit, ...]
    skipped: tuple[Reason, ...]
    human_kept: int
    name: str


def choose(vault: Vault, history: Sequence[Commit], selection: Selection) -> UndoChoice:
    """The selected commits that are not undone already; raises `UserError` for one that does not exist."""
    aside: list[Reason] = []
    human_kept = 0
    touching = [commit for commit in history if commit.files]
    if selection.commits:
        wanted = _named(vault, history, selection.commits)
        name = one_line(wanted[0].subject) if len(wanted) == 1 else f"{len(wanted)} commits"
    elif selection.run:
        wanted, name = [commit for commit in touching if commit.is_of(selection.run)], f"run {selection.run}"
    elif selection.job:
        wanted, name = [commit for commit in touching if commit.job == selection.job], f"job {selection.job}"
    elif selection.since is not None:
        recent = [commit for commit in touching if commit.when >= selection.since]
        foreign = [commit for commit in recent if selection.include_human or commit.actor != HUMAN]
        wanted = [commit for commit in foreign if not _is_set_up(commit)]
        aside = [Reason(c.id, "it set up the vault; name it to undo it") for c in foreign if c not in wanted]
        human_kept, name = len(recent) - len(foreign), f"everything since {selection.since:%Y-%m-%d %H:%M}"
    else:
        raise UserError("nothing to undo was named", hint="a commit, --run ID, --job ID or --since TIME")
    if selection.run or selection.job:
        parts = [(commit, _without_records(commit)) for commit in wanted]
        aside += [Reason(commit.id, "it is the record of a run, and stays") for commit, part in parts if not part.files]
        wanted = [part for _, part in parts if part.files]
    done = _undone(history, {commit.id for commit in wanted})
    aside += [Reason(commit.id, "it is undone already") for commit in wanted if commit.id in done]
    return UndoChoice(tuple(commit for commit in wanted if commit.id not in done), tuple(aside), human_kept, name)


def _named(vault: Vault, history: Sequence[Commit], names: Sequence[str]) -> list[Commit]:
    ids = {resolve(vault, name): name for name in names}
    wanted = [commit for commit in history if commit.id in ids]
    missing = ids.keys() - {commit.id for commit in wanted}
    if missing:
        shown = ", ".join(ids[oid] for oid in missing)
        raise UserError(f"{shown} is not in this branch's history", hint="vault-agent log lists what is")
    return wanted


def _without_records(commit: Commit) -> Commit:
    """The commit without the notes in which the program records what happened in a run."""
    return replace(commit, files=tuple(change for change in commit.files if folder_of(change.path).undone))


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
