"""The schedule of a job as a person types it: one trigger a line, in plain words or as `on` in a note's header has it.

`every weekday at 9`, `每天八点`, `0 9 * * 1-5`, `every 2h`, `at 2026-12-24 09:00`, `event daemon.started` and
`change {path: "projects/**", task: ticked}` are lines.

Words of a time where one is wanted: what is not understood is asked back, with two guesses.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, time, timedelta
from typing import TYPE_CHECKING, NoReturn, assert_never

from agent.dataclass import dataclass
from agent.errors import UserError
from agent.lazy import later
from agent.markdown.note import Note
from agent.markdown.yaml_write import Value, is_list, item_text
from agent.schedule.occurrences import moment_in, zone_of
from agent.schedule.triggers import (
    QUIET,
    At,
    ChangeTrigger,
    Cron,
    Every,
    OnEvent,
    RecurrenceRule,
    Trigger,
    format_trigger,
)
from agent.schedule.triggers import parse_triggers as parse_on
from agent.texts import Sentence
from agent.times.reading import Unclear, Understood

if TYPE_CHECKING:
    from agent.times.when import parse_when
else:  # most lines are written as in a header
    parse_when = later("agent.times.when", "parse_when")

_SHOWN = 80
_USUAL = (9, 12, 15, 19, 21, 7, 8, 10, 16, 20, 22, 6)


def ask_for_hour(line: str, found: Understood, now: datetime) -> Unclear:
    """A line that names days and no time of day, with two that it may have."""
    hours = (*found.taken, *(time(hour) for hour in _USUAL))
    between = " at " if line.isascii() else " "
    lines = (f"{line.strip()}{between}{each.hour}:{each.minute:02}" for each in hours)
    fitting = [each for each in dict.fromkeys(lines) if isinstance(parse_when(each, now), Understood)]
    one, other, *_ = (
        *fitting,
        f"{now + timedelta(days=1):%Y-%m-%d} 09:00",
        f"{now + timedelta(days=1):%Y-%m-%d} 19:00",
    )
    return Unclear((one, other), has_time=True)


def one_moment(words: str, now: datetime) -> tuple[datetime, Understood]:
    """The moment that words name and nothing else, local without an offset unless they name a zone, and what they were
    understood as; raises `UserError`."""
    found = parse_when(words, now)
    if isinstance(found, Unclear):
        raise_unclear(words, found)
    if found.rest or len(found.moments) != 1:
        raise UserError("{value} is no moment", hint="2026-12-24 09:00", value=" ".join(words.split())[:_SHOWN])
    at = moment_in(found.moments[0], zone_of(found.zone)) if found.zone else found.moments[0]
    return at, found


def raise_unclear(words: str, found: Unclear, kind: type[UserError] = UserError, examples: str = "") -> NoReturn:
    """Raises the error of words whose time is not clear; its hint has the two guesses, or the `examples` for words that
    have no time at all."""
    one, other = found.guesses
    asked = Sentence("did you mean “{one}” or “{other}”?", one=one, other=other)
    hint = asked if found.has_time or not examples else Sentence(examples)
    raise kind("the time is not clear: {text}", hint=hint, text=" ".join(words.split())[:_SHOWN])


MOST = 20
"""The most lines of a schedule."""
_KIND = re.compile(
    r"(cron|rrule|change|event)\b\s*:?\s*(.*)|(every|at)\b\s*:?\s*([\"']?\d.*)|on\s+([a-z_]+(?:\.[a-z_]+)+)",
    re.IGNORECASE,
)
_DATED = re.compile(r"at\s+\d{4}-")
_FIELDS = re.compile(r"[\d*][^\s]*(?:\s+\S+){4}")
_EXAMPLES = "every weekday at 9, every 2 hours, 每天八点, 0 9 * * 1-5, at 2026-12-24 09:00"


@dataclass(frozen=True, slots=True)
class TypedSchedule:
    """What a person has typed: the header's `on`, the zone that the words name (empty: none), and what words were
    understood as, if they named no time of day and the usual one was taken."""

    on: Value
    zone: str = ""
    taken: Understood | None = None

    @property
    def fields(self) -> Mapping[str, Value]:
        """The keys of a job's header for it."""
        return {"on": self.on, **({"timezone": self.zone} if self.zone else {})}


class BadLine(UserError):
    """A line of a schedule that cannot be understood; the message names it where there are several."""


def format_lines(triggers: Sequence[Trigger]) -> str:
    """The triggers as lines that `parse_lines` reads back as the same ones."""
    return "\n".join(_line(each) for each in triggers)


def raw_lines(on: Value) -> str:
    """`on` of a header as lines, also where it starts nothing, so that it can be mended."""
    try:
        return format_lines(parse_on(on))
    except UserError:
        return "\n".join(_raw(on))


def _raw(on: Value) -> Iterator[str]:
    if is_list(on):
        for each in on:
            yield from _raw(each)
    elif isinstance(on, Mapping):
        for kind, value in on.items():
            for each in value if is_list(value) else (value,):
                plain = each if isinstance(each, str) else _flow(each)
                yield plain if kind == "cron" else f"{kind} {plain}"
    elif on is not None:
        yield str(on)


def parse_lines(text: str, now: datetime, *, usual_hours: bool = False) -> TypedSchedule:
    """The schedule of some lines at `now` (aware, local); raises `BadLine`, also for days without a time of day, unless
    the usual one may be taken, as whoever asks is told of it."""
    lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    if not lines:
        raise BadLine("nothing says when the job runs", hint=_EXAMPLES)
    if len(lines) > MOST:
        raise BadLine("a job has at most {most} lines that say when", hint="make a second job", most=MOST)
    found: list[TypedSchedule] = []
    for number, line in lines:
        try:
            found.append(_parse_line(line, now, usual_hours))
        except UserError as error:
            if len(lines) == 1:
                raise BadLine("{problem}", hint="{fix}", problem=error.message, fix=error.hint) from error
            raise BadLine(
                "line {line}: {problem}", hint="{fix}", line=number, problem=error.message, fix=error.hint
            ) from error
    zones = {each.zone for each in found if each.zone}
    if len(zones) > 1:
        raise BadLine("a job has one time zone, and the lines name several", hint="make a second job")
    ons = [each.on for each in found]
    taken = next((each.taken for each in found if each.taken), None)
    return TypedSchedule(ons[0] if len(ons) == 1 else tuple(ons), next(iter(zones), ""), taken)


def _parse_line(line: str, now: datetime, usual_hours: bool) -> TypedSchedule:
    on = _as_in_header(line)
    if on is None:
        return _in_plain_words(line, now, usual_hours)
    try:
        parse_on(on)
    except UserError:
        plain = parse_when(line, now)
        if isinstance(plain, Unclear) and plain.has_time and not _DATED.match(line):
            raise_unclear(line, plain, BadLine)
        if isinstance(plain, Unclear) or plain.rest:
            raise
        return _typed(line, plain, now, usual_hours)
    return TypedSchedule(on)


def _in_plain_words(line: str, now: datetime, usual_hours: bool) -> TypedSchedule:
    plain = parse_when(line, now)
    if isinstance(plain, Unclear):
        raise_unclear(line, plain, BadLine, _EXAMPLES)
    if plain.rest:
        hint = "write here only when the job runs, and below it what it does"
        raise BadLine("this is more than a time: {rest}", hint=hint, rest=plain.rest[:80])
    return _typed(line, plain, now, usual_hours)


def _typed(line: str, plain: Understood, now: datetime, usual_hours: bool) -> TypedSchedule:
    if plain.taken and plain.deadline is None and not usual_hours:  # a form has no place to say which hour was taken
        raise_unclear(line, ask_for_hour(line, plain, now), BadLine)
    return TypedSchedule(plain.on, plain.zone, plain if plain.taken else None)


def _as_in_header(line: str) -> Value:
    """`on` of a line that is written as in a header; None for any other."""
    if line.startswith("@") and " " not in line:
        return {"cron": line}
    if _FIELDS.fullmatch(line):
        return {"cron": line}
    found = _KIND.fullmatch(line)
    if found is None:
        return None
    kind, content = (found[1] or found[3] or "event").lower(), (found[2] or found[4] or found[5] or "").strip()
    if kind == "change":
        return {kind: _yaml(content) if content and content != "any note" else None}
    content = content.strip("\"'")
    return {kind: int(content) if kind == "every" and content.isdecimal() else content}


def _yaml(written: str) -> Value:
    note = Note.parse(f"---\nchange: {written}\n---\n".encode())
    if note.problem is not None or note.header.keys() != {"change"}:
        hint = Sentence("{example}", example='change {path: "projects/**", task: ticked}')
        raise BadLine("`change` cannot be understood: {value}", hint=hint, value=written[:80])
    return note.header["change"]


def _line(trigger: Trigger) -> str:
    match trigger:
        case Cron(expression):
            return expression
        case RecurrenceRule():
            return format_trigger(trigger)
        case Every(seconds):
            return format_trigger(trigger) if seconds % 60 == 0 else f"every {seconds}"
        case At(moment):
            return f"at {moment.isoformat(' ', 'auto' if moment.second or moment.microsecond else 'minutes')}"
        case OnEvent(name):
            return f"event {name}"
        case ChangeTrigger():
            conditions = _conditions(trigger)
            return f"change {_flow(conditions)}" if conditions else "change"
        case _:
            assert_never(trigger)


def _conditions(trigger: ChangeTrigger) -> dict[str, Value]:
    """The conditions of a change as a header has them, without those that say nothing."""
    paths, key = trigger.paths, trigger.key
    conditions: dict[str, Value] = {
        "path": (paths[0] if len(paths) == 1 else paths) or None,
        "task": trigger.task or None,
        "tag": trigger.tag or None,
        "property": {key: trigger.value} if key and trigger.value else key or None,
        "heading": trigger.heading or None,
        "created": trigger.created or None,
        "count": trigger.count if trigger.count > 1 else None,
        "from": "anywhere" if trigger.anywhere else None,
        "quiet_seconds": trigger.quiet if trigger.quiet != QUIET else None,
    }
    return {name: value for name, value in conditions.items() if value is not None}


def _flow(value: Value) -> str:
    """A value as YAML on one line."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{item_text(key, flow=True)}: {_flow(each)}" for key, each in value.items()) + "}"
    if is_list(value):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return item_text(value, flow=True)
