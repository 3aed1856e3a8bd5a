"""A job's note → `Job`: each field of the header is checked, and a wrong one is a `JobProblem`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import TypeVar, get_args

from agent.errors import UserError
from agent.markdown.note import Note
from agent.markdown.values import Value, is_list
from agent.schedule.job import (
    DAILY_CHANNEL,
    EVERY_DAY,
    PROBLEM,
    TYPE,
    CatchUp,
    Job,
    JobProblem,
    JobSource,
    JobStatus,
    Mode,
    Retry,
)
from agent.schedule.procedures import task_type_of
from agent.schedule.triggers import parse_duration, parse_triggers
from agent.schedule.zones import zone_of
from agent.texts import either

_ID_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.@-")
_ON = 'on: {cron: "0 9 * * 1-5"}  # at 09:00 from Monday to Friday'
_RETRY = "retry: {max: 2, backoff_seconds: 60}"
_T = TypeVar("_T")
_Name = TypeVar("_Name", bound=str)
_STATUSES: tuple[JobStatus, ...] = get_args(JobStatus)
_MODES: tuple[Mode, ...] = get_args(Mode)
_CATCH_UPS: tuple[CatchUp, ...] = get_args(CatchUp)
_SOURCES: tuple[JobSource, ...] = get_args(JobSource)


class _WrongField(UserError):
    """A value of the header that the job cannot have."""


@dataclass(slots=True)
class _Fields:
    """The header's fields, each with the error of its value; an empty value counts as not given."""

    header: Mapping[str, Value]
    problems: list[tuple[str, UserError]] = field(default_factory=list)

    def take(self, key: str, parse: Callable[[Value], _T], default: _T) -> _T:
        value = self.header.get(key)
        if value is None or value == "":
            return default
        try:
            return parse(value)
        except UserError as error:
            self.problems.append((key, error))
            return default


def parse_job(path: str, data: bytes, digest: str = "") -> Job | JobProblem | None:
    """The job of a note; None for a note of another type, such as the folder's own description."""
    note = Note.parse(data)
    stem = PurePosixPath(path).stem
    if note.problem is not None:
        return JobProblem(path, "", note.problem.message, note.problem.hint)
    if note.type not in (TYPE, None) or (note.type is None and "on" not in note.header):
        return None
    fields = _Fields(note.header)
    if note.header.get("on") is None:
        missing = _WrongField("`on` is missing, so nothing starts the job", hint="{example}", example=_ON)
        fields.problems.append(("on", missing))
    job = Job(
        fields.take("id", _identity, _plain_id(stem)),
        path,
        _title(note, stem),
        fields.take("on", parse_triggers, ()),
        task_text(note.body),
        fields.take("task", task_type_of, None),
        fields.take("timezone", _zone_name, ""),
        fields.take("status", _one_of(_STATUSES), "active"),
        fields.take("priority", _number(1, 10), 5),
        fields.take("channel", _word, DAILY_CHANNEL),
        fields.take("mode", _one_of(_MODES), "isolated"),
        fields.take("approval_required", _yes_no, False),
        fields.take("cooldown_seconds", _number(0, 31_622_400), 0),
        fields.take("max_concurrency", _number(1, 8), 1),
        fields.take("retry", _retry, Retry()),
        fields.take("spend", _money, None),
        fields.take("timeout", parse_duration, None),
        fields.take("run_on", _word, ""),
        fields.take("catch_up", _one_of(_CATCH_UPS), "skip"),
        fields.take("source", _one_of(_SOURCES), "static"),
        fields.take("active_days", _days, EVERY_DAY),
        fields.take("user_id", _word, ""),
        fields.take("chat_id", _word, ""),
        _created(note.header.get("created")),
        digest,
    )
    if fields.problems:
        key, error = fields.problems[0]
        return JobProblem(path, key, error.message, error.hint)
    return job


def task_text(body: str) -> str:
    """The task in a job's body: its text without a title of its own and the program's problem line."""
    lines = [line for line in body.replace("\r\n", "\n").split("\n") if not line.startswith(PROBLEM)]
    text = "\n".join(lines).strip()
    first, _, rest = text.partition("\n")
    return rest.strip() if first.startswith("# ") else text


def _title(note: Note, stem: str) -> str:
    first = note.body.strip().partition("\n")[0]
    return note.string("title") or (first[2:].strip() if first.startswith("# ") else stem)


def _identity(value: Value) -> str:
    text = str(value)
    if not text or len(text) > 80 or not set(text) <= _ID_CHARACTERS:
        raise _WrongField(
            "{value} cannot be an id", hint="letters a to z, digits and - _ . @, at most 80", value=text[:80]
        )
    return text


def _plain_id(stem: str) -> str:
    """A stem as an id: a note that a person names freely needs none in its header."""
    plain = "".join(each if each in _ID_CHARACTERS else "-" for each in stem).strip("-")[:60]
    if plain == stem:
        return plain
    from hashlib import sha256

    return f"{plain or 'job'}-{sha256(stem.encode()).hexdigest()[:6]}"


def _zone_name(value: Value) -> str:
    zone_of(str(value))
    return str(value)


def _one_of(names: tuple[_Name, ...]) -> Callable[[Value], _Name]:
    def parse(value: Value) -> _Name:
        found = next((each for each in names if each == value), None)
        if found is None:
            raise _WrongField("{value} is not known", hint="{names}", value=_shown(value), names=either(names))
        return found

    return parse


def _number(least: int, most: int) -> Callable[[Value], int]:
    def parse(value: Value) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise _WrongField(
                "{value} is no such number", hint="from {least} to {most}", value=_shown(value), least=least, most=most
            )
        return value

    return parse


def _yes_no(value: Value) -> bool:
    if not isinstance(value, bool):
        raise _WrongField("{value} is neither true nor false", hint="true or false", value=_shown(value))
    return value


def _money(value: Value) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 10_000:
        raise _WrongField("{value} is no amount of dollars", hint="0.10 is ten cents a day", value=_shown(value))
    return float(value)


def _word(value: Value) -> str:
    text = str(value).strip()
    if isinstance(value, bool | Mapping) or is_list(value) or len(text) > 200 or "\n" in text:
        raise _WrongField("{value} is not one word", hint="one word or name", value=_shown(value))
    return text


def _days(value: Value) -> tuple[int, ...]:
    given = value if is_list(value) else (value,)
    days = tuple(sorted({each for each in given if isinstance(each, int) and not isinstance(each, bool)}))
    if len(days) != len(set(map(str, given))) or not set(days) <= set(EVERY_DAY) or not days:
        raise _WrongField("{value} are no days", hint="[0, 1, 2, 3, 4] is Monday to Friday", value=_shown(value))
    return days


def _retry(value: Value) -> Retry:
    if not isinstance(value, Mapping) or not value.keys() <= {"max", "backoff_seconds"}:
        raise _WrongField("{value} is no retry", hint="{example}", value=_shown(value), example=_RETRY)
    return Retry(_number(0, 10)(value.get("max", 0)), _number(0, 86_400)(value.get("backoff_seconds", 60)))


def _created(value: Value) -> datetime | None:
    """The moment from which `every` counts; without an offset it is UTC, so that all machines have the same."""
    if not isinstance(value, datetime):
        return None
    return value if value.tzinfo is not None else value.replace(tzinfo=UTC)


def _shown(value: Value) -> str:
    return " ".join(str(value).split())[:80]
