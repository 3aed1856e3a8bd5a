"""A job's note → `Job`: each field of the header is checked, and a wrong one is a `JobProblem`."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, get_args

from agent.config.resources import pattern
from agent.lazy import later
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
from agent.schedule.job import (
    DAILY_CHANNEL,
    EVERY_DAY,
    NO_CHANNEL,
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
from agent.schedule.occurrences import zone_of
from agent.schedule.procedures import task_type_of
from agent.schedule.triggers import At, Trigger, parse_duration, parse_triggers

if TYPE_CHECKING:
    from agent.schedule.job_warnings import misspelt_keys, unknown_channel
    from agent.times.when import follows_time
else:  # most notes of jobs have neither other keys nor another channel, nor words of a time before a wish
    follows_time = later("agent.times.when", "follows_time")
    misspelt_keys = later("agent.schedule.job_warnings", "misspelt_keys")
    unknown_channel = later("agent.schedule.job_warnings", "unknown_channel")


_READ_ELSEWHERE = ("type", "created", "title", "reason")
_ON = 'on: {cron: "0 9 * * 1-5"}  # at 09:00 from Monday to Friday'
_RETRY = "retry: {max: 2, backoff_seconds: 60}"
_STATUSES: tuple[JobStatus, ...] = get_args(JobStatus)
_MODES: tuple[Mode, ...] = get_args(Mode)
_CATCH_UPS: tuple[CatchUp, ...] = get_args(CatchUp)
_SOURCES: tuple[JobSource, ...] = get_args(JobSource)


def parse_job(path: str, data: bytes, digest: str = "") -> Job | JobProblem | None:
    """The job of a note; None for a note of another type, such as the folder's own description."""
    note = Note.parse(data)
    stem = PurePosixPath(path).stem
    if note.problem is not None:
        return JobProblem(path, "", note.problem.message, note.problem.hint)
    if note.type not in (TYPE, None) or (note.type is None and "on" not in note.header):
        return None
    fields = CheckedFields(note.header)
    if note.header.get("on") is None:
        missing = WrongField("`on` is missing, so nothing starts the job", hint="{example}", example=_ON)
        fields.problems.append(("on", missing))
    no_triggers: tuple[Trigger, ...] = ()
    triggers = fields.take("on", parse_triggers, no_triggers)
    text, task = task_text(note.body), fields.take("task", task_type_of, None)
    is_once = all(isinstance(each, At) for each in triggers)
    job = Job(
        fields.take("id", identity, plain_id(stem, TYPE)),
        path,
        title_of(note, stem),
        triggers,
        text,
        task,
        fields.take("timezone", _zone_name, ""),
        fields.take("status", one_of(_STATUSES), "active"),
        fields.take("priority", number(1, 10), 5),
        fields.take("channel", word, DAILY_CHANNEL),
        fields.take("mode", one_of(_MODES), "isolated"),
        fields.take("approval_required", yes_no, False),
        fields.take("cooldown_seconds", number(0, 31_622_400), 0),
        fields.take("max_concurrency", number(1, 8), 1),
        fields.take("retry", _retry, Retry()),
        fields.take("spend", _money, None),
        fields.take("timeout", parse_duration, None),
        fields.take("run_on", word, ""),
        fields.take("catch_up", one_of(_CATCH_UPS), "once" if is_once else "skip"),
        fields.take("source", one_of(_SOURCES), "static"),
        fields.take("active_days", _days, EVERY_DAY),
        fields.take("user_id", word, ""),
        _created(note.header.get("created")),
        digest,
        fields.take("target_file", word, ""),
        fields.take("remind", yes_no, task is None and begins_as_wish(text)),
    )
    if job.remind and job.task is not None:
        both = WrongField("a reminder does no task", hint="leave out either `remind` or `task`")
        fields.problems.append(("remind", both))
    others = [key for key in note.header if key not in fields.read and key not in _READ_ELSEWHERE]
    errors, warnings = misspelt_keys(others, (*fields.read, *_READ_ELSEWHERE)) if others else ([], [])
    if problems := [*fields.problems, *errors]:
        key, error = problems[0]
        return JobProblem(path, key, error.message, error.hint)
    warnings += unknown_channel(job.channel) if job.channel not in (DAILY_CHANNEL, NO_CHANNEL) else []
    return replace(job, warnings=tuple(warnings)) if warnings else job


def task_text(body: str) -> str:
    """The task in a job's body: its text without a title of its own and the program's problem line."""
    lines = [line for line in body.replace("\r\n", "\n").split("\n") if not line.startswith(PROBLEM)]
    text = "\n".join(lines).lstrip()
    first, _, rest = text.partition("\n")
    return (rest if first.startswith("# ") else text).strip()


def _zone_name(value: Value) -> str:
    zone_of(str(value))
    return str(value)


def _money(value: Value) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 10_000:
        raise WrongField("{value} is no amount of dollars", hint="0.10 is ten cents a day", value=short_value(value))
    return float(value)


def _days(value: Value) -> tuple[int, ...]:
    values = value if is_list(value) else (value,)
    days = tuple(sorted({each for each in values if isinstance(each, int) and not isinstance(each, bool)}))
    if len(days) != len(set(map(str, values))) or not set(days) <= set(EVERY_DAY) or not days:
        raise WrongField("{value} are no days", hint="[0, 1, 2, 3, 4] is Monday to Friday", value=short_value(value))
    return days


def _retry(value: Value) -> Retry:
    if not isinstance(value, Mapping) or not value.keys() <= {"max", "backoff_seconds"}:
        raise WrongField("{value} is no retry", hint="{example}", value=short_value(value), example=_RETRY)
    return Retry(number(0, 10)(value.get("max", 0)), number(0, 86_400)(value.get("backoff_seconds", 60)))


def _created(value: Value) -> datetime | None:
    """The moment from which `every` counts; without an offset it is UTC, so that all machines have the same."""
    if not isinstance(value, datetime):
        return None
    return value if value.tzinfo is not None else value.replace(tzinfo=UTC)


_END = " .。!！?？"


def plain_wish(sentence: str) -> str:
    """A sentence without the courtesies around a wish, and without its last mark."""
    return pattern("reminder_courtesy").sub("", sentence).strip(_END)


def begins_as_wish(text: str) -> bool:
    """True if the words of a text begin with a wish to be reminded."""
    plain = plain_wish(text)
    wish, words = pattern("reminder"), pattern("reminding")
    return wish.match(plain) is not None or (words.search(plain, 1) is not None and follows_time(plain, words, wish))
