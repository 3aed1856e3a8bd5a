"""Jobs: what the agent does at its time. They are listed, made, switched, and looked back at."""

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from agent.background.presence_files import give_order
from agent.deeds.result import Id, ResultValue
from agent.errors import Unknown
from agent.lazy import later
from agent.markdown.note import Note
from agent.runs.configured_models import has_model
from agent.runs.job_upkeep import cost_of_day, job_as_it_is, job_shelf, record_here, set_status
from agent.schedule.job import Job, JobStatus
from agent.schedule.shelf import Shelf
from agent.schedule.triggers import format_trigger
from agent.vault.change import Outcome
from agent.workspace.schedule_switch import schedule_switch
from agent.workspace.workspace import Workspace, is_watched

if TYPE_CHECKING:  # a list of jobs reads no sentences and writes nothing
    from agent.app.past_runs import past_runs
    from agent.runs.job_edits import write_new_job
    from agent.runs.wake_times import switch_schedule
    from agent.schedule.new_job import NewJob, find_template, job_templates
else:
    past_runs = later("agent.app.past_runs", "past_runs")
    write_new_job = later("agent.runs.job_edits", "write_new_job")
    switch_schedule = later("agent.runs.wake_times", "switch_schedule")
    find_template = later("agent.schedule.new_job", "find_template")
    job_templates = later("agent.schedule.new_job", "job_templates")


class JobView(ResultValue, frozen=True):
    """A job as its note says it; `next` is its next time, if it has one, `warnings` name what is likely misspelt."""

    id: str
    path: str
    title: str
    on: list[str]
    timezone: str | None
    zone: str
    status: str
    priority: int
    channel: str
    mode: str
    task: str | None
    text: str
    only_wakes: bool
    approval_required: bool
    cooldown_seconds: int
    max_concurrency: int
    retry: dict[str, int]
    spend: float | None
    timeout: int | None
    run_on: str | None
    target_file: str | None
    user_id: str | None
    active_days: list[int]
    catch_up: str
    remind: bool
    source: str
    warnings: list[str]
    next: list[str]


class JobProblemView(ResultValue, frozen=True):
    """A note in jobs/ that cannot run, and what to do."""

    path: str
    key: str | None
    problem: str
    hint: str


class ListedJobs(ResultValue, frozen=True):
    """All jobs; `waiting` are notes that arrived and do not count yet. `enabled` is false while the schedule of
    the vault is stopped: no job begins then."""

    jobs: list[JobView]
    problems: list[JobProblemView]
    waiting: list[str]
    enabled: bool


class WholeJob(JobView, frozen=True, kw_only=True):
    """A job with its last run and its next times."""

    last_run_at: str | None
    last_run_status: str | None
    consec_failures: int
    stopped: bool
    occurrences: list[str]


class ReadyJob(ResultValue, frozen=True):
    """A job that the package has ready. `is_in_vault`: the vault has a job of its id already."""

    id: str
    title: str
    on: list[str]
    task: str | None
    text: str
    is_in_vault: bool


class ReadyJobs(ResultValue, frozen=True):
    """The jobs that are ready to be switched on by `resume`."""

    jobs: list[ReadyJob]


class DayCostView(ResultValue, frozen=True):
    """What a day costs: so many runs, and US dollars (null: not known yet)."""

    runs: float
    money: float | None


class Switched(ResultValue, frozen=True):
    """The job's new status; of one that runs again what a day costs. `commit` is null while the change waits because
    of `queued`."""

    job: str
    status: str
    commit: str | None
    queued: str | None
    a_day: DayCostView | None


class PastRunView(ResultValue, frozen=True):
    """A run of a job, or one that did not take place; `local`: only this machine knows of it."""

    planned: str
    outcome: str
    started: str | None
    seconds: float
    reason: str | None
    delivery: str | None
    money: float
    session: str | None
    is_changed: bool
    machine: str | None
    attempt: int
    missed: int
    local: bool


class JobHistory(ResultValue, frozen=True):
    """The runs of a job, the newest first, and what they come to."""

    job: str
    last_run_at: str | None
    last_run_status: str | None
    consec_failures: int
    stopped: bool
    runs: list[PastRunView]


def list_jobs(workspace: Workspace) -> ListedJobs:
    """The jobs, and what is wrong with notes that cannot run."""
    shelf, now = job_shelf(workspace).load(), workspace.clock.now()
    jobs = [job_view(job_as_it_is(workspace, each), now) for each in shelf.jobs]
    return ListedJobs(jobs, problem_views(shelf), list(shelf.waiting), schedule_switch(workspace).enabled)


def problem_views(shelf: Shelf) -> list[JobProblemView]:
    """The notes that cannot run."""
    return [JobProblemView.of(each, problem=each.message) for each in shelf.problems]


def find_job(workspace: Workspace, name: str, *, to_look: bool = False) -> Job:
    """The job of this id, note or title, `to_look` at it also by a part of its title; raises `UserError`."""
    found = _find(workspace, job_shelf(workspace).load().whole_name(name) if to_look else name)
    if isinstance(found, Job):
        return found
    hint = "vault-agent jobs resume {name} switches it on"
    raise Unknown("the job {name} is not switched on", hint=hint, name=found.job.id)


def job_to_run(workspace: Workspace, name: str) -> Job:
    """The job of this id, note or title. One that is ready gets its note, paused: it runs this once only."""
    found = _find(workspace, name)
    if isinstance(found, Job):
        return found
    write_new_job(workspace, replace(found, data=Note.parse(found.data).with_key("status", "paused").data))
    return find_job(workspace, found.job.id)


def _find(workspace: Workspace, name: str) -> "Job | NewJob":
    """The job of this id, note or title, else the one that is ready; raises `UserError`."""
    try:
        return job_shelf(workspace).load().find(name)
    except Unknown:
        made = find_template(workspace.vault.home, workspace.settings.vault.language, name)
        if made is None:
            raise
        return made


def show_job(workspace: Workspace, id: Id) -> WholeJob:
    """One job, its next ten times and its last run."""
    job, now = job_as_it_is(workspace, find_job(workspace, id, to_look=True)), workspace.clock.now()
    record = record_here(workspace, job)
    times = times_of(job, now, 10)
    return WholeJob.of(job, record, **_shared_fields(job, now), stopped=record.is_stopped, occurrences=times)


def stop_schedule(workspace: Workspace, reason: str) -> None:
    """Let no job and no task of this vault begin on this machine any more; what goes on is finished."""
    switch_schedule(workspace, False)
    if is_watched(workspace):
        give_order(workspace.vault, "sleep", reason)


def ready_jobs(workspace: Workspace) -> ReadyJobs:
    """The jobs that are ready to be switched on."""
    known = {each.id for each in job_shelf(workspace).load().jobs}
    ready = (each.job for each in job_templates(workspace.vault.home, workspace.settings.vault.language))
    return ReadyJobs(
        [
            ReadyJob.of(each, on=[format_trigger(one) for one in each.triggers], is_in_vault=each.id in known)
            for each in ready
        ]
    )


def pause_job(workspace: Workspace, id: Id) -> Switched:
    """Let a job run no more."""
    return _switch(workspace, find_job(workspace, id), "paused")


def resume_job(workspace: Workspace, id: Id) -> Switched:
    """Let a job run again, also one that its failures have stopped; one that is ready is written into the vault."""
    found = _find(workspace, id)
    if isinstance(found, Job):
        return _switch(workspace, found, "active")
    return _switched(workspace, found.job, "active", write_new_job(workspace, found))


def _switch(workspace: Workspace, job: Job, status: JobStatus) -> Switched:
    return _switched(workspace, job, status, set_status(workspace, job, status))


def _switched(workspace: Workspace, job: Job, status: JobStatus, done: Outcome) -> Switched:
    return Switched.of(done, job=job.id, status=status, a_day=_day_cost(workspace, job) if status == "active" else None)


def job_history(workspace: Workspace, id: Id) -> JobHistory:
    """What the runs of a job came to."""
    job = find_job(workspace, id, to_look=True)
    record = record_here(workspace, job)
    runs = [PastRunView.of(each.row, local=each.is_local) for each in past_runs(workspace, job)[::-1]]
    return JobHistory.of(record, job=job.id, stopped=record.is_stopped, runs=runs)


def job_view(job: Job, now: datetime) -> JobView:
    """A job, with its next time after a moment."""
    return JobView.of(job, **_shared_fields(job, now))


def times_of(job: Job, after: datetime, count: int) -> list[str]:
    """The next times of a job."""
    return [each.at.isoformat() for each in job.coming(after, count)]


def _shared_fields(job: Job, now: datetime) -> dict[str, object]:
    return {
        "on": [format_trigger(each) for each in job.triggers],
        "timezone": job.zone_name,
        "active_days": list(job.active_days),
        "zone": job.zone.key,
        "retry": {"max": job.retry.most, "backoff_seconds": job.retry.backoff_seconds},
        "next": times_of(job, now, 1),
    }


def _day_cost(workspace: Workspace, job: Job) -> DayCostView:
    cost = cost_of_day(workspace, job, has_model(workspace))
    return DayCostView(round(cost.times, 2), None if cost.money is None else round(cost.money * cost.times, 6))
