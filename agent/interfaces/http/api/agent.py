"""The agent's own: jobs, what it does at its time (a new job, or another text of one, needs the person's yes); skills,
what there is, what would be used for a task, how they did, and trust, which is a person's to give; notices, what it
wanted to say, what became of it, and the person's opinion.
"""

import msgspec

from agent.deeds import jobs as deeds
from agent.deeds.job_runs import BegunRun, begin_job
from agent.deeds.notices import list_notices, react, show_notice
from agent.deeds.result import Id, TaskText
from agent.deeds.skills import distrust_skill, list_skills, match_skills, show_skill
from agent.interfaces.http.api.history import Log, log
from agent.interfaces.http.operation import ACTOR, ListPage, Routes, TypedReply, listed
from agent.interfaces.http.service import Service
from agent.runs.note_changes import note_changes
from agent.schedule.new_job import job_of_words
from agent.workspace.workspace import Workspace

JOBS = Routes("/api/v1/jobs")


class NewJobView(msgspec.Struct, frozen=True):
    """A job made of a sentence, with its first times; `commit` once it is written."""

    job: deeds.JobView
    occurrences: list[str]
    written: bool
    commit: str | None
    remarks: list[str]


JOBS.get("", "What the agent does at its time")(listed("JobList", "jobs", deeds.list_jobs))


@JOBS.post("", "A job from a sentence", 200, 409, status=201)
def make_job(workspace: Workspace, text: TaskText, write: bool = False) -> TypedReply[NewJobView]:
    """Show the job that a sentence with a time asks for, such as `every weekday at 9 brief me`, or `write` it: that
    needs a yes, as it steers the agent."""
    now = workspace.clock.now().astimezone()
    made = job_of_words(workspace.vault, text, now)
    times, job = deeds.times_of(made.job, now, 3), deeds.job_view(made.job, now)
    sentence = list(made.remarks(workspace.settings.vault.language))
    if not write:
        return TypedReply(NewJobView(job, times, False, None, sentence), status=200)
    outcome = note_changes(workspace, ACTOR).create(made.job.path, made.data)
    return TypedReply(NewJobView(job, times, True, outcome.commit, sentence))


JOBS.get("/{id}", "One job", 404)(deeds.show_job)


@JOBS.post("/{id}/run", "Run a job now", 404, status=202)
def run_job(service: Service, id: Id) -> BegunRun:
    """Run a job once now, also one that is paused or asks for a yes."""
    return begin_job(service.workspace, service.pool, id)


JOBS.post("/{id}/pause", "Pause a job", 404, 409)(deeds.pause_job)
JOBS.post("/{id}/resume", "Let a job run again", 404, 409)(deeds.resume_job)
JOBS.get("/{id}/history", "The runs of a job", 404)(
    listed("PastRuns", "runs", deeds.job_history, lambda each: f"{each.planned} {each.attempt}")
)


@JOBS.get("/{id}/log", "What a job has changed", 404)
def job_log(workspace: Workspace, page: ListPage, id: Id) -> Log:
    """The commits of a job."""
    return log(workspace, page, job=deeds.find_job(workspace, id).id)


SKILLS = Routes("/api/v1/skills")
SKILLS.get("", "The skills")(listed("Skills", "skills", list_skills, lambda each: each.path))
SKILLS.get("/match", "What fits a task")(match_skills)
SKILLS.get("/{name}", "One skill", 404)(show_skill)
SKILLS.post("/{name}/revoke", "Trust a skill no more", 404, 409)(distrust_skill)


NOTICES = Routes("/api/v1/notices")


NOTICES.get("", "What the agent wanted to say")(listed("NoticeList", "notices", list_notices))
NOTICES.get("/{id}", "One notice", 404)(show_notice)
NOTICES.post("/{id}/react", "An opinion about a notice", 404)(react)
