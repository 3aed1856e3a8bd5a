"""Tools for jobs: `schedule_create`, `schedule_list`, `schedule_pause`, `schedule_delete`.

A job starts runs by itself, so making or changing one needs a person's yes; not if the owner is there and asked for it
in this run, and nothing from elsewhere was read in it. A daemon follows the note from the next second.
"""

from datetime import datetime

from agent.errors import ToolRetry, UserError
from agent.llm.messages import JsonObject
from agent.markdown.note import Note
from agent.markdown.values import Header, Value
from agent.memory.entry import slug
from agent.schedule.job import Job, JobProblem
from agent.schedule.job_header import parse_job
from agent.schedule.shelf import JobShelf
from agent.schedule.triggers import format_trigger
from agent.tools import arguments
from agent.tools.builtin.notes import Notes
from agent.tools.tool import Draft, Effect, PlanDrafts, RunContext, Tool, ToolOutput
from agent.vault.folders import JOBS

_GROUP = frozenset({"schedule"})
_SHOWN = 100
_JOB: JsonObject = {"type": "string", "minLength": 1, "description": "its id, as schedule_list shows it"}
_WHEN = ("cron", "every", "at")


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
    def path_of(call: JsonObject) -> str:
        return notes.vault.home.at(f"{JOBS}{slug(arguments.text(call, 'title')) or 'job'}.md")

    def plan(call: JsonObject, context: RunContext) -> tuple[Draft, ...]:
        path, now = path_of(call), notes.vault.clock.now()
        if notes.vault.read(path) is not None:
            raise ToolRetry(f"{path} exists: give another title, or pause or delete that job")
        given = {key: arguments.text(call, key) for key in _WHEN if arguments.text(call, key)}
        if len(given) != 1:
            raise ToolRetry("say when: exactly one of cron, every, at")
        on: Value = dict(given)
        created: Value = now.replace(microsecond=0)
        header: Header = {"type": "job", "on": on, "status": "active", "source": "dynamic", "created": created}
        zone = arguments.text(call, "timezone")
        data = Note.compose({**header, "timezone": zone} if zone else header, _body(call)).data
        job = parse_job(path, data)
        if isinstance(job, JobProblem) or job is None:
            raise ToolRetry(f"{job.message}; {job.hint}" if job else "that is no job")
        if not job.next_occurrences(now, 1):
            raise ToolRetry("that time is over: give one that is still to come")
        return (Draft(path, None, data),)

    def perform(call: JsonObject, context: RunContext) -> ToolOutput:
        (draft,) = drafts = plan(call, context)
        done = notes.commit("schedule_create", context, f"job(create): {draft.path}", drafts)
        job = parse_job(draft.path, draft.after or b"")
        coming = job.next_occurrences(notes.vault.clock.now(), 3) if isinstance(job, Job) else ()
        times = ", ".join(each.at.isoformat(" ", "minutes") for each in coming)
        return ToolOutput(f"{done.text}\nnext: {times}", commits=done.commits)

    schema = arguments.schema(
        "title",
        "text",
        title={"type": "string", "minLength": 1, "maxLength": 80, "description": "its name, in a few words"},
        text={"type": "string", "minLength": 1, "maxLength": 4000, "description": "what is to be done each time"},
        cron={"type": "string", "description": "five fields, such as 0 9 * * 1-5 for workdays at nine"},
        every={"type": "string", "description": "30m, 2h, 1d"},
        at={"type": "string", "description": "once: 2026-12-24 09:00"},
        timezone={"type": "string", "description": "such as Europe/Berlin; default the person's own"},
    )
    about = "Have something done at a time, once or again and again, while nobody watches. Give one of cron, every, at."
    effect = Effect(lambda call: (path_of(call),), plan, notes.done)
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


def _body(call: JsonObject) -> str:
    return f"# {' '.join(arguments.text(call, 'title').split())}\n\n{arguments.text(call, 'text').strip()}\n"


def _line(job: Job, now: datetime) -> str:
    coming = job.next_occurrences(now, 1) if job.status == "active" else ()
    when = f"; next {coming[0].at.isoformat(' ', 'minutes')}" if coming else ""
    what = job.task or ("only wakes" if job.only_wakes else job.title)
    return f"{job.id}: {what}; {', '.join(map(format_trigger, job.triggers))}; {job.status}{when}"
