"""Jobs: when each runs in words, its last and next runs, and what a person does with it."""

from collections.abc import Mapping

from agent.app.past_runs import PastRun, past_runs
from agent.dataclass import dataclass
from agent.deeds.job_runs import begin_job
from agent.deeds.jobs import pause_job, resume_job, stop_schedule
from agent.interfaces.http.pages.page import Deed, Done, Page, PageRequest
from agent.interfaces.http.pages.time_line import SPANS, Span, time_line
from agent.runs.configured_models import has_model
from agent.runs.job_upkeep import cost_of_day, job_as_it_is, job_shelf
from agent.runs.wake_times import switch_schedule
from agent.schedule.job import Job
from agent.schedule.occurrences import Occurrence, machine_zone
from agent.schedule.shelf import is_job_note
from agent.schedule.trigger_words import job_words
from agent.workspace.schedule_switch import schedule_switch

_NEXT, _PAST = 3, 50


@dataclass(frozen=True, slots=True)
class _Shown:
    """A job with what stands on a page: its triggers in words, its next times, its runs, the newest first, and whether
    it is a goal, which has no note in `jobs/`."""

    job: Job
    when: list[str]
    next: tuple[Occurrence, ...]
    runs: tuple[PastRun, ...]
    is_goal: bool


def show(request: PageRequest) -> Mapping[str, object]:
    """All jobs, on one line of time (`span` of the query) and each by itself, and the notes that cannot run."""
    shelf = job_shelf(request.workspace).load()
    found = [_shown(request, each) for each in shelf.jobs]
    first = sorted(found, key=lambda each: (not each.next, each.next[0].at.timestamp() if each.next else 0.0))
    span: Span = next((each for each in SPANS if each == request.field("span")), "day")
    line = time_line([(each.job, each.runs) for each in first], request.now, span, machine_zone())
    return {
        "jobs": first,
        "problems": shelf.problems,
        "waiting_notes": shelf.waiting,
        "switch": schedule_switch(request.workspace),
        "line": line,
        "spans": SPANS,
    }


def show_job(request: PageRequest) -> Mapping[str, object]:
    """One job in full."""
    workspace = request.workspace
    shown = _shown(request, job_shelf(workspace).load().find(request.named["id"]))
    return {
        "shown": shown,
        "job": shown.job,
        "runs": shown.runs[:_PAST],
        "left": max(len(shown.runs) - _PAST, 0),
        "cost": cost_of_day(workspace, shown.job, has_model(workspace)),
    }


def _shown(request: PageRequest, job: Job) -> _Shown:
    job = job_as_it_is(request.workspace, job)
    times = job.coming(request.now, _NEXT) if job.status == "active" else ()
    words = job_words(job, request.language)
    is_goal = not is_job_note(request.workspace.vault, job.path)
    return _Shown(job, words, times, past_runs(request.workspace, job)[::-1], is_goal)


def start(request: PageRequest) -> Done:
    """Let the jobs and tasks of the vault begin again."""
    switch_schedule(request.workspace, True)
    return Done(request.text("schedule_starts"))


def stop(request: PageRequest) -> Done:
    """Let no job and no task of the vault begin any more."""
    said = request.text("schedule_stops")
    stop_schedule(request.workspace, said)
    return Done(said)


def run(request: PageRequest) -> Done:
    """Run a job once now."""
    begun = begin_job(request.workspace, request.service.pool, request.needed("id"))
    return Done(request.text("now_runs", name=_title(request, begun.job)))


def pause(request: PageRequest) -> Done:
    """Let a job run no more."""
    done = pause_job(request.workspace, request.needed("id"))
    return Done(request.text("now_paused", name=_title(request, done.job)))


def resume(request: PageRequest) -> Done:
    """Let a job run again, also one that its failures have stopped."""
    done = resume_job(request.workspace, request.needed("id"))
    return Done(request.text("now_resumed", name=_title(request, done.job)))


def _title(request: PageRequest, id: str) -> str:
    return next((each.title for each in job_shelf(request.workspace).load().jobs if each.id == id and each.title), id)


PAGE = Page("jobs", "/jobs", show, "j")
JOB = Page("job", "/jobs/{id:path}", show_job, under="jobs")
DEEDS = (
    Deed("/jobs/run", run),
    Deed("/jobs/pause", pause),
    Deed("/jobs/resume", resume),
    Deed("/jobs/start", start),
    Deed("/jobs/stop", stop),
)
