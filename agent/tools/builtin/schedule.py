"""Tools for jobs: `schedule_create`, `schedule_list`, `schedule_pause`, `schedule_delete`.

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
from agent.schedule.job import Job
from agent.schedule.shelf import JobShelf
from agent.schedule.triggers import format_trigger
from agent.tools import arguments
from agent.tools.builtin.notes import Notes
from agent.tools.tool import Draft, Effect, PlanDrafts, RunContext, Tool, ToolOutput

if TYPE_CHECKING:
    from agent.schedule.new_job import NewJob, make_job
    from agent.schedule.plain_times import parse_plain
else:
    make_job = later("agent.schedule.new_job", "make_job")
    parse_plain = later("agent.schedule.plain_times", "parse_plain")

_GROUP = frozenset({"schedule"})
_SHOWN = 100
_JOB: JsonObject = {"type": "string", "minLength": 1, "description": "its id, as schedule_list shows it"}
_WHEN = ("when", "cron", "every", "at")


def schedule_tools(notes: Notes) -> tuple[Tool, ...]:
    """The tools for the jobs of one vault."""
    return _list(notes), _create(notes), _pause(notes), _delete(notes)


def _list(notes: Notes) -> Tool:
    def perform(call: JsonObject, context: RunContext) -> ToolOutput:
        shelf, now = JobShelf(notes.vault).load(), notes.vault.clock.now()
        lines = [_line(job, now) for job in shelf.jobs[:_SHOWN]]
        lines += [f"{each.path} cannot run: {each.message}" for each in shelf.problems]
        return ToolOutput("\n".join(lines) or "there are no jobs")

    return Tool("schedule_list", "List the jobs: what runs when.", arguments.schema(), perform, _GROUP, readonly=True)


def _create(notes: Notes) -> Tool:
    def made(call: JsonObject) -> "NewJob":
        now = notes.vault.clock.now().astimezone()
        given = {key: arguments.text(call, key) for key in _WHEN if arguments.text(call, key)}
        if len(given) != 1:
            raise ToolRetry("say when: exactly one of when, cron, every, at")
        fields: dict[str, Value] = {"on": dict(given)}
        if "when" in given:
            plain = parse_plain(given["when"], now)
            if plain is None or plain.task:
                raise ToolRetry("`when` has to be only a time, such as every weekday at 9; or give cron, every or at")
            fields = dict(plain.header)
        if zone := arguments.text(call, "timezone"):
            fields["timezone"] = zone
        try:
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
        done = notes.commit("schedule_create", context, f"job(create): {found.job.id}", [draft])
        times = ", ".join(
            each.at.isoformat(" ", "minutes") for each in found.job.next_occurrences(notes.vault.clock.now(), 3)
        )
        return ToolOutput(f"{done.text}\n{found.job.id}, next: {times}", commits=done.commits)

    schema = arguments.schema(
        "title",
        "text",
        title={"type": "string", "minLength": 1, "maxLength": 80, "description": "its name, in a few words"},
        text={"type": "string", "minLength": 1, "maxLength": 4000, "description": "what is to be done each time"},
        when={"type": "string", "description": "in plain words: every weekday at 9, tomorrow at 8, 每天早上九点"},
        cron={"type": "string", "description": "five fields, such as 0 9 * * 1-5 for workdays at nine"},
        every={"type": "string", "description": "30m, 2h, 1d"},
        at={"type": "string", "description": "once: 2026-12-24 09:00"},
        timezone={"type": "string", "description": "such as Europe/Berlin; default the person's own"},
    )
    about = "Have something done at a time, once or again and again, by itself. Give one of when, cron, every, at."
    effect = Effect(lambda call: (made(call).job.path,), plan, notes.done)
    return Tool("schedule_create", about, schema, perform, _GROUP, timeout=0, effect=effect, on_request=True)


def _pause(notes: Notes) -> Tool:
    def plan(call: JsonObject, context: RunContext) -> tuple[Draft, ...]:
        job = _job(notes, call)
        data = notes.existing(job.path)
        return (Draft(job.path, data, Note.parse(data).with_key("status", "paused").data),)

    return _changing(notes, "schedule_pause", "Let a job run no more until the person resumes it.", plan)


def _delete(notes: Notes) -> Tool:
    def plan(call: JsonObject, context: RunContext) -> tuple[Draft, ...]:
        job = _job(notes, call)
        return (Draft(job.path, notes.existing(job.path), None),)

    return _changing(notes, "schedule_delete", "Delete a job. Its history stays.", plan)


def _changing(notes: Notes, name: str, description: str, plan: PlanDrafts) -> Tool:
    def perform(call: JsonObject, context: RunContext) -> ToolOutput:
        verb = name.partition("_")[2]
        return notes.commit(name, context, f"job({verb}): {_job(notes, call).id}", plan(call, context))

    effect = Effect(lambda call: (_job(notes, call).path,), plan, notes.done)
    schema = arguments.schema("job", job=_JOB)
    return Tool(name, description, schema, perform, _GROUP, timeout=0, effect=effect, on_request=True)


def _job(notes: Notes, call: JsonObject) -> Job:
    try:
        return JobShelf(notes.vault).load().find(arguments.text(call, "job"))
    except UserError as error:
        raise ToolRetry(f"{error.message}; schedule_list shows the jobs") from None


def _line(job: Job, now: datetime) -> str:
    coming = job.next_occurrences(now, 1) if job.status == "active" else ()
    when = f"; next {coming[0].at.isoformat(' ', 'minutes')}" if coming else ""
    what = job.task or ("only wakes" if job.only_wakes else job.title)
    return f"{job.id}: {what}; {', '.join(map(format_trigger, job.triggers))}; {job.status}{when}"
