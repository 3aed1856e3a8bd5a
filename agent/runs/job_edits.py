"""A job that its person changes by its fields: what it would be, and the one commit that makes it so.

The note stays the job's only form: fields that were not changed leave its lines as they are, and keys that a form does
not have stay. Of a note that arrived from elsewhere nothing is changed before its person has looked at it.
"""

import threading
from collections.abc import Mapping
from datetime import datetime
from math import isfinite, nan

from agent.dataclass import dataclass
from agent.errors import BadNote, Conflict, NoteGone, UserError
from agent.markdown.note import Note
from agent.markdown.yaml_write import Value, pair, same
from agent.runs.job_upkeep import job_shelf
from agent.schedule.header_fields import title_of
from agent.schedule.job import Job, JobProblem
from agent.schedule.job_header import parse_job, task_text
from agent.schedule.new_job import NewJob, make_job, with_task_text, with_title
from agent.schedule.occurrences import UTC_NAME, zone_of
from agent.schedule.shelf import is_job_note
from agent.schedule.trigger_lines import BadLine, parse_lines, raw_lines
from agent.schedule.triggers import At, Trigger, parse_triggers
from agent.vault.change import Outcome, Stamp
from agent.vault.message import one_line
from agent.workspace.workspace import Workspace

FIELDS = {
    "on": "when",
    "timezone": "zone",
    "approval_required": "asks",
    "channel": "channel",
    "cooldown_seconds": "quiet",
    "retry": "retries",
}
"""The keys of a header that have a field of their own in a form, by the names of these fields."""
MORE = (
    *("task", "target_file", "remind", "active_days", "priority", "mode", "catch_up"),
    *("max_concurrency", "timeout", "spend", "run_on", "user_id"),
)
"""The keys that a form has as lines of the header."""
KEPT = frozenset(("id", "status", "source"))
"""The keys that no form has: a name that histories go by, what pause and resume set, and who made the job."""
_ONE_AT_A_TIME = threading.Lock()
"""Held from the look at a note's version to the write: of two forms with the same version one comes too late."""


@dataclass(frozen=True, slots=True)
class JobForm:
    """A job as a person types it. `when` has one trigger a line; an empty `zone` is the machine's; `text` is what it
    does; `asks`: each run needs a yes. `channel` is where the answer goes (empty: the day's note), `quiet` the least
    minutes between two runs, `retries` how often a failed run is tried again; `more` has the other settings as lines of
    a header. Of a field that is None the note keeps what it has."""

    title: str | None = None
    when: str | None = None
    zone: str | None = None
    text: str | None = None
    asks: bool | None = None
    channel: str | None = None
    quiet: str | None = None
    retries: str | None = None
    more: str | None = None


@dataclass(frozen=True, slots=True)
class JobInForm:
    """A job's note and what a form shows of it: `base` is the id of the note's content, `problem` what is wrong."""

    path: str
    base: str
    form: JobForm
    problem: JobProblem | None = None


class WrongInput(UserError):
    """A field of a form that the job cannot have; `field` is its name in `JobForm`, empty for the rest of the note."""

    def __init__(self, error: UserError | JobProblem, field: str = "") -> None:
        super().__init__("{problem}", hint="{fix}", problem=error.message, fix=error.hint)
        self.field = field


class StaleForm(Conflict):
    """The note has changed since the form was made. `current` is its text now, with the id `base`; `sent` is what the
    form would make of it."""

    def __init__(self, path: str, base: str, current: str, sent: str) -> None:
        super().__init__(
            "{path} has changed since you opened it; nothing was written",
            hint="look at what would change now, and then write yours or open the form again",
            paths=(path,),
            path=path,
        )
        self.base, self.current, self.sent = base, current, sent


def job_in_form(workspace: Workspace, name: str) -> JobInForm:
    """The job that a person means by its id, note or title, also one whose note has a problem, as a form shows it.

    Raises `UserError` for a goal, and for what arrived and was not looked at.
    """
    path, problem = _path_of(workspace, name)
    data = _read(workspace, path)
    note = Note.parse(data)
    if note.problem is not None:
        raise UserError(
            "{path} cannot run: {problem}",
            hint="mend it in an editor: {fix}",
            path=path,
            problem=note.problem.message,
            fix=note.problem.hint,
        )
    header = note.header
    form = JobForm(
        title_of(note, path.rpartition("/")[2].removesuffix(".md")),
        raw_lines(header.get("on")),
        str(header.get("timezone") or ""),
        task_text(note.body),
        header.get("approval_required") is True,
        str(header.get("channel") or ""),
        _minutes(header.get("cooldown_seconds")),
        _retries(header.get("retry")),
        "\n".join(row for key in MORE if key in header for row in pair(key, header[key])),
    )
    return JobInForm(path, workspace.vault.content_id(data), form, problem)


def changed_job(workspace: Workspace, name: str, form: JobForm) -> NewJob:
    """The job that a form makes of another one, and the note's bytes then; raises `WrongInput`."""
    path, _ = _path_of(workspace, name)
    return _changed(workspace, path, _read(workspace, path), form)


def save_job(workspace: Workspace, path: str, base: str, form: JobForm) -> Outcome | None:
    """Write a form into its job's note in one commit, None if that changes nothing.

    Raises `WrongInput`, and `StaleForm` if `base` is not the id of the note's content any more.
    """
    vault = workspace.vault
    with _ONE_AT_A_TIME:
        _path_of(workspace, path)  # what arrived since the form was made has to be looked at first
        data = _read(workspace, path)
        made = _changed(workspace, path, data, form)
        if (now := vault.content_id(data)) != base:
            raise StaleForm(path, now, data.decode("utf-8", "replace"), made.data.decode("utf-8", "replace"))
        if made.data == data:
            return None
        with vault.transaction(f"job(edit): {one_line(made.job.name)}", Stamp("human")) as change:
            change.edit(path, data, made.data)
    return change.outcome


def new_job(workspace: Workspace, form: JobForm) -> NewJob:
    """The job of a form that has no note yet; raises `WrongInput`."""
    now = workspace.clock.now().astimezone()
    title, text = " ".join((form.title or "").split()), (form.text or "").strip()
    fields: dict[str, Value] = {**_schedule(form, now), **({"approval_required": True} if form.asks else {})}
    fields |= {key: value for key, value in {**_conduct(form, {}), **_more(form, {})}.items() if value is not None}
    first = text.partition("\n")[0]
    if not (title or first):
        empty = UserError("a job needs a title or a text", hint="say what it is about")
        raise WrongInput(empty, "title")
    try:
        return make_job(workspace.vault, title or first[:60], text, fields, "static", now)
    except UserError as error:
        raise WrongInput(error, "when") from error


def add_job(workspace: Workspace, form: JobForm) -> tuple[Job, Outcome]:
    """Write a new job in one commit."""
    with _ONE_AT_A_TIME:
        made = new_job(workspace, form)
        return made.job, write_new_job(workspace, made)


def write_new_job(workspace: Workspace, made: NewJob) -> Outcome:
    """Write the note of a new job, in the person's name."""
    with workspace.vault.transaction(f"job(add): {one_line(made.job.name)}", Stamp("human")) as change:
        change.create(made.job.path, made.data)
    return change.outcome


def _path_of(workspace: Workspace, name: str) -> tuple[str, JobProblem | None]:
    shelf = job_shelf(workspace).load()
    problem = next((each for each in shelf.problems if each.path == name), None)
    path = problem.path if problem is not None else name if name in shelf.waiting else shelf.find(name).path
    if not is_job_note(workspace.vault, path):
        raise UserError("this job is the goal in {path}", hint="change `review` in that note", path=path)
    if path in shelf.waiting:
        hint = "look at it under What needs me, or: vault-agent needs"
        raise UserError("{name} arrived from elsewhere and was not looked at here", hint=hint, name=path)
    return path, problem


def _read(workspace: Workspace, path: str) -> bytes:
    data = workspace.vault.read(path)
    if data is None:
        raise NoteGone("{path} is gone", hint="vault-agent log shows what was moved or deleted", path=path)
    return data


def _schedule(form: JobForm, now: datetime) -> dict[str, Value]:
    """The keys of a header that a form's schedule comes to; raises `WrongInput`."""
    try:
        typed = parse_lines(form.when or "", now)
    except BadLine as error:
        raise WrongInput(error, "when") from error
    zone = typed.zone or (form.zone or "").strip()
    try:
        zone_of(zone or UTC_NAME)
    except UserError as error:
        raise WrongInput(error, "zone") from error
    return {"on": typed.on, **({"timezone": zone} if zone else {})}


def _changed(workspace: Workspace, path: str, data: bytes, form: JobForm) -> NewJob:
    now = workspace.clock.now().astimezone()
    note = Note.parse(data)
    before = _triggers(note.header.get("on"))
    try:
        note = _with_form(_with_schedule(note, before, form, now), path, form)
    except BadNote as error:
        raise WrongInput(error) from error
    job = parse_job(path, note.data, workspace.vault.content_id(note.data))
    if isinstance(job, JobProblem):
        raise WrongInput(job, FIELDS.get(job.key, "more" if job.key in MORE else ""))
    if job is None:
        raise UserError("{path} is no job", hint="give its header `type: job`", path=path)
    is_over = all(isinstance(each, At) for each in job.triggers) and not job.next_occurrences(now, 1)
    if is_over and job.triggers != before:
        raise WrongInput(UserError("that time is over", hint="give one that is still to come"), "when")
    return NewJob(job, note.data)


def _with_form(note: Note, path: str, form: JobForm) -> Note:
    """The note with what the form changes beside the schedule."""
    if form.asks is not None and form.asks != (note.header.get("approval_required") is True):
        note = note.with_key("approval_required", form.asks)
    for key, value in {**_conduct(form, note.header), **_more(form, note.header)}.items():
        note = note.without_key(key) if value is None else note.with_key(key, value)
    note = with_title(note, path, form.title or "")
    return note if form.text is None else with_task_text(note, form.text)


def _conduct(form: JobForm, header: Mapping[str, Value]) -> dict[str, Value]:
    """The keys of a header that a form changes in how the job runs, None for one that goes; raises `WrongInput`."""
    found: dict[str, Value] = {}
    if (channel := _edited(form.channel, str(header.get("channel") or ""))) is not None:
        found["channel"] = channel or None
    if (quiet := _edited(form.quiet, _minutes(header.get("cooldown_seconds")))) is not None:
        found["cooldown_seconds"] = round(_number(quiet, "quiet") * 60) or None
    if (retries := _edited(form.retries, _retries(header.get("retry")))) is not None:
        found["retry"] = _retry(round(_number(retries, "retries")), header.get("retry"))
    return {key: value for key, value in found.items() if value is not None or key in header}


def _edited(typed: str | None, before: str) -> str | None:
    """The text that was typed into a field; None if it is not in the form, or as it was `before`."""
    return None if typed is None or typed.strip() == before else typed.strip()


def _retry(most: int, before: Value) -> Value:
    """The key `retry` with another number of tries; None for no tries."""
    pause = {key: each for key, each in before.items() if key != "max"} if isinstance(before, Mapping) else {}
    return {"max": most, **pause} if most else None


def _more(form: JobForm, header: Mapping[str, Value]) -> dict[str, Value]:
    """The other keys of a header that a form changes, None for one that goes; raises `WrongInput`."""
    if form.more is None:
        return {}
    typed = _typed_keys(form.more.strip())
    found = {key: typed.get(key) for key in MORE if key in typed or key in header}
    return {key: value for key, value in found.items() if key not in header or not same(value, header[key])}


def _typed_keys(more: str) -> Mapping[str, Value]:
    """The keys of a header that were typed; raises `WrongInput` for other lines."""
    typed = Note.parse(f"---\n{more}\n---\n".encode("utf-8", "replace"))
    if typed.problem is not None or not typed.header.keys() <= set(MORE) or (more and not typed.header):
        names = ", ".join(MORE)
        error = UserError(
            "these lines are no settings of a job", hint="write key: value, with one of {names}", names=names
        )
        raise WrongInput(error, "more")
    return typed.header


def _number(typed: str, field: str) -> float:
    try:
        number = float(typed.strip() or "0")
    except ValueError:
        number = nan
    if not isfinite(number):
        error = UserError("{value} is no number", hint="write 0, 5 or 30", value=typed.strip())
        raise WrongInput(error, field)
    return number


def _minutes(seconds: Value) -> str:
    return f"{seconds / 60:g}" if isinstance(seconds, int | float) and seconds else ""


def _retries(retry: Value) -> str:
    most = retry.get("max") if isinstance(retry, Mapping) else None
    return str(most) if most else ""


def _triggers(on: Value) -> tuple[Trigger, ...]:
    try:
        return parse_triggers(on)
    except UserError:
        return ()


def _with_schedule(note: Note, before: tuple[Trigger, ...], form: JobForm, now: datetime) -> Note:
    if form.when is None:
        return note
    keys = _schedule(form, now)
    if _triggers(keys["on"]) != before:
        note = note.with_key("on", keys["on"])
    zone = keys.get("timezone")
    if str(note.header.get("timezone") or "") == (zone or ""):
        return note
    return note.with_key("timezone", zone) if zone else note.without_key("timezone")
