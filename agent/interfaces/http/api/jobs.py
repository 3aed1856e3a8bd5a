"""Jobs: what the agent does at its time. A new job, or another text of one, needs the person's yes."""

import logging
from concurrent.futures import Future
from functools import partial
from typing import Annotated, Any

import msgspec

from agent.app.jobs import run_by_hand
from agent.app.past_runs import past_runs
from agent.background.failures import failure_text
from agent.background.pool import Priority
from agent.interfaces.http.api.history import Log, LogParams, log
from agent.interfaces.http.api.paging import NEXT, ListParams, page_of
from agent.interfaces.http.api.typed import typed
from agent.interfaces.http.operation import ACTOR, Call, NoParams, Operation, TypedReply
from agent.runs.configured_models import has_model
from agent.runs.job_upkeep import cost_of_day, job_as_it_is, job_record, job_shelf, set_status
from agent.runs.note_changes import note_changes
from agent.schedule.job import Job, JobStatus
from agent.schedule.job_document import (
    coming,
    job_document,
    occurrence_documents,
    past_run_document,
    problem_document,
    record_document,
)
from agent.schedule.new_job import job_of_words

logger = logging.getLogger(__name__)
Id = Annotated[str, msgspec.Meta(min_length=1, max_length=300)]


class ByJob(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A job by its id, its note, or its title."""

    id: Id


class PagedById(ListParams, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A job, and a page of what belongs to it."""

    id: Id


class JobView(msgspec.Struct, frozen=True):
    """A job as its note says it; `next` is its next time, if it has one."""

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
    catch_up: str
    source: str
    next: list[str]


class JobProblemView(msgspec.Struct, frozen=True):
    """A note in jobs/ that cannot run, and what to do."""

    path: str
    key: str | None
    problem: str
    hint: str


class JobList(msgspec.Struct, frozen=True):
    """All jobs; `waiting` are notes that arrived and do not count yet."""

    jobs: list[JobView]
    problems: list[JobProblemView]
    waiting: list[str]
    next_cursor: NEXT


class WholeJob(JobView, frozen=True, kw_only=True):
    """A job with its last run and its next times."""

    last_run_at: str | None
    last_run_status: str | None
    consec_failures: int
    stopped: bool
    occurrences: list[str]


class Preview(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A sentence with a time in it, such as `every weekday at 9 brief me`. Without `write` it is only shown."""

    text: Annotated[str, msgspec.Meta(min_length=1, max_length=4_000)]
    write: bool = False


class NewJobView(msgspec.Struct, frozen=True):
    """A job made of a sentence, with its first times; `commit` once it is written."""

    job: JobView
    occurrences: list[str]
    written: bool
    commit: str | None


class DayCostView(msgspec.Struct, frozen=True):
    """What a day costs: so many runs, and US dollars (null: not known yet)."""

    runs: float
    money: float | None


class Switched(msgspec.Struct, frozen=True):
    """The job's new status; of one that runs again what a day costs."""

    job: str
    status: str
    commit: str | None
    a_day: DayCostView | None


class BegunRun(msgspec.Struct, frozen=True):
    """A run that begins now; its history tells what came of it."""

    job: str
    state: str


class PastRunView(msgspec.Struct, frozen=True):
    """A run of a job, or one that did not take place; `local`: only this machine knows of it."""

    planned: str
    outcome: str
    started: str | None
    seconds: float
    reason: str | None
    delivery: str | None
    money: float
    session: str | None
    commits: list[str]
    machine: str | None
    attempt: int
    missed: int
    local: bool


class PastRuns(msgspec.Struct, frozen=True):
    """The runs of a job, the newest first."""

    job: str
    runs: list[PastRunView]
    next_cursor: NEXT


def list_jobs(call: Call[ListParams, None]) -> JobList:
    """The jobs, and what is wrong with notes that cannot run."""
    workspace = call.service.workspace
    shelf, now = job_shelf(workspace).load(), workspace.clock.now()
    shown, after = page_of(shelf.jobs, lambda each: each.id, call.params)
    jobs = typed([job_document(job_as_it_is(workspace, each), now) for each in shown], list[JobView])
    problems = typed([problem_document(each) for each in shelf.problems], list[JobProblemView])
    return JobList(jobs, problems, list(shelf.waiting), after)


def show_job(call: Call[ByJob, None]) -> WholeJob:
    """One job, its next ten times and its last run."""
    workspace, job = call.service.workspace, _job(call)
    job, now = job_as_it_is(workspace, job), workspace.clock.now()
    times = [each["at"] for each in occurrence_documents(coming(job, now, 10))]
    record = record_document(job_record(workspace, job.id))
    return typed({**job_document(job, now), **record, "occurrences": times}, WholeJob)


def make_job(call: Call[NoParams, Preview]) -> TypedReply[NewJobView]:
    """Show the job that a sentence asks for, or write it: that needs a yes, as it steers the agent."""
    workspace, now = call.service.workspace, call.service.workspace.clock.now().astimezone()
    made = job_of_words(workspace.vault, call.body.text, now)
    times = [str(each["at"]) for each in occurrence_documents(coming(made.job, now, 3))]
    job = typed(job_document(made.job, now), JobView)
    if not call.body.write:
        return TypedReply(NewJobView(job, times, False, None), status=200)
    outcome = note_changes(workspace, ACTOR).create(made.job.path, made.data)
    return TypedReply(NewJobView(job, times, True, outcome.commit))


def run_job(call: Call[ByJob, None]) -> BegunRun:
    """Run a job once now, also one that is paused or asks for a yes."""
    job, workspace = _job(call), call.service.workspace
    work = partial(run_by_hand, workspace, job)
    future = call.service.pool.submit(work, key=f"asked job {job.id}", priority=Priority.PERSON)
    future.add_done_callback(partial(_log_failure, job.id))
    return BegunRun(job.id, "running")


def pause_job(call: Call[ByJob, None]) -> Switched:
    """Let a job run no more."""
    return _switch(call, "paused")


def resume_job(call: Call[ByJob, None]) -> Switched:
    """Let a job run again, also one that its failures have stopped."""
    return _switch(call, "active")


def job_history(call: Call[PagedById, None]) -> PastRuns:
    """What the runs of a job came to."""
    workspace = call.service.workspace
    job = job_shelf(workspace).load().find(call.params.id)
    found = past_runs(workspace, job)[::-1]
    shown, after = page_of(found, lambda each: f"{each.row.planned.isoformat()} {each.row.attempt}", call.params)
    rows = [past_run_document(each.row, each.is_local) for each in shown]
    return PastRuns(job.id, typed(rows, list[PastRunView]), after)


def job_log(call: Call[PagedById, None]) -> Log:
    """The commits of a job."""
    job = job_shelf(call.service.workspace).load().find(call.params.id)
    asked = LogParams(limit=call.params.limit, cursor=call.params.cursor, job=job.id)
    return log(Call(call.service, asked, None))


def _log_failure(job: str, done: "Future[object]") -> None:
    error = None if done.cancelled() else done.exception()
    if error is not None:
        logger.warning("the job %s, asked for over HTTP, did not run: %s", job, failure_text(error))


def _switch(call: Call[ByJob, None], status: JobStatus) -> Switched:
    workspace, job = call.service.workspace, _job(call)
    outcome = set_status(workspace, job, status)
    cost = cost_of_day(workspace, job, has_model(workspace)) if status == "active" else None
    money = None if cost is None or cost.money is None else round(cost.money * cost.times, 6)
    return Switched(job.id, status, outcome.commit, DayCostView(round(cost.times, 2), money) if cost else None)


def _job(call: "Call[ByJob, Any]") -> Job:
    return job_shelf(call.service.workspace).load().find(call.params.id)


_P = "/api/v1/jobs"
OPERATIONS = (
    Operation("GET", _P, "list_jobs", "What the agent does at its time", list_jobs, JobList, ListParams),
    Operation("POST", _P, "make_job", "A job from a sentence", make_job, NewJobView, NoParams, Preview, 201,
              (200, 409)),
    Operation("GET", f"{_P}/{{id}}", "show_job", "One job", show_job, WholeJob, ByJob, problems=(404,)),
    Operation("POST", f"{_P}/{{id}}/run", "run_job", "Run a job now", run_job, BegunRun, ByJob, None, 202, (404,)),
    Operation("POST", f"{_P}/{{id}}/pause", "pause_job", "Pause a job", pause_job, Switched, ByJob,
              problems=(404, 409)),
    Operation("POST", f"{_P}/{{id}}/resume", "resume_job", "Let a job run again", resume_job, Switched, ByJob,
              problems=(404, 409)),
    Operation("GET", f"{_P}/{{id}}/history", "job_history", "The runs of a job", job_history, PastRuns, PagedById,
              problems=(404,)),
    Operation("GET", f"{_P}/{{id}}/log", "job_log", "What a job has changed", job_log, Log, PagedById,
              problems=(404,)),
)  # fmt: skip
