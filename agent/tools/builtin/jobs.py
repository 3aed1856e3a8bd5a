"""The tools of what the agent does at its time: jobs, its own queue of tasks, and the state of what it knows."""

from dataclasses import replace
from datetime import datetime, timedelta
from shlex import quote
from typing import TYPE_CHECKING

from agent.clock import Clock
from agent.dataclass import dataclass
from agent.errors import BadPath, ToolFailed, ToolRetry, UserError
from agent.lazy import later
from agent.llm.messages import JsonObject
from agent.markdown.note import Note
from agent.schedule.channel_words import without_channel
from agent.schedule.job import Job, JobProblem
from agent.schedule.job_header import parse_job
from agent.schedule.new_job import with_task_text, with_title
from agent.schedule.procedures import WORK_TYPES, WorkType, target_name
from agent.schedule.shelf import JobShelf
from agent.schedule.task import HIGHEST, LOWEST, USUAL, Task
from agent.schedule.task_notes import NewTask, QueueFull, load_tasks, needs, plan_task
from agent.schedule.triggers import At, Cron, Every, RecurrenceRule, format_trigger, parse_triggers
from agent.tools import arguments
from agent.tools.builtin.notes import Notes
from agent.tools.builtin.profile import format_profile
from agent.tools.tool import Cited, Draft, Effect, PlanDrafts, RunContext, Tool, ToolOutput
from agent.vault.change import Stamp
from agent.vault.folders import RESEARCH
from agent.vault.store import Vault

if TYPE_CHECKING:
    from agent.schedule.new_job import NewJob, make_job
    from agent.schedule.trigger_lines import TypedSchedule, parse_lines
else:
    make_job = later("agent.schedule.new_job", "make_job")
    parse_lines = later("agent.schedule.trigger_lines", "parse_lines")


_GROUP = frozenset({"schedule"})
_SHOWN = 100
_JOB: JsonObject = {"type": "string", "minLength": 1}
_CHANNEL: JsonObject = {"type": "string"}
_TEXT: JsonObject = {"type": "string", "minLength": 1, "maxLength": 4000}
_TITLE: JsonObject = {"type": "string", "minLength": 1, "maxLength": 80}
_WHEN: JsonObject = {"type": "string", "description": "every weekday at 9, every 2h, at 2026-12-24 09:00, cron"}

_ONE_JOB = arguments.schema("job", job=_JOB)


def job_tools(notes: Notes) -> tuple[Tool, ...]:
    """The actions of the tool, for the jobs of one vault."""
    return _list(notes), _add(notes), _change(notes), _pause(notes), _resume(notes), _delete(notes)


def _list(notes: Notes) -> Tool:
    def perform(call: JsonObject, context: RunContext) -> ToolOutput:
        shelf, now = JobShelf(notes.vault).load(), notes.vault.clock.now()
        asked = [job for job in shelf.jobs if not job.task and not job.only_wakes]
        upkeep = ", ".join(job.id for job in shelf.jobs if job not in asked)
        lines = [_line(job, now) for job in asked[:_SHOWN]]
        lines += [f"your own upkeep, not asked for: {upkeep}"] if upkeep else []
        lines += [f"{each.path} cannot run: {each.message}" for each in shelf.problems]
        return ToolOutput("\n".join(lines) or "there are no jobs")

    return Tool("jobs.list", "ids and times", arguments.schema(), perform, _GROUP, readonly=True)


def _add(notes: Notes) -> Tool:
    def made(call: JsonObject) -> "NewJob":
        now = notes.vault.clock.now().astimezone()
        try:
            typed = _times(call, now)
            fields = dict(typed.fields)
            if "remind" in call:
                fields["remind"] = call["remind"] is True
            text, channel = without_channel(arguments.text(call, "text").strip())
            if channel := arguments.text(call, "channel") or channel:
                fields["channel"] = channel
            return replace(
                make_job(notes.vault, arguments.text(call, "title"), text, fields, "dynamic", now), time=typed.taken
            )
        except UserError as error:
            raise ToolRetry(f"{error.message}; {error.hint}") from None

    def plan(call: JsonObject, context: RunContext) -> tuple[Draft, ...]:
        found = made(call)
        return (Draft(found.job.path, None, found.data),)

    def perform(call: JsonObject, context: RunContext) -> ToolOutput:
        found = made(call)
        draft = Draft(found.job.path, None, found.data)
        done = notes.commit("jobs.add", context, f"job(create): {found.job.name}", [draft])
        times = ", ".join(
            each.at.isoformat(" ", "minutes") for each in found.job.next_occurrences(notes.vault.clock.now(), 3)
        )
        lines = [done.text, f"{found.job.name}, next: {times}", *found.remarks("en"), *found.job.warnings]
        return ToolOutput("\n".join(lines), is_changed=done.is_changed)

    schema = arguments.schema(
        "title",
        "text",
        "when",
        title=_TITLE,
        text=_TEXT,
        when=_WHEN,
        timezone={"type": "string"},
        remind={"type": "boolean", "description": "only show `text`"},
        channel=_CHANNEL,
    )
    about = "do `text` once or again and again"
    effect = Effect(lambda call: (made(call).job.path,), plan, notes.done)
    return Tool("jobs.add", about, schema, perform, _GROUP, timeout=0, effect=effect, on_request=True)


def _times(call: JsonObject, now: datetime) -> "TypedSchedule":
    """The times that a call gives; raises `UserError`. A day without a time of day has the usual one: the result says
    so."""
    typed = parse_lines(arguments.text(call, "when"), now, usual_hours=True)
    if not all(isinstance(each, Cron | RecurrenceRule | Every | At) for each in parse_triggers(typed.on)):
        raise ToolRetry("`when` has to be a time, such as every weekday at 9")
    return replace(typed, zone=arguments.text(call, "timezone") or typed.zone)


def _change(notes: Notes) -> Tool:
    def plan(call: JsonObject, context: RunContext) -> tuple[Draft, ...]:
        job = _job(notes, call)
        data = notes.existing(job.path)
        note = with_title(Note.parse(data), job.path, arguments.text(call, "title"))
        try:
            times = _times(call, notes.vault.clock.now().astimezone()).fields if "when" in call else {}
        except UserError as error:
            raise ToolRetry(f"{error.message}; {error.hint}") from None
        channel = {"channel": arguments.text(call, "channel")} if "channel" in call else {}
        for key, value in {**times, **channel}.items():
            note = note.with_key(key, value)
        if "text" in call:
            if job.source == "static":
                raise ToolRetry(f"your person wrote what {job.id} does: they change it in its note")
            note = with_task_text(note, arguments.text(call, "text"))
        if note.data == data:
            raise ToolRetry(f"nothing of {job.id} would change: give title, when, channel or text")
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
        channel=_CHANNEL,
        text=_TEXT,
    )
    return _changing(notes, "jobs.change", "its times, text, channel", plan, schema)


def _pause(notes: Notes) -> Tool:
    def plan(call: JsonObject, context: RunContext) -> tuple[Draft, ...]:
        job = _job(notes, call)
        data = notes.existing(job.path)
        return (Draft(job.path, data, Note.parse(data).with_key("status", "paused").data),)

    return _changing(notes, "jobs.pause", "until resumed", plan)


def _resume(notes: Notes) -> Tool:
    def plan(call: JsonObject, context: RunContext) -> tuple[Draft, ...]:
        job = _job(notes, call)
        if job.status == "active":  # what its failures have stopped stands in its history, not in its note
            hint = "if its failures have stopped it, your person lets it run again: vault-agent jobs resume"
            raise ToolRetry(f"{job.id} is active already; {hint} {quote(job.name)}")
        data = notes.existing(job.path)
        return (Draft(job.path, data, Note.parse(data).with_key("status", "active").data),)

    return _changing(notes, "jobs.resume", "run again", plan)


def _delete(notes: Notes) -> Tool:
    def plan(call: JsonObject, context: RunContext) -> tuple[Draft, ...]:
        job = _job(notes, call)
        return (Draft(job.path, notes.existing(job.path), None),)

    return _changing(notes, "jobs.delete", "its history stays", plan)


def _changing(notes: Notes, name: str, description: str, plan: PlanDrafts, schema: JsonObject = _ONE_JOB) -> Tool:
    def perform(call: JsonObject, context: RunContext) -> ToolOutput:
        action = name.partition(".")[2]
        (draft,) = drafts = plan(call, context)
        result = notes.commit(name, context, f"job({action}): {_job(notes, call).name}", drafts)
        now_is = parse_job(draft.path, draft.after, "") if draft.after is not None else None
        return (
            replace(result, text=f"{result.text}\n{_line(now_is, notes.vault.clock.now())}")
            if isinstance(now_is, Job)
            else result
        )

    effect = Effect(lambda call: (_job(notes, call).path,), plan, notes.done)
    return Tool(name, description, schema, perform, _GROUP, timeout=0, effect=effect, on_request=True)


def _job(notes: Notes, call: JsonObject) -> Job:
    try:
        return JobShelf(notes.vault).load().find(arguments.text(call, "job"))
    except UserError as error:
        raise ToolRetry(f"{error.message}; jobs (list) shows them") from None


def _line(job: Job, now: datetime) -> str:
    coming = job.next_occurrences(now, 1) if job.status == "active" else ()
    is_over = job.status == "active" and not coming and all(isinstance(each, At) for each in job.triggers)
    when = f"; next {coming[0].at.isoformat(' ', 'minutes')}" if coming else "; its time is over" if is_over else ""
    return f"{job.name}: {job.title}; {', '.join(map(format_trigger, job.triggers))}; {job.status}{when}"


PURPOSE = "self_reflection"
"""The purpose of the runs in which these tools exist."""
MOST_PLANNED = 5
"""The most tasks that one reflection plans."""
_LATEST = 24 * 31
"""The most hours from now on for which a task is planned."""
_MOST_SHOWN = 50
_OVER = 20


@dataclass(frozen=True, slots=True)
class PlanningTools:
    """The tools for one vault, in which at most `most` tasks wait."""

    vault: Vault
    clock: Clock
    most: int

    def create(self, call: JsonObject, context: RunContext) -> ToolOutput:
        """Plan one task, in a note that is committed with the result of the run."""
        if context.taint:
            raise ToolFailed("this run has read text from elsewhere, so it may not plan; say what you would plan")
        new = self._new(call, context)
        shelf = load_tasks(self.vault)
        planned = [each for each in shelf.all if each.session and each.session == new.session]
        if len(planned) >= MOST_PLANNED:
            raise ToolFailed(f"this reflection has planned {MOST_PLANNED} tasks, and may not plan more; end it now")
        try:
            found = plan_task(self.vault, new, shelf, self.clock.now(), self.most)
        except QueueFull as error:
            raise ToolFailed(f"{error.message}; end the reflection, and say what you would have planned") from error
        task = found.task
        if found.request is None:
            return ToolOutput(f"this is planned already, or was done today: {_task_line(task)}")
        stamp = Stamp(context.actor, run=context.run, tool="create_task", session=context.session, call=context.call)
        subject, hold = f"task(plan): {new.title}", bool(new.session)
        with self.vault.transaction(subject, stamp, masked=True, hold=hold) as change:
            change.requests.append(found.request)
        left = MOST_PLANNED - len(planned) - 1
        return ToolOutput(f"planned in {task.path}; {left} more may be planned", (Cited(task.path, (1, 1)),))

    def pending(self, call: JsonObject, context: RunContext) -> ToolOutput:
        """List the tasks that wait, in the order in which they are done."""
        shelf = load_tasks(self.vault)
        lines = [
            _task_line(each) + (f", needs {', '.join(lacks)}" if (lacks := needs(each, shelf.done)) else "")
            for each in shelf.waiting[:_MOST_SHOWN]
        ]
        lines += [f"and {len(shelf.waiting) - _MOST_SHOWN} more"] if len(shelf.waiting) > _MOST_SHOWN else []
        return ToolOutput("\n".join(lines) or "no task waits")

    def history(self, call: JsonObject, context: RunContext) -> ToolOutput:
        """List the tasks that were done last, with what came of them."""
        done = load_tasks(self.vault).done[: arguments.number(call, "limit", _OVER)]
        lines = [f"{_task_line(each)}: {(each.result or each.error)[:200]}".rstrip(": ") for each in done]
        return ToolOutput("\n".join(lines) or "no task was done yet")

    def profile(self, call: JsonObject, context: RunContext) -> ToolOutput:
        """List the notes about the person: how long each is, when it changed, how many fields are empty."""
        return ToolOutput(format_profile(self.vault) or "there are no notes about the person yet")

    def _new(self, call: JsonObject, context: RunContext) -> NewTask:
        try:
            kind = _work_type(arguments.text(call, "task_type"))
            target = target_name(kind, arguments.text(call, "target_file"), self.vault.home)
        except BadPath as error:
            raise ToolRetry(f"target_file: {error.message}") from error
        title = " ".join(arguments.text(call, "title").split())
        if not title:
            raise ToolRetry("the title is empty")
        hours = call.get("scheduled_hours_from_now")
        due = self.clock.now() + timedelta(hours=hours) if isinstance(hours, int | float) and hours > 0 else None
        words = arguments.text(call, "description").strip()
        session = context.session.removesuffix(".md")
        return NewTask(kind, title, words, arguments.number(call, "priority", USUAL), due, target, session=session)

    def tools(self) -> tuple[Tool, ...]:
        """The four tools."""
        create = arguments.schema(
            "task_type",
            "title",
            "description",
            task_type={"type": "string", "enum": list(WORK_TYPES)},
            title={"type": "string", "minLength": 1, "maxLength": 120},
            description={"type": "string", "maxLength": 2000, "description": "what to do, and why it is worth it"},
            priority={"type": "integer", "minimum": LOWEST, "maximum": HIGHEST, "description": "10 is urgent"},
            scheduled_hours_from_now={"type": "number", "minimum": 0, "maximum": _LATEST},
            target_file={
                "type": "string",
                "maxLength": 200,
                "description": f"for explore_topic: the note in {RESEARCH} to work on",
            },
        )
        limit: JsonObject = {"type": "integer", "minimum": 1, "maximum": 100}
        group, only = frozenset({"tasks"}), frozenset({PURPOSE})
        plain = arguments.schema()
        return (
            Tool("create_task", f"Plan work for your person, at most {MOST_PLANNED} in one reflection.", create,
                 self.create, group, timeout=0, only_for=only),
            Tool("get_pending_tasks", "List the tasks that wait.", plain, self.pending, group, readonly=True,
                 only_for=only),
            Tool("get_recent_task_history", "List the tasks that were done last, and what came of them.",
                 arguments.schema(limit=limit), self.history, group, readonly=True, only_for=only),
            Tool("get_profile_status", "List the notes about the person, and what is missing in them.", plain,
                 self.profile, group, readonly=True, only_for=only),
        )  # fmt: skip


def _work_type(name: str) -> WorkType:
    """The kind of work of this name; the agent's own upkeep is nothing to be planned."""
    kind = next((each for each in WORK_TYPES if each == name), None)
    if kind is None:
        raise ToolRetry(f"task_type is one of: {', '.join(WORK_TYPES)}; upkeep comes by itself")
    return kind


def _task_line(task: Task) -> str:
    """A task on one line."""
    due = f", due {task.due:%Y-%m-%d %H:%M}" if task.due else ""
    about = f", about {task.target_file}" if task.target_file else ""
    return f"- {task.title} ({task.kind}, {task.status}, priority {task.priority}{due}{about})"
