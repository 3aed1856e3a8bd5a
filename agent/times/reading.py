"""What a text in plain words comes to: a time that is understood, or what is asked back."""

from collections.abc import Sequence
from datetime import date, datetime, time
from typing import TypeAlias

from agent.dataclass import dataclass
from agent.texts import Language, text


@dataclass(frozen=True, slots=True)
class Understood:
    """A time to come, and `rest`, the text without it.

    One of `moments` (local ones without an offset are of the zone), `crons` and `rules` (`recurrence.py`) together, and
    `every` (seconds) is there. `zone` is one that the words name (empty: none). `taken` are the hours of a text that
    names none. `deadline` is the day by which something is to be done; the moment is before it. `is_moved`: where a
    month has no such day, its last one is taken.
    """

    rest: str = ""
    moments: tuple[datetime, ...] = ()
    crons: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    every: int = 0
    zone: str = ""
    taken: tuple[time, ...] = ()
    deadline: date | None = None
    is_moved: bool = False

    @property
    def on(self) -> "dict[str, OnValue] | tuple[dict[str, OnValue], ...]":
        """The triggers, as a job's header has them under `on`."""
        found: list[dict[str, OnValue]] = [{"at": each} for each in self.moments]
        found += [{"cron": each} for each in self.crons]
        found += [{"rrule": each} for each in self.rules]
        found += [{"every": _duration(self.every)}] if self.every else []
        return found[0] if len(found) == 1 else tuple(found)


OnValue: TypeAlias = datetime | str


@dataclass(frozen=True, slots=True)
class Unclear:
    """A text whose time is not understood. `guesses` are two times that may be meant, in words that are understood;
    `has_time`: there are words of a time in it."""

    guesses: tuple[str, str]
    has_time: bool = False


Reading: TypeAlias = Understood | Unclear


def remarks(found: Understood, language: Language) -> tuple[str, ...]:
    """Remarks about what a person did not say of a time: the hour that was taken, and what a deadline's
    reminder is."""
    parts: list[str] = []
    if found.deadline is not None:
        parts.append(text("times.before_deadline", language, day=found.deadline))
    if found.taken:
        parts.append(text("times.usual_hour", language, hours=_listed(found.taken, language)))
    if found.is_moved:
        parts.append(text("times.last_of_short_months", language))
    return tuple(parts)


def _listed(hours: Sequence[time], language: Language) -> str:
    return text("times.comma", language).join(f"{each:%H:%M}" for each in hours)


def _duration(seconds: int) -> str:
    for unit, size in (("h", 3600), ("m", 60)):
        if seconds % size == 0:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"
