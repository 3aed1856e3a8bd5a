"""Jobs: what the agent does at its time. A new job, or another text of one, needs the person's yes."""

from typing import Annotated

import msgspec

from agent.deeds.job_runs import BegunRun, begin_job
from agent.deeds.jobs import (
    JobView,
    find_job,
    job_history,
    job_view,
    list_jobs,
    pause_job,
    resume_job,
    show_job,
    times_of,
)
from agent.deeds.result import Id
from agent.interfaces.http.api.history import Log, log
from agent.interfaces.http.api.paging import listed
from agent.interfaces.http.operation import ACTOR, ListPage, Routes, TypedReply
from agent.interfaces.http.service import Service
from agent.runs.note_changes import note_changes
from agent.schedule.new_job import job_of_words
from agent.workspace.workspace import Workspace

ROUTES = Routes("/api/v1/jobs")


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
    remarks: list[str]


ROUTES.get("", "What the agent does at its time")(listed("JobList", "jobs", list_jobs))


@ROUTES.post("", "A job from a sentence", 200, 409, status=201)
def make_job(workspace: Workspace, asked: Preview) -> TypedReply[NewJobView]:
    """Show the job that a sentence asks for, or write it: that needs a yes, as it steers the agent."""
    now = workspace.clock.now().astimezone()
    made = job_of_words(workspace.vault, asked.text, now)
    times, job = times_of(made.job, now, 3), job_view(made.job, now)
    told = list(made.remarks(workspace.settings.vault.language))
    if not asked.write:
        return TypedReply(NewJobView(job, times, False, None, told), status=200)
    outcome = note_changes(workspace, ACTOR).create(made.job.path, made.data)
    return TypedReply(NewJobView(job, times, True, outcome.commit, told))


ROUTES.get("/{id}", "One job", 404)(show_job)


@ROUTES.post("/{id}/run", "Run a job now", 404, status=202)
def run_job(service: Service, id: Id) -> BegunRun:
    """Run a job once now, also one that is paused or asks for a yes."""
    return begin_job(service.workspace, service.pool, id)


ROUTES.post("/{id}/pause", "Pause a job", 404, 409)(pause_job)
ROUTES.post("/{id}/resume", "Let a job run again", 404, 409)(resume_job)
ROUTES.get("/{id}/history", "The runs of a job", 404)(
    listed("PastRuns", "runs", job_history, lambda each: f"{each.planned} {each.attempt}")
)


@ROUTES.get("/{id}/log", "What a job has changed", 404)
def job_log(workspace: Workspace, page: ListPage, id: Id) -> Log:
    """The commits of a job."""
    return log(workspace, page, job=find_job(workspace, id).id)
