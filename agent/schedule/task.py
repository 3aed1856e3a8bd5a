"""A task: a note in `tasks/` about one piece of work that the agent will do by itself, and in `tasks/done/` afterwards.

The header says what kind of work it is, how urgent, and from when on; people may change it at any time. The note gets
`result` or `error` once the task is over. That a task is being worked on now is kept outside the vault
(`task_progress`), so that one task is few commits.
"""

from collections.abc import Mapping
from datetime import date, datetime, time
from pathlib import PurePosixPath
from typing import Literal, TypeAlias, get_args

from agent.dataclass import dataclass
from agent.errors import BadPath, UserError
from agent.markdown.note import Note
from agent.markdown.yaml_write import Value, is_list
from agent.schedule.header_fields import (
    CheckedFields,
    WrongField,
    identity,
    number,
    one_of,
    plain_id,
    short_value,
    title_of,
    word,
    yes_no,
)
from agent.schedule.occurrences import machine_zone, moment_in
from agent.schedule.procedures import TaskType, target_name, task_type_of
from agent.schedule.triggers import SHORTEST, parse_duration
from agent.texts import Sentence, in_all_languages
from agent.vault.folders import AT_ROOT, AgentFolder

TYPE = "task"
TaskStatus: TypeAlias = Literal["pending", "scheduled", "in_progress", "completed", "failed", "cancelled"]
STATUSES: tuple[TaskStatus, ...] = get_args(TaskStatus)
WAITING: frozenset[TaskStatus] = frozenset(("pending", "scheduled", "in_progress"))
LOWEST, HIGHEST, USUAL = 1, 10, 5
"""The least, the greatest and the usual priority."""
TURN = "task "
"""The beginning of the name of a machine's turn at a task."""


@dataclass(frozen=True, slots=True)
class Task:
    """One task, as its note says it.

    `due`: it is not begun before this moment (aware; None: at once). `target_file` is the note that it works on, as the
    table of folders names it. `dependencies` are the ids, or the names of the notes, of tasks that must be completed
    before. `recurrence_interval` is in seconds, `execution_time_ms` in milliseconds. `session` is the session in which
    it was planned.
    """

    id: str
    path: str
    kind: TaskType
    title: str
    description: str = ""
    status: TaskStatus = "pending"
    priority: int = USUAL
    due: datetime | None = None
    recurring: bool = False
    recurrence_interval: int = 0
    target_file: str = ""
    dependencies: tuple[str, ...] = ()
    context: str = ""
    result: str = ""
    error: str = ""
    created_at: datetime | None = None
    started_at: datetime | None = None
    completed_at: datetime | None = None
    execution_time_ms: int = 0
    session: str = ""

    @property
    def is_waiting(self) -> bool:
        """True if it is still to be done."""
        return self.status in WAITING

    @property
    def may_begin(self) -> bool:
        """True if it waits, and nobody has begun it."""
        return self.is_waiting and self.status != "in_progress"

    @property
    def name(self) -> str:
        """The name of its note, as links have it."""
        return PurePosixPath(self.path).stem

    def is_named(self, name: str) -> bool:
        """True if another task may call it so: by its id, or by the name of its note."""
        return name in (self.id, self.name)


@dataclass(frozen=True, slots=True)
class TaskProblem:
    """A note in `tasks/` that cannot be done: `key` of its header is wrong (empty: the header as a whole)."""

    path: str
    key: str
    message: Sentence
    hint: Sentence


def parse_task(path: str, data: bytes, home: AgentFolder = AT_ROOT) -> Task | TaskProblem | None:
    """The task of a note; None for a note of another type, such as the folder's own description."""
    note = Note.parse(data)
    stem = PurePosixPath(path).stem
    if note.problem is not None:
        return TaskProblem(path, "", note.problem.message, note.problem.hint)
    if note.type not in (TYPE, None) or (note.type is None and "task_type" not in note.header):
        return None
    fields = CheckedFields(note.header)
    kind = fields.take("task_type", task_type_of, None)
    if kind is None:
        if not fields.problems:
            missing = WrongField("`task_type` is missing", hint="vault-agent jobs tasks types lists the kinds of tasks")
            fields.problems.append(("task_type", missing))
        key, error = fields.problems[0]
        return TaskProblem(path, key, error.message, error.hint)
    created = fields.take("created_at", moment, None) or _plain_moment(note.header.get("created"))
    task = Task(
        fields.take("id", identity, plain_id(stem, TYPE)),
        path,
        kind,
        title_of(note, stem),
        fields.take("description", _text, _body(note.body.replace("\r\n", "\n"))),
        fields.take("status", one_of(STATUSES), "pending"),
        fields.take("priority", number(LOWEST, HIGHEST), USUAL),
        fields.take("due", moment, None),
        fields.take("recurring", yes_no, False),
        fields.take("recurrence_interval", _interval, 0),
        fields.take("target_file", lambda value: _target(kind, value, home), ""),
        fields.take("dependencies", _names, ()),
        fields.take("context", _text, ""),
        note.string("result") or "",
        note.string("error") or "",
        created,
        _plain_moment(note.header.get("started_at")),
        _plain_moment(note.header.get("completed_at")),
        _count(note.header.get("execution_time_ms")),
        link_target(note.string("session") or ""),
    )
    if task.recurring and not task.recurrence_interval and "recurrence_interval" not in dict(fields.problems):
        missing = WrongField("`recurring` needs a `recurrence_interval`", hint="such as 1d, 12h or a number of seconds")
        fields.problems.append(("recurrence_interval", missing))
    if fields.problems:
        key, error = fields.problems[0]
        return TaskProblem(path, key, error.message, error.hint)
    return task


def moment(value: Value) -> datetime:
    """A moment, aware: without an offset it is this machine's time, a day is its beginning; raises `UserError`."""
    found = value
    if isinstance(found, str):
        try:
            found = datetime.fromisoformat(found.strip())
        except ValueError:
            found = None
    if isinstance(found, date) and not isinstance(found, datetime):
        found = datetime.combine(found, time())
    if not isinstance(found, datetime):
        raise WrongField("{value} is no moment", hint="2026-12-24 09:00", value=short_value(value))
    return moment_in(found, machine_zone())


def link_target(text: str) -> str:
    """The note of a link such as `[[tasks/tea|tea]]`; a text that is no link stays."""
    plain = text.strip()
    if plain.startswith("[[") and plain.endswith("]]"):
        plain = plain[2:-2].partition("|")[0].partition("#")[0].strip()
    return plain


def _target(kind: TaskType, value: Value, home: AgentFolder) -> str:
    try:
        return target_name(kind, link_target(word(value)), home)
    except BadPath as error:
        raise WrongField(
            "{value} is no note of the vault", hint="{why}", value=short_value(value), why=error
        ) from error


def _body(body: str) -> str:
    """The description in a task's body: its text without a title of its own, and without what came of it."""
    for heading in in_all_languages("task.result"):
        body = body.rpartition(f"\n## {heading}\n")[0] or body
    first, _, rest = body.strip().partition("\n")
    return rest.strip() if first.startswith("# ") else "\n".join(filter(None, (first, rest))).strip()


def _text(value: Value) -> str:
    if isinstance(value, Mapping) or is_list(value):
        raise WrongField("{value} is no text", hint="write it in quotes", value=short_value(value))
    return str(value).strip()


def _names(value: Value) -> tuple[str, ...]:
    values = value if is_list(value) else str(value).split(",")
    links = (link_target(str(each)) for each in values if each not in (None, ""))
    return tuple(dict.fromkeys(PurePosixPath(each).name.removesuffix(".md") for each in links if each))


def _interval(value: Value) -> int:
    seconds = parse_duration(value)
    if seconds < SHORTEST:
        raise WrongField("every {value} is too often or too seldom", hint="from 1m to 366d", value=short_value(value))
    return seconds


def _plain_moment(value: Value) -> datetime | None:
    """A moment that the program wrote; None for anything else."""
    try:
        return moment(value) if value is not None else None
    except UserError:
        return None


def _count(value: Value) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
