"""What starts a job, as its note says under `on`: a time (`cron`, `rrule`, `every`, `at`), a change of notes, or an
event.

`on` is one mapping or a list of them; each of its values may be a list, too. A word such as `@daily` is a cron
expression of its own. The times themselves are in `occurrences`, the matching of changes in `conditions`.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import date, datetime, time
from fnmatch import translate
from typing import Literal, TypeAlias, TypeGuard

from cronsim import CronSim, CronSimError

from agent.dataclass import dataclass
from agent.errors import UserError
from agent.markdown.yaml_write import Value, is_list
from agent.metrics.names import NAMES
from agent.schedule.header_fields import short_value
from agent.texts import Sentence, either
from agent.times.rule import rule_times

SHORTEST = 60
"""Seconds: the shortest time between two runs by `every`. A cron expression cannot be closer."""
QUIET = 10.0
"""Seconds for which changed notes must have lain still before they start a job."""
_NAMED = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_CONSTANT = {
    *("tick", "turn.ended", "scan.finished", "files.changed", "iteration.started", "model.retry", "tool.started"),
    *("tool.policy.profile_selected", "nodehost.tool.call", "plan.changed", "model.thought"),
    *("state.changed", "job.ended"),  # a job causes them
}
EVENTS = frozenset(NAMES.values()) - _CONSTANT
"""The events that may start a job: all but those that come again and again by themselves."""
_UNITS = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400, "w": 604_800}
_DURATION = re.compile(r"(\d{1,6})\s*(s|min|m|h|d|w)\Z", re.ASCII)
_EXAMPLES = (
    'on: {cron: "0 9 * * 1-5"}',
    "{every: 2h}",
    "{at: 2026-12-24 09:00}",
    '{change: {path: "projects/**"}}',
    "{event: run.ended}",
)
_HINT = Sentence("{examples}", examples=either(_EXAMPLES))
_RULE = re.compile(r"(?:DTSTART:\d{8}T\d{6} )?RRULE:[A-Z]+=[\w,+-]+(?:;[A-Z]+=[\w,+-]+)*", re.ASCII)
_FREQUENCIES = frozenset({"DAILY", "WEEKLY", "MONTHLY", "YEARLY"})
_LONGEST_EVERY = 366 * 86_400
_SOME_DAY = datetime(2024, 1, 1)
_CHANGE_KEYS = frozenset({"path", "task", "tag", "property", "heading", "created", "count", "from", "quiet_seconds"})


@dataclass(frozen=True, slots=True)
class Cron:
    """Minutes by a cron expression of five fields; 0 and 7 are Sunday."""

    expression: str


@dataclass(frozen=True, slots=True)
class RecurrenceRule:
    """Days by an RRULE (RFC 5545), for what no cron expression says: `FREQ=WEEKLY;INTERVAL=2;BYDAY=TU`, with its start
    before it (`DTSTART:20261201T090000 RRULE:…`), local in the job's zone; without one it counts from `created`."""

    text: str


@dataclass(frozen=True, slots=True)
class Every:
    """A time again and again after so many seconds, counted from the job's `created`, by elapsed time."""

    seconds: int


@dataclass(frozen=True, slots=True)
class At:
    """One moment. Without an offset it is the job's zone's."""

    moment: datetime


@dataclass(frozen=True, slots=True)
class ChangeTrigger:
    """Changes of notes that a person made here.

    `paths` are patterns of paths (empty: any note). All the given conditions must hold of one change of a note: `task`
    is a task ticked, unticked or added; `tag` was added; `key` (with `value`: set to it) was set; `heading` was added;
    `created`: the note is new. Without any of them every change counts. The job starts once `count` notes fit and lie
    still for `quiet` seconds. `anywhere`: also notes that arrived with a sync or a pull.
    """

    paths: tuple[str, ...] = ()
    task: Literal["", "ticked", "unticked", "added"] = ""
    tag: str = ""
    key: str = ""
    value: str = ""
    heading: str = ""
    created: bool = False
    count: int = 1
    anywhere: bool = False
    quiet: float = QUIET

    def conditions(self) -> str:
        """The conditions for people; empty if there are none."""
        parts = [
            " ".join(self.paths),
            f"task {self.task}" if self.task else "",
            f"#{self.tag}" if self.tag else "",
            f"{self.key}: {self.value}".rstrip(": ") if self.key else "",
            f"heading {self.heading}" if self.heading else "",
            "created" if self.created else "",
            f"{self.count} notes" if self.count > 1 else "",
        ]
        return ", ".join(filter(None, parts))


@dataclass(frozen=True, slots=True)
class OnEvent:
    """An event of the program, by its name in the metrics, such as `daemon.started`."""

    name: str


Timed: TypeAlias = Cron | RecurrenceRule | Every | At
Trigger: TypeAlias = Timed | ChangeTrigger | OnEvent


class BadTrigger(UserError):
    """`on` in a job's header cannot be understood."""


def parse_triggers(value: Value) -> tuple[Trigger, ...]:
    """The triggers of a header's `on`; raises `BadTrigger`."""
    found = tuple(_each(value))
    if not found:
        raise BadTrigger("`on` is empty, so nothing starts the job", hint=_HINT)
    return found


def parse_duration(value: Value) -> int:
    """Seconds of `90`, `30m`, `2h`, `1d`; raises `BadTrigger`."""
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    match = _DURATION.match(str(value).strip().lower()) if isinstance(value, str) else None
    if match is None:
        raise BadTrigger("{value} is no duration", hint="30m, 2h, 1d or a number of seconds", value=short_value(value))
    return int(match[1]) * _UNITS[match[2]]


def cron_of(expression: str) -> str:
    """The five fields of an expression or of a word such as `@daily`; raises `BadTrigger`."""
    plain = _NAMED.get(expression.strip().lower(), expression.strip())
    try:
        if len(plain.split()) != 5:
            raise CronSimError("not five fields")
        CronSim(plain, _SOME_DAY)
    except (CronSimError, ValueError) as error:
        hint = '"30 2 * * *" is each day at 02:30; minute, hour, day, month, day of the week'
        raise BadTrigger("{value} is no cron expression", hint=hint, value=short_value(expression)) from error
    return plain


def rule_of(rule: str) -> str:
    """An RRULE on one line; raises `BadTrigger` for one that cannot be understood, or comes more than once a day
    without hours that it names."""
    plain = " ".join(rule.split())
    if not plain.startswith(("DTSTART", "RRULE:")):
        plain = f"RRULE:{plain}"
    try:
        if not _is_of_days(plain):
            raise ValueError("another form")
        rule_times(plain, _SOME_DAY, _SOME_DAY)
    except ValueError as error:
        hint = '"DTSTART:20261201T090000 RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=TU" is every second Tuesday at 09:00'
        raise BadTrigger("{value} is no rule of days", hint=hint, value=short_value(rule)) from error
    return plain


def _is_of_days(rule: str) -> bool:
    """True for a rule that goes on and comes at most once a minute; it names nothing twice."""
    if not _RULE.fullmatch(rule):
        return False
    pairs = [each.split("=") for each in rule.rpartition("RRULE:")[2].split(";")]
    parts = {name: value for name, value in pairs}
    interval = parts.get("INTERVAL", "1")
    return (
        len(parts) == len(pairs)
        and parts.get("FREQ") in _FREQUENCIES
        and interval.isdecimal()
        and int(interval) > 0
        and "," not in parts.get("BYSECOND", "")
    )


def format_trigger(trigger: Trigger) -> str:
    """The trigger as its note may have it, for people."""
    match trigger:
        case Cron(expression):
            return f"cron {expression}"
        case RecurrenceRule(rule):
            return f"rrule {rule}"
        case Every(seconds):
            unit = next(unit for unit in ("w", "d", "h", "m", "s") if seconds % _UNITS[unit] == 0)
            return f"every {seconds // _UNITS[unit]}{unit}"
        case At(moment):
            return f"at {moment.isoformat(' ', 'minutes')}"
        case OnEvent(name):
            return f"on {name}"
        case ChangeTrigger():
            return f"change {trigger.conditions() or 'any note'}"


def _each(value: Value) -> Iterator[Trigger]:
    if isinstance(value, str):
        yield Cron(cron_of(value)) if value.strip().startswith("@") else _refuse(value)
    elif is_list(value):
        for item in value:
            yield from _each(item)
    elif isinstance(value, Mapping):
        for kind, values in value.items():
            for item in values if is_list(values) else (values,):
                yield _one(kind, item)
    elif value is not None:
        _refuse(value)


def _one(kind: str, value: Value) -> Trigger:
    match kind:
        case "cron" if isinstance(value, str):
            return Cron(cron_of(value))
        case "rrule" if isinstance(value, str):
            return RecurrenceRule(rule_of(value))
        case "every":
            seconds = parse_duration(value)
            if not SHORTEST <= seconds <= _LONGEST_EVERY:
                hint = "from 1m to 366d"
                raise BadTrigger("every {value} is too often or too seldom", hint=hint, value=short_value(value))
            return Every(seconds)
        case "at":
            return At(_moment(value))
        case "change":
            return _change(value)
        case "event" if isinstance(value, str):
            return OnEvent(_event(value.strip()))
        case _:
            return _refuse({kind: value})


def _event(name: str) -> str:
    if name not in EVENTS:
        from difflib import get_close_matches

        near = get_close_matches(name, sorted(EVENTS), n=3, cutoff=0.4) or sorted(EVENTS)[:3]
        raise BadTrigger("no event has the name {name}", hint="{names}", name=short_value(name), names=either(near))
    return name


def _moment(value: Value) -> datetime:
    if isinstance(value, datetime):
        return value
    if isinstance(value, date):
        return datetime.combine(value, time())
    try:
        return datetime.fromisoformat(str(value).strip())
    except ValueError as error:
        raise BadTrigger("{value} is no moment", hint="2026-12-24 09:00", value=short_value(value)) from error


def _change(value: Value) -> ChangeTrigger:
    if value is None or isinstance(value, str):
        return ChangeTrigger(paths=_patterns(value))
    if not isinstance(value, Mapping) or not value.keys() <= _CHANGE_KEYS:
        return _bad_change(value)
    task, count, quiet = value.get("task", ""), value.get("count", 1), value.get("quiet_seconds", QUIET)
    origin, created = value.get("from", "here"), value.get("created", False)
    key, wanted = _property(value.get("property"))
    is_right = task in ("", "ticked", "unticked", "added") and origin in ("here", "anywhere")
    if not (is_right and isinstance(created, bool) and _is_count(count) and _is_quiet(quiet)):
        return _bad_change(value)
    tag, heading = value.get("tag", ""), value.get("heading", "")
    return ChangeTrigger(
        _patterns(value.get("path")),
        task,  # type: ignore[arg-type]  # checked above
        str(tag or "").lstrip("#"),
        key,
        wanted,
        str(heading or "").lstrip("# "),
        created is True,
        count,
        origin == "anywhere",
        float(quiet),
    )


def _is_count(value: Value) -> TypeGuard[int]:
    return isinstance(value, int) and value >= 1


def _is_quiet(value: Value) -> TypeGuard[float]:
    return isinstance(value, int | float) and 0 <= value <= 86_400


def _patterns(value: Value) -> tuple[str, ...]:
    values = value if is_list(value) else (value,)
    found = tuple(str(each).strip().lstrip("/") for each in values if each not in (None, ""))
    for each in found:
        re.compile(translate(each))
    return found


def _property(value: Value) -> tuple[str, str]:
    """The key and the value of `property: status` or `property: {status: done}`."""
    if isinstance(value, Mapping) and len(value) == 1:
        ((key, wanted),) = value.items()
        return key, "" if wanted is None else str(wanted)
    return (value, "") if isinstance(value, str) else ("", "")


def _refuse(value: Value) -> Trigger:
    raise BadTrigger("`on` has something that starts nothing: {value}", hint=_HINT, value=short_value(value))


def _bad_change(value: Value) -> ChangeTrigger:
    raise BadTrigger(
        "`change` cannot be understood: {value}",
        hint="path, task (ticked, unticked, added), tag, property, heading, created, count, from (here, anywhere)",
        value=short_value(value),
    )
