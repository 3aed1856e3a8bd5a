"""The tool `jobs`: lists, adds, changes, pauses and deletes jobs.

A job starts runs by itself, so making or changing one needs a person's yes; not if the owner is there and asked for it
in this run, and nothing from elsewhere was read in it. A daemon follows the note from the next second.
"""

from datetime import datetime
from typing import TYPE_CHECKING

from agent.errors import ToolRetry, UserError
from agent.lazy import later
from agent.llm.messages import JsonObject
from agent.markdown.note import Note
from agent.markdown.values import Value
from agent.schedule.job import Job, JobProblem
from agent.schedule.job_header import parse_job
from agent.schedule.job_words import with_title
from agent.schedule.shelf import JobShelf
from agent.schedule.triggers import At, Cron, Every, format_trigger, parse_triggers
from agent.tools import arguments
from agent.tools.builtin.notes import Notes
from agent.tools.tool import Draft, Effect, PlanDrafts, RunContext, Tool, ToolOutput

if TYPE_CHECKING:
    from agent.schedule.new_job import NewJob, make_job
    from agent.schedule.trigger_lines import parse_lines
else:
    make_job = later("agent.schedule.new_job", "make_job")
    parse_lines = later("agent.schedule.trigger_lines", "parse_lines")

_GROUP = frozenset({"schedule"})
_SHOWN = 100
_JOB: JsonObject = {"type": "string", "minLength": 1}
_TITLE: JsonObject = {"type": "string", "minLength": 1, "maxLength": 80}
_WHEN: JsonObject = {"type": "string", "description": "every weekday at 9, every 2h, at 2026-12-24 09:00, or cron"}

_ONE_JOB = arguments.schema("job", job=_JOB)


def job_tools(notes: Notes) -> tuple[Tool, ...]:
    """The actions of the tool, for the jobs of one vault."""
    return _list(notes), _add(notes), _change(notes), _pause(notes), _delete(notes)


def _list(notes: Notes) -> Tool:
    def perform(call: JsonObject, context: RunContext) -> ToolOutput:
        shelf, now = JobShelf(notes.vault).load(), notes.vault.clock.now()
        lines = [_line(job, now) for job in shelf.jobs[:_SHOWN]]
        lines += [f"{each.path} cannot run: {each.message}" for each in shelf.problems]
        return ToolOutput("\n".join(lines) or "there are no jobs")

    return Tool("jobs.list", "ids and times", arguments.schema(), perform, _GROUP, readonly=True)


def _add(notes: Notes) -> Tool:
    def made(call: JsonObject) -> "NewJob":
        now = notes.vault.clock.now().astimezone()
        try:
            fields = _times(call, now)
            if "remind" in call:
                fields["remind"] = call["remind"] is True
            text = arguments.text(call, "text").strip()
            return make_job(notes.vault, arguments.text(call, "title"), text, fields, "dynamic", now)
        except UserError as error:
            raise ToolRetry(f"{error.message}; {error.hint}") from None

    def plan(call: JsonObject, context: RunContext) -> tuple[Draft, ...]:
        found = made(call)
        return (Draft(found.job.path, None, found.data),)

    def perform(call: JsonObject, context: RunContext) -> ToolOutput:
        found = made(call)
        draft = Draft(found.job.path, None, found.data)
        done = notes.commit("jobs.add", context, f"job(create): {found.job.id}", [draft])
        times = ", ".join(
            each.at.isoformat(" ", "minutes") for each in found.job.next_occurrences(notes.vault.clock.now(), 3)
        )
        told = "\n".join([done.text, f"{found.job.id}, next: {times}", *found.job.warnings])
        return ToolOutput(told, commits=done.commits)

    schema = arguments.schema(
        "title",
        "text",
        "when",
        title=_TITLE,
        text={"type": "string", "minLength": 1, "maxLength": 4000},
        when=_WHEN,
        timezone={"type": "string"},
        remind={"type": "boolean", "description": "only show `text`"},
    )
    about = "do `text` by itself, once or again and again"
    effect = Effect(lambda call: (made(call).job.path,), plan, notes.done)
    return Tool("jobs.add", about, schema, perform, _GROUP, timeout=0, effect=effect, on_request=True)


def _times(call: JsonObject, now: datetime) -> dict[str, Value]:
    """The keys of a header for the times that a call gives; raises `UserError`."""
    typed = parse_lines(arguments.text(call, "when"), now)
    if not all(isinstance(each, Cron | Every | At) for each in parse_triggers(typed.on)):
        raise ToolRetry("`when` has to be a time, such as every weekday at 9")
    zone = arguments.text(call, "timezone") or typed.zone
    return {"on": typed.on, **({"timezone": zone} if zone else {})}


def _change(notes: Notes) -> Tool:
    def plan(call: JsonObject, context: RunContext) -> tuple[Draft, ...]:
        job = _job(notes, call)
        data = notes.existing(job.path)
        note = with_title(Note.parse(data), job.path, arguments.text(call, "title"))
        try:
            times = _times(call, notes.vault.clock.now().astimezone()) if "when" in call else {}
        except UserError as error:
            raise ToolRetry(f"{error.message}; {error.hint}") from None
        status = {"status": arguments.text(call, "status")} if "status" in call else {}
        for key, value in {**times, **status}.items():
            note = note.with_key(key, value)
        if note.data == data:
            raise ToolRetry(f"nothing of {job.id} would change: give title, when or status")
        made = parse_job(job.path, note.data, "")
        if made is None:
            raise ToolRetry(f"{job.id} is the goal in {job.path}: change `review` in that note")
        if isinstance(made, JobProblem):
            raise ToolRetry(f"{made.message}; {made.hint}")
        return (Draft(job.path, data, note.data),)

    schema = arguments.schema(
        "job",
        job=_JOB,
        title=_TITLE,
        when=_WHEN,
        timezone={"type": "string"},
        status={"enum": ["active", "paused"]},
    )
    return _changing(notes, "jobs.change", "not what it does: edit its note", plan, schema)


def _pause(notes: Notes) -> Tool:
    def plan(call: JsonObject, context: RunContext) -> tuple[Draft, ...]:
        job = _job(notes, call)
        data = notes.existing(job.path)
        return (Draft(job.path, data, Note.parse(data).with_key("status", "paused").data),)

    return _changing(notes, "jobs.pause", "until it is active again", plan)


def _delete(notes: Notes) -> Tool:
    def plan(call: JsonObject, context: RunContext) -> tuple[Draft, ...]:
        job = _job(notes, call)
        return (Draft(job.path, notes.existing(job.path), None),)

    return _changing(notes, "jobs.delete", "its history stays", plan)


def _changing(notes: Notes, name: str, description: str, plan: PlanDrafts, schema: JsonObject = _ONE_JOB) -> Tool:
    def perform(call: JsonObject, context: RunContext) -> ToolOutput:
        action = name.partition(".")[2]
        return notes.commit(name, context, f"job({action}): {_job(notes, call).id}", plan(call, context))

    effect = Effect(lambda call: (_job(notes, call).path,), plan, notes.done)
    return Tool(name, description, schema, perform, _GROUP, timeout=0, effect=effect, on_request=True)


def _job(notes: Notes, call: JsonObject) -> Job:
    try:
        return JobShelf(notes.vault).load().find(arguments.text(call, "job"))
    except UserError as error:
        raise ToolRetry(f"{error.message}; jobs (list) shows them") from None


def _line(job: Job, now: datetime) -> str:
    coming = job.next_occurrences(now, 1) if job.status == "active" else ()
    when = f"; next {coming[0].at.isoformat(' ', 'minutes')}" if coming else ""
    what = job.task or ("only wakes" if job.only_wakes else job.title)
    return f"{job.id}: {what}; {', '.join(map(format_trigger, job.triggers))}; {job.status}{when}"
