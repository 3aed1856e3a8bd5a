"""What a person does with a job that exists: pause it, let it run again, and see what a day of it costs."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from agent.dataclass import dataclass
from agent.errors import NoteGone
from agent.lazy import later
from agent.markdown.note import Note
from agent.schedule.history import HistoryRow, JobRecord, history_path, parse_history, record_of, with_rows
from agent.schedule.job import Job, JobStatus
from agent.schedule.shelf import GOAL_TYPE, GoalNotes, JobShelf
from agent.vault.change import Outcome, Stamp
from agent.vault.listing import contents
from agent.vault.store import Vault
from agent.workspace.workspace import Workspace, load_daemon_state

if TYPE_CHECKING:
    from agent.schedule.ledger import OccurrenceLedger, split_key
    from agent.workspace.catch_up import behind_daemon
    from agent.workspace.index_status import index_files, index_state, may_have_type
else:
    OccurrenceLedger = later("agent.schedule.ledger", "OccurrenceLedger")
    split_key = later("agent.schedule.ledger", "split_key")
    behind_daemon = later("agent.workspace.catch_up", "behind_daemon")
    index_files = later("agent.workspace.index_status", "index_files")
    index_state = later("agent.workspace.index_status", "index_state")
    may_have_type = later("agent.workspace.index_status", "may_have_type")

_WEEK = timedelta(days=7)
_MOST = 20_000
"""The most occurrences of a week that are counted: one a minute is 10,080."""


@dataclass(frozen=True, slots=True)
class DayCost:
    """What a day of a job costs: `times` runs, each `money` in US dollars (None: none has run yet, or no price is
    known). `is_free`: it asks no model. `is_once`: all its times are single ones."""

    times: float
    money: float | None = None
    is_free: bool = False
    is_once: bool = False


def job_shelf(
    workspace: Workspace, goals: frozenset[str] | None = None, notes: Collection[str] | None = None
) -> JobShelf:
    """All jobs of a vault, those of goals among them; `goals` has the notes that may be goals, `notes` all notes, if
    they are known."""
    among = partial(_may_be_goals, workspace) if goals is None else lambda: goals
    return JobShelf(workspace.vault, GoalNotes(workspace.vault, workspace.settings.vault.language, among), notes)


def _may_be_goals(workspace: Workspace) -> frozenset[str] | None:
    """The notes that may be goals by the index, and those that it does not have as they are now; None if it cannot
    say. Git's search through 100,000 notes takes a second and more, and its list of them a third of one."""
    daemon = load_daemon_state(workspace)
    if daemon is not None and behind_daemon(daemon) is None:
        return may_have_type(index_files(workspace), GOAL_TYPE)
    return index_state(workspace, partial(contents, workspace.vault), GOAL_TYPE).of_type


def job_record(workspace: Workspace, job: Job) -> JobRecord:
    """What the history of a job comes to. A reminder is never stopped."""
    return _record_of(workspace, job, job_rows(workspace.vault, job.id))


def record_here(workspace: Workspace, job: Job) -> JobRecord:
    """The same, with the runs that found nothing: only the ledger of this machine has them."""
    decided = (each for each in job_ledger(workspace).decisions(job.id) if each.outcome == "nothing")
    quiet = [HistoryRow(datetime.fromtimestamp(split_key(each.key)[1], job.zone), "nothing", each.began)
             for each in decided]  # fmt: skip
    return _record_of(workspace, job, (*job_rows(workspace.vault, job.id), *quiet))


def job_ledger(workspace: Workspace) -> "OccurrenceLedger":
    """The ledger of this machine; raises `Permanent` if it cannot be read."""
    return OccurrenceLedger(workspace.vault.records)


def _record_of(workspace: Workspace, job: Job, rows: Sequence[HistoryRow]) -> JobRecord:
    found = record_of(rows, workspace.settings.jobs.max_consecutive_failures)
    return replace(found, is_stopped=found.is_stopped and not job.remind)


def job_rows(vault: Vault, job: str) -> tuple[HistoryRow, ...]:
    """The rows of a job's history, as far as its person counts them."""
    return parse_history(vault.own_version(history_path(vault.home, job)) or b"")


def cost_of_day(workspace: Workspace, job: Job, has_model: bool) -> DayCost:
    """What a day of a job costs, by the mean of its runs so far."""
    now = workspace.clock.now()
    coming = [each for each in job.next_occurrences(now, _MOST) if each.at - now < _WEEK]
    times = sum(map(job.has_day_of, coming)) / _WEEK.days
    is_once = job.is_once
    if job.only_wakes or job.remind or not has_model:
        return DayCost(times, 0.0, True, is_once)
    paid = [row.money for row in job_rows(workspace.vault, job.id) if row.outcome == "done" and row.session]
    return DayCost(times, sum(paid) / len(paid) if any(paid) else None, is_once=is_once)


def set_status(workspace: Workspace, job: Job, status: JobStatus) -> Outcome:
    """Change the status in the job's note, and nothing else of it; one that failures have stopped counts as resumed.

    Raises `NoteGone`, and what a transaction does.
    """
    vault, now = workspace.vault, workspace.clock.now()
    data = vault.read(job.path)
    if data is None:
        raise NoteGone("{path} is gone", hint="vault-agent log shows what was moved or deleted", path=job.path)
    verb = "pause" if status == "paused" else "resume"
    message = import_module("agent.vault.message")  # with the forms of all secrets: most only look
    with vault.transaction(f"job({verb}): {message.one_line(job.name)}", Stamp("human")) as change:
        if job.status != status:
            change.edit(job.path, data, Note.parse(data).with_key("status", status).data)
        if status == "active" and job_record(workspace, job).consec_failures:
            path = history_path(vault.home, job.id)
            before = vault.read(path)
            row = HistoryRow(now.astimezone(job.zone).replace(microsecond=0), "resumed")
            after = with_rows(before, job, [row], workspace.settings.vault.language)
            change.write(path, before, after)
    return change.outcome
