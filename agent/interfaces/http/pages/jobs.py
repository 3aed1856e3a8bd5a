"""Jobs and tasks: when each job runs in words, its last and next runs, and what a person does with it; what the agent
will do by itself, the next one first, and what it did.

A job is edited in a form: its next times are shown while it is typed, and it is saved in one commit, from the version
seen. The form has an address below that of the jobs, so its page comes first.
"""

from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import quote

from agent.app.past_runs import PastRun, past_runs
from agent.config.settings import channel_names
from agent.dataclass import dataclass
from agent.deeds.job_runs import begin_job
from agent.deeds.jobs import pause_job, resume_job, stop_schedule
from agent.deeds.tasks import cancel_task
from agent.errors import UserError
from agent.interfaces.http.pages.page import Deed, Done, Page, PageRequest
from agent.interfaces.http.pages.time_line import SPANS, Span, time_line
from agent.runs.configured_models import has_model
from agent.runs.job_edits import MORE, JobForm, JobInForm, add_job, changed_job, job_in_form, new_job, save_job
from agent.runs.job_upkeep import DayCost, cost_of_day, job_as_it_is, job_shelf
from agent.runs.planned_tasks import find_task, marked_tasks, plan_in_vault
from agent.runs.wake_times import switch_schedule
from agent.schedule.job import DAILY_CHANNEL, NO_CHANNEL, Job
from agent.schedule.occurrences import Occurrence, machine_zone, zone_names
from agent.schedule.procedures import TASK_TYPES, TYPES, target_name, task_type_of
from agent.schedule.shelf import is_job_note
from agent.schedule.task import HIGHEST, LOWEST, USUAL, Task, moment
from agent.schedule.task_notes import NewTask, TaskShelf, needs
from agent.schedule.trigger_words import job_words
from agent.workspace.schedule_switch import schedule_switch

_NEXT_IN_FORM = 5


def show_new_job(request: PageRequest) -> Mapping[str, object]:
    """An empty form."""
    return {
        **_form_values(),
        "path": "",
        "base": "",
        "form": JobForm("", "", "", "", False, "", "", "", ""),
        "problem": None,
        "id": "",
    }


def show_edit(request: PageRequest) -> Mapping[str, object]:
    """The form of one job; what is wrong with its note stands above it, unless the preview says it below the field."""
    found = job_in_form(request.workspace, request.named["id"])
    problem = None if _is_beside_its_field(request, found) else found.problem
    values = {"path": found.path, "base": found.base, "form": found.form, "problem": problem}
    return {**_form_values(), **values, "id": request.named["id"]}


def _is_beside_its_field(request: PageRequest, found: JobInForm) -> bool:
    try:
        _job_of_form(request, found.path, found.form)
    except UserError as error:
        return _is_of_time(error)
    return False


def _is_of_time(error: UserError) -> bool:
    """True for what the preview says, as it stands below the fields of the time."""
    return getattr(error, "field", "") in ("when", "zone")


def _form_values() -> dict[str, object]:
    channels = (DAILY_CHANNEL, NO_CHANNEL, *channel_names())
    return {"zones": zone_names(), "machine_zone": machine_zone().key, "channels": channels, "more_keys": MORE}


def show_preview(request: PageRequest) -> Mapping[str, object]:
    """When the job of a form would run, or what is wrong with its times; writes nothing."""
    workspace, form, path = request.workspace, _job_form(request), request.field("path")
    is_blank = not path and not form.when
    try:
        job = None if is_blank else _job_of_form(request, path, form)
    except UserError as error:
        return {"job": None, "error": error if _is_of_time(error) else None, "field": getattr(error, "field", "")}
    if job is None:
        return {"job": None, "error": None, "field": ""}
    cost = cost_of_day(workspace, job, has_model(workspace))
    return {
        "job": job,
        "error": None,
        "field": "",
        "when": job_words(job, request.language),
        "next": job.coming(request.now, _NEXT_IN_FORM),
        "cost": cost if path else DayCost(cost.times),  # what a new job does is not known before it is written
        "here": machine_zone(),
    }


def _job_of_form(request: PageRequest, path: str, form: JobForm) -> Job:
    if path:
        return changed_job(request.workspace, path, JobForm(when=form.when, zone=form.zone)).job
    return new_job(request.workspace, replace(form, title=form.title or request.text("new_job"))).job


def save(request: PageRequest) -> Done:
    """Write the job: a new one, or a change of the version that the person has seen."""
    workspace, form, path = request.workspace, _job_form(request), request.field("path")
    if not path:
        job, made = add_job(workspace, form)
        return Done(request.text("later" if made.queued else "job_added", name=job.title or job.id), _address(job.id))
    outcome = save_job(workspace, path, request.needed("base"), form)
    key = "job_same" if outcome is None else "later" if outcome.queued else "job_saved"
    return Done(request.text(key, name=path), _address(request.field("id") or path))


def _address(id: str) -> str:
    return f"/jobs/{quote(id)}"


def _job_form(request: PageRequest) -> JobForm:
    field = request.field
    conduct = (field("channel"), field("quiet"), field("retries"), field("more"))
    return JobForm(field("title"), field("when"), field("zone"), field("text"), field("asks") == "yes", *conduct)


NEW_JOB = Page("new_job", "/new-job", show_new_job, under="jobs", is_live=False)
JOB_EDIT = Page("job_edit", "/jobs/edit/{id:path}", show_edit, under="jobs", is_live=False)
JOB_PREVIEW = Page("job_preview", "/job-preview", show_preview, under="jobs", is_live=False)
_FORM_DEEDS = (Deed("/jobs/save", save, refused="refused.html"),)


_NEXT, _PAST = 3, 50


@dataclass(frozen=True, slots=True)
class _JobRow:
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
    found = [_job_row(request, each) for each in shelf.jobs]
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
    row = _job_row(request, job_shelf(workspace).load().find(request.named["id"]))
    return {
        "shown": row,
        "job": row.job,
        "runs": row.runs[:_PAST],
        "left": max(len(row.runs) - _PAST, 0),
        "cost": cost_of_day(workspace, row.job, has_model(workspace)),
    }


def _job_row(request: PageRequest, job: Job) -> _JobRow:
    job = job_as_it_is(request.workspace, job)
    times = job.coming(request.now, _NEXT) if job.status == "active" else ()
    words = job_words(job, request.language)
    is_goal = not is_job_note(request.workspace.vault, job.path)
    return _JobRow(job, words, times, past_runs(request.workspace, job)[::-1], is_goal)


def start(request: PageRequest) -> Done:
    """Let the jobs and tasks of the vault begin again."""
    switch_schedule(request.workspace, True)
    return Done(request.text("schedule_starts"))


def stop(request: PageRequest) -> Done:
    """Let no job and no task of the vault begin any more."""
    text = request.text("schedule_stops")
    stop_schedule(request.workspace, text)
    return Done(text)


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
_JOB_DEEDS = (
    Deed("/jobs/run", run),
    Deed("/jobs/pause", pause),
    Deed("/jobs/resume", resume),
    Deed("/jobs/start", start),
    Deed("/jobs/stop", stop),
)


_OVER = 50
"""Tasks that are over and are shown."""


def show_tasks(request: PageRequest) -> Mapping[str, object]:
    """The queue and the history."""
    shelf = marked_tasks(request.workspace)
    over = (*shelf.ended, *shelf.done)
    return {
        "queue": [(each, _needs(each, shelf)) for each in shelf.waiting],
        "over": over[:_OVER],
        "left": max(len(over) - _OVER, 0),
        "problems": shelf.problems,
    }


def show_task(request: PageRequest) -> Mapping[str, object]:
    """One task in full."""
    shelf = marked_tasks(request.workspace)
    task = find_task(shelf.all, shelf, request.named["id"])
    return {"task": task, "needed": _needs(task, shelf)}


def show_new_task(request: PageRequest) -> Mapping[str, object]:
    """The form for a new task."""
    kinds = [(kind, TYPES[kind]) for kind in TASK_TYPES]
    return {"kinds": kinds, "lowest": LOWEST, "usual": USUAL, "highest": HIGHEST}


def add(request: PageRequest) -> Done:
    """Plan a task; the same one is planned once a day."""
    kind, title = task_type_of(request.needed("type")), " ".join(request.needed("title").split())
    target = target_name(kind, request.field("target_file"), request.workspace.vault.home)
    due = request.field("from")
    new = NewTask(
        kind, title, request.field("description"), _priority(request), moment(due) if due else None, target
    )  # fmt: skip
    planned = plan_in_vault(request.workspace, new, again=False)
    return Done(request.text("task_planned"), f"/tasks/{planned.task.id}")


def _priority(request: PageRequest) -> int:
    text = request.field("priority") or str(USUAL)
    if not text.isdecimal() or not LOWEST <= int(text) <= HIGHEST:
        hint = "a whole number from {least} to {most}"
        raise UserError("{value} is no priority", hint=hint, value=text, least=LOWEST, most=HIGHEST)
    return int(text)


def delete(request: PageRequest) -> Done:
    """Take a task out of the queue; its note moves to the tasks that are over."""
    done = cancel_task(request.workspace, request.needed("id"))
    return Done(request.text("task_deleted", name=done.title))


def _needs(task: Task, shelf: TaskShelf) -> tuple[str, ...]:
    """The tasks that must be done before this one."""
    return needs(task, shelf.done) if task.is_waiting else ()


TASKS = Page("tasks", "/tasks", show_tasks, "k", under="jobs")
NEW_TASK = Page("new_task", "/tasks/new", show_new_task, under="tasks", is_live=False)
TASK = Page("task", "/tasks/{id:path}", show_task, under="tasks")
DEEDS = (*_FORM_DEEDS, *_JOB_DEEDS, Deed("/tasks/add", add), Deed("/tasks/delete", delete))
