"""A job in a form: its next times are shown while it is typed, and it is saved in one commit, from the version seen."""

from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import quote

from agent.config.settings import channel_names
from agent.errors import UserError
from agent.interfaces.http.pages.page import Deed, Done, Page, PageRequest
from agent.runs.configured_models import has_model
from agent.runs.job_edits import MORE, JobForm, JobInForm, add_job, changed_job, job_in_form, new_job, save_job
from agent.runs.job_upkeep import DayCost, cost_of_day
from agent.schedule.job import DAILY_CHANNEL, NO_CHANNEL, Job
from agent.schedule.occurrences import machine_zone, zone_names
from agent.schedule.trigger_words import job_words

_NEXT = 5


def show_new(request: PageRequest) -> Mapping[str, object]:
    """An empty form."""
    return {
        **_frame(),
        "path": "",
        "base": "",
        "form": JobForm("", "", "", "", False, "", "", "", ""),
        "problem": None,
        "id": "",
    }


def show_edit(request: PageRequest) -> Mapping[str, object]:
    """The form of one job; what is wrong with its note stands above it, unless the preview says it below the field."""
    found = job_in_form(request.workspace, request.named["id"])
    problem = None if _is_told_below(request, found) else found.problem
    shown = {"path": found.path, "base": found.base, "form": found.form, "problem": problem}
    return {**_frame(), **shown, "id": request.named["id"]}


def _is_told_below(request: PageRequest, found: JobInForm) -> bool:
    try:
        _job(request, found.path, found.form)
    except UserError as error:
        return _is_of_time(error)
    return False


def _is_of_time(error: UserError) -> bool:
    """True for what the preview says, as it stands below the fields of the time."""
    return getattr(error, "field", "") in ("when", "zone")


def _frame() -> dict[str, object]:
    channels = (DAILY_CHANNEL, NO_CHANNEL, *channel_names())
    return {"zones": zone_names(), "machine_zone": machine_zone().key, "channels": channels, "more_keys": MORE}


def show_preview(request: PageRequest) -> Mapping[str, object]:
    """When the job of a form would run, or what is wrong with its times; writes nothing."""
    workspace, form, path = request.workspace, _form(request), request.field("path")
    is_blank = not path and not form.when
    try:
        job = None if is_blank else _job(request, path, form)
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
        "next": job.coming(request.now, _NEXT),
        "cost": cost if path else DayCost(cost.times),  # what a new job does is not known before it is written
        "here": machine_zone(),
    }


def _job(request: PageRequest, path: str, form: JobForm) -> Job:
    if path:
        return changed_job(request.workspace, path, JobForm(when=form.when, zone=form.zone)).job
    return new_job(request.workspace, replace(form, title=form.title or request.text("new_job"))).job


def save(request: PageRequest) -> Done:
    """Write the job: a new one, or a change of the version that the person has seen."""
    workspace, form, path = request.workspace, _form(request), request.field("path")
    if not path:
        job, made = add_job(workspace, form)
        return Done(request.text("later" if made.queued else "job_added", name=job.title or job.id), _address(job.id))
    outcome = save_job(workspace, path, request.needed("base"), form)
    key = "job_same" if outcome is None else "later" if outcome.queued else "job_saved"
    return Done(request.text(key, name=path), _address(request.field("id") or path))


def _address(id: str) -> str:
    return f"/jobs/{quote(id)}"


def _form(request: PageRequest) -> JobForm:
    field = request.field
    conduct = (field("channel"), field("quiet"), field("retries"), field("more"))
    return JobForm(field("title"), field("when"), field("zone"), field("text"), field("asks") == "yes", *conduct)


NEW = Page("new_job", "/new-job", show_new, under="jobs", is_live=False)
EDIT = Page("job_edit", "/jobs/edit/{id:path}", show_edit, under="jobs", is_live=False)
PREVIEW = Page("job_preview", "/job-preview", show_preview, under="jobs", is_live=False)
DEEDS = (Deed("/jobs/save", save, refused="refused.html"),)
