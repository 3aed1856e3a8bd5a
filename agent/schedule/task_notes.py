"""The notes of tasks: loaded from `tasks/` and `tasks/done/`, planned once for each day, and ended.

What is written is returned as requests, so that one commit can have the end of a task together with what it wrote. Only
the person's own version of a note counts: what arrived from elsewhere is no task until they have looked at it.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import lru_cache
from itertools import count
from pathlib import Path, PurePosixPath

from agent.dataclass import dataclass
from agent.errors import AgentError, UserError
from agent.markdown.note import Note
from agent.markdown.title import clipped_between_links, short_title
from agent.markdown.yaml_write import Value
from agent.schedule.header_fields import plain_id
from agent.schedule.procedures import WORK_TYPES, TaskType
from agent.schedule.task import TYPE, USUAL, Task, TaskProblem, TaskStatus, parse_task
from agent.texts import Language, text
from agent.vault.change import Create, Edit, Move, Request
from agent.vault.folders import TASKS, TASKS_DONE, AgentFolder
from agent.vault.moving import archive_path
from agent.vault.store import Vault

_LATE = datetime(9999, 1, 1, tzinfo=UTC)


def in_order(tasks: Iterable[Task]) -> tuple[Task, ...]:
    """The tasks by priority (10 first), then by the moment from which they are due, then by age."""
    return tuple(sorted(tasks, key=_rank))


def ready(tasks: Iterable[Task], completed: Sequence[Task], now: datetime) -> tuple[Task, ...]:
    """The tasks that may be begun now, in order: due, and with all that they need completed. One that is in progress
    is not begun again: its run waits for the person, here or on another machine."""
    found = (each for each in tasks if each.may_begin and (each.due is None or each.due <= now))
    return in_order(each for each in found if not needs(each, completed))


def needs(task: Task, completed: Sequence[Task]) -> tuple[str, ...]:
    """The tasks that have to be completed before this one, as it names them."""
    done = [each for each in completed if each.status == "completed"]
    return tuple(name for name in task.dependencies if not any(each.is_named(name) for each in done))


def _rank(task: Task) -> tuple[int, datetime, datetime, str]:
    born = task.created_at or _LATE
    return -task.priority, task.due or born, born, task.id


WAITING_AT_MOST = 100
"""The most tasks that wait, where no setting says otherwise."""
_LINE = 300
"""The most characters of a result in the header; a longer one is in the body."""


class QueueFull(UserError):
    """As many tasks wait as may."""


@dataclass(frozen=True, slots=True)
class TaskShelf:
    """The tasks of one vault: those that wait, in order; those in `tasks/` that a person has ended by hand; those in
    `tasks/done/`, the last one first; and the notes that are no right task."""

    waiting: tuple[Task, ...] = ()
    ended: tuple[Task, ...] = ()
    done: tuple[Task, ...] = ()
    problems: tuple[TaskProblem, ...] = ()

    @property
    def all(self) -> tuple[Task, ...]:
        """All tasks."""
        return (*self.waiting, *self.ended, *self.done)

    def due(self, now: datetime) -> tuple[Task, ...]:
        """The waiting tasks whose time has come."""
        return tuple(each for each in self.waiting if each.due is None or each.due <= now)


@dataclass(frozen=True, slots=True)
class NewTask:
    """A task to be planned; its fields are as those of `Task`."""

    kind: TaskType
    title: str
    description: str = ""
    priority: int = USUAL
    due: datetime | None = None
    target_file: str = ""
    context: str = ""
    session: str = ""
    recurrence_interval: int = 0
    dependencies: tuple[str, ...] = ()

    @property
    def subject(self) -> str:
        """The subject of the task, beside its kind: two tasks with the same subject are the same on one day."""
        return self.target_file or (self.title if self.kind in WORK_TYPES else "")


@dataclass(frozen=True, slots=True)
class PlannedTask:
    """A task that is planned: `request` writes its note (None: there was one already)."""

    task: Task
    request: Create | None


@dataclass(frozen=True, slots=True)
class TaskEnd:
    """The end of a task. `text` is its result, or the reason why it failed or was cancelled."""

    status: TaskStatus
    at: datetime
    text: str = ""
    started: datetime | None = None
    seconds: float = 0.0


def load_tasks(vault: Vault, *, done: bool = True) -> TaskShelf:
    """The tasks of a vault; those in `tasks/done/` only if `done`."""
    tasks, problems = _load_all(vault, TASKS, "*.md")
    ended = _load_all(vault, TASKS_DONE, "*/*.md")[0] if done else []
    return TaskShelf(
        in_order(each for each in tasks if each.is_waiting),
        tuple(each for each in tasks if not each.is_waiting),
        tuple(sorted(ended, key=_last, reverse=True)),
        tuple(problems),
    )


def _load_all(vault: Vault, folder: str, pattern: str) -> tuple[list[Task], list[TaskProblem]]:
    """The tasks in a folder, and the problems of the notes that are none."""
    found = [_load(vault, path) for path in _paths(vault, folder, pattern)]
    return [each for each in found if isinstance(each, Task)], [each for each in found if isinstance(each, TaskProblem)]


def count_done(vault: Vault) -> int:
    """The number of notes in `tasks/done/`; none is read."""
    return sum(1 for _ in _paths(vault, TASKS_DONE, "*/*.md"))


def load_task(vault: Vault, path: str) -> Task | TaskProblem | None:
    """The task at a path, None if there is none; only the person's own version of its note counts."""
    return _load(vault, path)


def _free_name(vault: Vault, new: NewTask, shelf: TaskShelf, day: date) -> str:
    taken = {each.name for each in shelf.all}
    return next(name for name in _names(new, day) if name not in taken and not _is_there(vault, name))


def plan_task(
    vault: Vault,
    new: NewTask,
    shelf: TaskShelf,
    now: datetime,
    most: int = WAITING_AT_MOST,
    *,
    again: bool = False,
) -> PlannedTask:
    """Plan a task, once for its kind, its subject and the day; `again`: to be done now, also if the same was done today
    already, or many wait for a later day.

    Raises `QueueFull` if as many tasks wait as may.
    """
    day = now.date()
    same = (each for each in shelf.all if is_same(each, new, day))
    there = next((each for each in same if each.is_waiting or not again), None)
    if there is not None:
        return PlannedTask(there, None)
    ahead = shelf.due(now) if again else shelf.waiting
    if len(ahead) >= most:
        raise QueueFull(
            "{count} tasks wait already, and no more may",
            hint="vault-agent jobs tasks shows them; vault-agent jobs tasks cancel ID takes one out",
            count=len(ahead),
        )
    stem = _free_name(vault, new, shelf, day)
    path = vault.home.at(f"{TASKS}{stem}.md")
    data = new_task_note(new, plain_id(stem, TYPE), now, vault.home)
    task = parse_task(path, data, vault.home)
    assert isinstance(task, Task)
    return PlannedTask(task, Create(path, data))


def is_same(task: Task, new: NewTask, day: date) -> bool:
    """True if a task is the new one: of its kind and subject, and planned on this day."""
    own = replace(new, title=task.title, target_file=task.target_file)
    is_of_day = task.created_at is not None and task.created_at.astimezone().date() == day
    is_on_it = task.kind == new.kind and own.subject.casefold() == new.subject.casefold()
    return is_on_it and (is_of_day or task.name.startswith(f"{day}-"))


def new_task_note(new: NewTask, name: str, now: datetime, home: AgentFolder) -> bytes:
    """The note of a new task."""
    header: dict[str, Value] = {"id": name, "type": TYPE, "task_type": new.kind, "title": new.title}
    header |= {"description": new.description} if new.description else {}
    header |= {"status": "scheduled" if new.due and new.due > now else "pending", "priority": new.priority}
    header |= {"due": new.due.replace(microsecond=0)} if new.due else {}
    header |= {"target_file": home.at(new.target_file)} if new.target_file else {}
    header |= {"context": new.context} if new.context else {}
    header |= {"dependencies": list(new.dependencies)} if new.dependencies else {}
    if new.recurrence_interval:
        header |= {"recurring": True, "recurrence_interval": new.recurrence_interval}
    header |= {"session": f"[[{new.session.removesuffix('.md')}]]"} if new.session else {}
    header["created_at"] = now.replace(microsecond=0)
    return Note.compose(header, f"# {new.title}\n").data


def rescheduled(vault: Vault, task: Task, due: datetime | None, priority: int, now: datetime) -> tuple[Request, ...]:
    """The request that gives a task that waits another time (None: at once) and another priority; none if its note is
    gone. Raises `BadNote` for a header that cannot be changed."""
    base = vault.read(task.path)
    if base is None:
        return ()
    status = "scheduled" if due is not None and due > now else "pending"
    note = Note.parse(base).with_key("status", status).with_key("priority", priority)
    note = note.with_key("due", due.replace(microsecond=0)) if due is not None else note.without_key("due")
    return (Edit(task.path, base, note.data),) if note.data != base else ()


def end_task(vault: Vault, task: Task, end: TaskEnd, language: Language) -> tuple[Request, ...]:
    """The requests with which a task is over: its note gets what came of it, and moves to `tasks/done/`.

    No request if the note is gone. Raises `BadNote` for a header that cannot be changed.
    """
    base = vault.read(task.path)
    if base is None:
        return ()
    note = Note.parse(base).with_key("status", end.status)
    if end.started is not None:
        note = note.with_key("started_at", end.started.replace(microsecond=0))
    note = note.with_key("completed_at", end.at.replace(microsecond=0))
    if end.started is not None:
        note = note.with_key("execution_time_ms", round(end.seconds * 1000))
    key, other = ("result", "error") if end.status == "completed" else ("error", "result")
    line = " ".join(end.text.split())
    note = note.with_key(key, clipped_between_links(line, _LINE)) if line else note
    note = note.without_key(other) if other in note.header else note
    if len(line) > _LINE or "\n" in end.text.strip():
        heading = f"## {text('task.result', language)}"
        note = note.with_body(f"{note.body.rstrip()}\n\n{heading}\n\n{end.text.strip()}\n")
    target = free_path(vault, f"{TASKS_DONE}{end.at:%Y-%m}/{task.name}")
    return Edit(task.path, base, note.data), Move(task.path, target)


def mark_begun(vault: Vault, task: Task, started: datetime, says: str) -> tuple[Request, ...]:
    """The request with which a task is in progress while its run waits for the person; `says` is why."""
    base = vault.read(task.path)
    if base is None:
        return ()
    note = Note.parse(base).with_key("status", "in_progress").with_key("started_at", started.replace(microsecond=0))
    return (Edit(task.path, base, note.with_key("result", " ".join(says.split())[:_LINE]).data),)


def archive_done(vault: Vault, shelf: TaskShelf, most: int) -> tuple[Move, ...]:
    """The requests that move the oldest of the tasks that are over to `archive/`, all but the last `most`."""
    return tuple(Move(each.path, archive_path(vault, each.path)) for each in shelf.done[most:])


def free_path(vault: Vault, name: str, taken: Collection[str] = ()) -> str:
    """A path in the agent's folder for a note of this name (without its ending), with a number if it is taken."""
    numbered = (name if number == 1 else f"{name}-{number}" for number in count(1))
    paths = (vault.home.at(f"{each}.md") for each in numbered)
    return next(path for path in paths if path not in taken and vault.read(path) is None)


def _load(vault: Vault, path: str) -> Task | TaskProblem | None:
    try:
        data = vault.read_now(path)  # what another machine has done is not there any more
        own = None if data is None else vault.provenance.own_version(path, data)
    except (AgentError, OSError):
        return None
    if own is None or data is None:
        return None
    task, there = _parse_unless_copy(path, own, vault.home), _parse_unless_copy(path, data, vault.home)
    if isinstance(task, Task) and task.may_begin and isinstance(there, Task) and not there.may_begin:
        return replace(task, status="in_progress")  # what arrived cannot begin it, but says that another one has
    return task


@lru_cache(maxsize=2_048)
def _parse_unless_copy(path: str, data: bytes, home: AgentFolder) -> Task | TaskProblem | None:
    """The task in these bytes; a conflict copy is none."""
    if b"conflict_of" in data and "conflict_of" in Note.parse(data).header:
        return None
    return parse_task(path, data, home)


def _paths(vault: Vault, folder: str, pattern: str) -> Iterator[str]:
    place = Path(vault.place.root, vault.home.at(folder))
    found: Iterable[Path] = sorted(place.glob(pattern)) if place.is_dir() else ()
    return (path.relative_to(vault.place.root).as_posix() for path in found if not path.name.startswith("."))


def _names(new: NewTask, day: date) -> Iterator[str]:
    words = PurePosixPath(new.subject).name.removesuffix(".md") if new.target_file else new.subject
    subject = "-".join(short_title(words).lower().split())
    stem = "-".join(filter(None, (day.isoformat(), new.kind.replace("_", "-"), subject)))
    return (stem if number == 1 else f"{stem}-{number}" for number in count(1))


def _is_there(vault: Vault, stem: str) -> bool:
    return vault.read(vault.home.at(f"{TASKS}{stem}.md")) is not None


def _last(task: Task) -> tuple[float, str]:
    return (task.completed_at.timestamp() if task.completed_at else 0.0), task.path
