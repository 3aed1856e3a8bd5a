"""How the words of each form are taken: a function for each `rule` of the languages' files, from the words to a unit.

None says that the words are no time after all; `NoSuchTime` that they are one which does not exist.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import cast
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from agent.times.taking_days import DAYS
from agent.times.taking_repeats import REPEATS
from agent.times.units import (
    UNIT_DAYS,
    UNIT_MONTHS,
    ClockTime,
    Interval,
    InZone,
    Later,
    NoSuchTime,
    OneDay,
    Part,
    PartOfDay,
    Repeat,
    Unit,
)
from agent.times.words import Taker, Words, moved

_SECONDS = {"s": 1, "m": 60, "h": 3600}


def _interval(words: Words) -> Unit:
    if words.raw("halves"):
        return Interval(words.number("halves"))
    count = words.word("n")
    if isinstance(count, str):
        raise NoSuchTime
    return Interval(round((1 if count is None else count) * _SECONDS[words.unit or "h"]))


def _clock(words: Words) -> Unit | None:
    if words.raw("hour_name"):
        return ClockTime(words.number("hour_name"), is_sure=True)
    hour, minute = words.number("hour"), words.number("minute") or words.number("quarter")
    half, part = str(words.word("half") or ""), str(words.word("part") or "")
    if words.raw("past"):
        minute = words.number("past")
        hour, minute = ((hour - 1) or 12, 60 + minute) if minute < 0 else (hour, minute)
    if half and hour > 12:
        raise NoSuchTime
    is_written_out = re.search(r"(?:^|\D)0\d", words.match[0]) is not None and words.raw("hour").startswith("0")
    is_sure = bool(half or part) or hour >= 13 or hour == 0 or is_written_out
    return ClockTime(hour, minute, cast(Part, half or part), is_sure)


def _part(words: Words) -> Unit:
    return PartOfDay((cast(Part, str(words.word("part"))),))


def _later(words: Words) -> Unit:
    if not words.unit:
        return Later(seconds=words.number("n")) if "half_unit" in _kinds(words) else _half_year(words)
    count = words.word("n") if words.raw("n") else words.word("count") if words.raw("count") else 1
    if isinstance(count, str) or count is None:
        raise NoSuchTime
    whole = re.search(r" and a half|个半", words.match[0], re.IGNORECASE) is not None
    found = _while(count + (0.5 if whole else 0), words.unit)
    return _plus(found, words)


def _kinds(words: Words) -> tuple[str, ...]:
    return tuple(kind for group, kind in words.kinds.items() if words.match[group])


def _half_year(words: Words) -> Unit:
    months = words.word("n")
    return Later(days=15) if months == 0.5 else Later(months=int(months or 0))


def _plus(found: Later, words: Words) -> Later:
    """With the second part of `2 hours and 15 minutes`."""
    groups = words.match.groupdict()
    if not groups.get("more"):
        return found
    more = words.language.number(groups["more"].lower())
    second = _while(more or 0, str(words.language.word("unit", groups["unit2"])))
    return Later(found.seconds + second.seconds, found.days + second.days, found.months + second.months)


def _while(count: float, unit: str) -> Later:
    if unit in _SECONDS:
        return Later(seconds=round(count * _SECONDS[unit]))
    if unit in UNIT_DAYS:
        whole = count * UNIT_DAYS[unit]
        return Later(days=int(whole)) if whole == int(whole) else Later(seconds=round(whole * 86_400))
    months = count * UNIT_MONTHS[unit]
    if months != int(months):
        raise NoSuchTime
    return Later(months=int(months))


def _day_later(words: Words) -> Unit:
    """`two days from now`: the day, not this time of it."""
    found = _while(float(words.number("n")), words.unit)
    return OneDay((moved(words.today, found),))


def shift_of(words: Words) -> tuple[Later, int]:
    """The distance by which `a week before` moves a day, and the direction."""
    written = words.raw("n").lower()
    count = words.language.number(written) or 1
    return _while(float(count), words.unit), words.number("sign")


def _zone(words: Words) -> Unit | None:
    if words.raw("zone"):
        name = zone_name(words.raw("zone"))
        if not name:
            raise NoSuchTime
        return InZone(name)
    if "city" in words.language.words:
        return InZone(str(words.word("city")))
    name = zone_of_city(words.raw("city"))
    return InZone(name) if name else None


TAKERS: Mapping[str, Taker] = {
    **REPEATS,
    **DAYS,
    "interval": _interval,
    "clock": _clock,
    "part": _part,
    "later": _later,
    "day_later": _day_later,
    "zone": _zone,
}


def part_beside(words: Words, unit: Unit) -> PartOfDay | None:
    """The part of the day that the words of a day name with it: `tonight`, `今晚`, `this afternoon`, `每晚`."""
    if not isinstance(unit, OneDay | Repeat):
        return None
    if words.raw("near_part"):
        return PartOfDay((cast(Part, str(words.word("near_part")).split()[1]),))
    names = [*str(words.word("parts") or "").split(), *str(words.word("parts2") or "").split()]
    named = words.word("tonight") or (words.word("part") if isinstance(unit, OneDay) else None)
    names += [str(named)] if named else []
    return PartOfDay(tuple(cast(Part, each) for each in names)) if names else None


def zone_name(name: str) -> str:
    """The name of the zone `UTC`, `GMT` or `Europe/Berlin`; empty if there is none."""
    if name.upper() in ("UTC", "GMT"):
        return "UTC"
    try:
        return ZoneInfo(name).key
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ""


def zone_of_city(name: str) -> str:
    """The zone of a city by its English name; empty if there is none, or several."""
    names = _by_city().get(name.lower(), ())
    return names[0] if len(names) == 1 else ""


@lru_cache(maxsize=1)
def _by_city() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for name in sorted(available_timezones()):
        if name.count("/") == 1 and not name.startswith(("Etc/", "posix/", "right/", "US/", "SystemV/")):
            city = name.partition("/")[2].replace("_", " ").lower()
            found[city] = (*found.get(city, ()), name)
    return found
