"""The planning tools: the agent's own queue of tasks, and the state of what it knows about its person.

They exist only in a run of self-reflection, which nobody waits for. One reflection plans a few tasks at most, and none
once it has read text that the person did not write: that text may have asked for it.
"""

from datetime import timedelta

from agent.clock import Clock
from agent.dataclass import dataclass
from agent.errors import BadPath, ToolFailed, ToolRetry, UserError
from agent.llm.messages import JsonObject
from agent.schedule.procedures import TASK_TYPES, target_name, task_type_of
from agent.schedule.task import HIGHEST, LOWEST, USUAL, Task
from agent.schedule.task_notes import NewTask, QueueFull, load_tasks, needs, plan_task
from agent.tools import arguments
from agent.tools.builtin.profile import format_profile
from agent.tools.tool import Cited, RunContext, Tool, ToolOutput
from agent.vault.change import Stamp
from agent.vault.folders import PROFILE, RESEARCH
from agent.vault.store import Vault

PURPOSE = "self_reflection"
"""The purpose of the runs in which these tools exist."""
MOST_PLANNED = 5
"""The most tasks that one reflection plans."""
_LATEST = 24 * 31
"""The most hours from now on for which a task is planned."""
_SHOWN = 50
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
            return ToolOutput(f"this is planned already, or was done today: {_shown(task)}")
        stamp = Stamp(context.actor, run=context.run, tool="create_task", session=context.session, call=context.call)
        with self.vault.transaction(f"task(plan): {new.title}", stamp, masked=True, hold=bool(new.session)) as change:
            change.requests.append(found.request)
        left = MOST_PLANNED - len(planned) - 1
        return ToolOutput(f"planned in {task.path}; {left} more may be planned", (Cited(task.path, (1, 1)),))

    def pending(self, call: JsonObject, context: RunContext) -> ToolOutput:
        """List the tasks that wait, in the order in which they are done."""
        shelf = load_tasks(self.vault)
        lines = [
            _shown(each) + (f", needs {', '.join(lacks)}" if (lacks := needs(each, shelf.done)) else "")
            for each in shelf.waiting[:_SHOWN]
        ]
        lines += [f"and {len(shelf.waiting) - _SHOWN} more"] if len(shelf.waiting) > _SHOWN else []
        return ToolOutput("\n".join(lines) or "no task waits")

    def history(self, call: JsonObject, context: RunContext) -> ToolOutput:
        """List the tasks that were done last, with what came of them."""
        done = load_tasks(self.vault).done[: arguments.number(call, "limit", _OVER)]
        lines = [f"{_shown(each)}: {(each.result or each.error)[:200]}".rstrip(": ") for each in done]
        return ToolOutput("\n".join(lines) or "no task was done yet")

    def profile(self, call: JsonObject, context: RunContext) -> ToolOutput:
        """List the notes about the person: how long each is, when it changed, how many fields are empty."""
        return ToolOutput(format_profile(self.vault) or "there are no notes about the person yet")

    def _new(self, call: JsonObject, context: RunContext) -> NewTask:
        try:
            kind = task_type_of(arguments.text(call, "task_type"))
            target = target_name(kind, arguments.text(call, "target_file"), self.vault.home)
        except BadPath as error:
            raise ToolRetry(f"target_file: {error.message}") from error
        except UserError as error:
            raise ToolRetry(f"{error.message}; there are: {', '.join(TASK_TYPES)}") from error
        title = " ".join(arguments.text(call, "title").split())
        if not title:
            raise ToolRetry("the title is empty")
        if kind == PURPOSE:
            raise ToolRetry("a reflection does not plan the next one: it comes by itself")
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
            task_type={"type": "string", "enum": list(TASK_TYPES)},
            title={"type": "string", "minLength": 1, "maxLength": 120},
            description={"type": "string", "maxLength": 2000, "description": "what to do, and why it is worth it"},
            priority={"type": "integer", "minimum": LOWEST, "maximum": HIGHEST, "description": "10 is urgent"},
            scheduled_hours_from_now={"type": "number", "minimum": 0, "maximum": _LATEST},
            target_file={
                "type": "string",
                "maxLength": 200,
                "description": f"the note in {PROFILE} or {RESEARCH} to work on, such as 20-skills-abilities.md",
            },
        )
        limit: JsonObject = {"type": "integer", "minimum": 1, "maximum": 100}
        group, only = frozenset({"tasks"}), frozenset({PURPOSE})
        plain = arguments.schema()
        return (
            Tool("create_task", f"Plan a task for yourself, at most {MOST_PLANNED} in one reflection.", create,
                 self.create, group, timeout=0, only_for=only),
            Tool("get_pending_tasks", "List the tasks that wait.", plain, self.pending, group, readonly=True,
                 only_for=only),
            Tool("get_recent_task_history", "List the tasks that were done last, and what came of them.",
                 arguments.schema(limit=limit), self.history, group, readonly=True, only_for=only),
            Tool("get_profile_status", "List the notes about the person, and what is missing in them.", plain,
                 self.profile, group, readonly=True, only_for=only),
        )  # fmt: skip


def _shown(task: Task) -> str:
    """A task on one line."""
    due = f", due {task.due:%Y-%m-%d %H:%M}" if task.due else ""
    about = f", about {task.target_file}" if task.target_file else ""
    return f"- {task.title} ({task.kind}, {task.status}, priority {task.priority}{due}{about})"
