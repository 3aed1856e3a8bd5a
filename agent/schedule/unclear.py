"""Words of a time where one is wanted: what is not understood is asked back, with two guesses."""

from datetime import datetime, time, timedelta
from typing import TYPE_CHECKING, NoReturn

from agent.errors import UserError
from agent.lazy import later
from agent.schedule.occurrences import moment_in, zone_of
from agent.texts import Sentence
from agent.times.reading import Unclear, Understood

if TYPE_CHECKING:
    from agent.times.when import parse_when
else:  # most lines are clear
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


def one_moment(words: str, now: datetime) -> datetime:
    """The moment that words name and nothing else, local without an offset unless they name a zone; raises
    `UserError`."""
    found = parse_when(words, now)
    if isinstance(found, Unclear):
        raise_unclear(words, found)
    if found.rest or len(found.moments) != 1:
        raise UserError("{value} is no moment", hint="2026-12-24 09:00", value=" ".join(words.split())[:_SHOWN])
    return moment_in(found.moments[0], zone_of(found.zone)) if found.zone else found.moments[0]


def raise_unclear(words: str, found: Unclear, kind: type[UserError] = UserError, examples: str = "") -> NoReturn:
    """Raises the error of words whose time is not clear; its hint has the two guesses, or the `examples` for words that
    have no time at all."""
    one, other = found.guesses
    asked = Sentence("did you mean “{one}” or “{other}”?", one=one, other=other)
    hint = asked if found.has_time or not examples else Sentence("{examples}", examples=examples)
    raise kind("the time is not clear: {text}", hint=hint, text=" ".join(words.split())[:_SHOWN])
