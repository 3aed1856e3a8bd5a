"""What this machine is working on: the tasks that were begun and are not over, outside the vault.

A task that the program was stopped in is tried once more at the next start; one in which it was stopped twice has
failed, so that a task that kills the program is not done for ever.
"""

from dataclasses import field, replace
from datetime import datetime

from agent.dataclass import dataclass
from agent.records.database import Records
from agent.records.table import Table
from agent.schedule.task import Task
from agent.schedule.task_notes import TaskShelf

TRIES = 2
"""How often a task is begun before a stop in the middle of it counts as its failure."""


@dataclass(frozen=True, slots=True)
class BegunTask:
    """A task that was begun: when first, how often, and the session that waits for the person if it does."""

    task: str
    at: str
    tries: int = 1
    session: str = ""
    waits_for: str = ""


@dataclass(slots=True)
class TaskProgress:
    """The begun tasks of one vault on this machine, by id; each change is durable when it returns."""

    table: Table[tuple[BegunTask, ...]]
    begun: dict[str, BegunTask] = field(default_factory=dict)

    @classmethod
    def load(cls, records: Records) -> "TaskProgress":
        """The tasks that were begun; none where the record is damaged."""
        table = Table(records, "begun-tasks", tuple[BegunTask, ...])
        return cls(table, {each.task: each for each in table.get() or ()})

    def mark(self, shelf: TaskShelf) -> TaskShelf:
        """The tasks with those that were begun here in progress: their notes say it only once they are over."""
        return replace(shelf, waiting=tuple(map(self._marked, shelf.waiting)))

    def _marked(self, task: Task) -> Task:
        begun = self.begun.get(task.id)
        if begun is None:
            return task
        result = f"[[{begun.waits_for.removesuffix('.md')}]]" if begun.waits_for else task.result
        return replace(task, status="in_progress", started_at=datetime.fromisoformat(begun.at), result=result)

    def begin(self, task: str, at: datetime) -> BegunTask:
        """A task is begun, once more if it was before."""
        before = self.begun.get(task)
        begun = BegunTask(task, at.isoformat(), 1 if before is None else before.tries + 1)
        self._set(begun)
        return begun

    def wait(self, task: str, session: str, waits_for: str) -> None:
        """The run of a task waits in a session for its person, who decides in a note."""
        before = self.begun.get(task)
        self._set(BegunTask(task, before.at if before else "", before.tries if before else 1, session, waits_for))

    def give_up(self, task: str) -> None:
        """The last try does not count: it was stopped in good order."""
        before = self.begun.get(task)
        if before is not None and before.tries > 1:
            self._set(BegunTask(task, before.at, before.tries - 1))
        else:
            self.end(task)

    def end(self, task: str) -> None:
        """A task is over."""
        if self.begun.pop(task, None) is not None:
            self._save()

    def is_worn_out(self, task: str) -> bool:
        """True if the program was stopped in this task as often as it may be."""
        found = self.begun.get(task)
        return found is not None and not found.session and found.tries >= TRIES

    def _set(self, begun: BegunTask) -> None:
        self.begun[begun.task] = begun
        self._save()

    def _save(self) -> None:
        self.table.put(tuple(self.begun.values()))
