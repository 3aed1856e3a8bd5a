"""`daily_rhythm`: a topic, or the whole work, that keeps to an hour of the day or to a day of the week."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date

from agent.dataclass import dataclass
from agent.growth.patterns.activity import Activity, Remark
from agent.growth.patterns.confidence import confidence, poisson_tail
from agent.growth.patterns.pattern import Pattern, newest_links, quoted, surest
from agent.growth.patterns.topics import days_of, topics
from agent.texts import Language, text

_LEAST_DAYS, _LEAST_WEEKS = 4, 3
_SHARE = 0.6
"""A rhythm has at least this share of the days on which its topic comes up, and of the hours."""
_HOURS = 2
"""The hours of a window; a window begins at each hour."""
_AWAKE = 16
"""The hours over which activity at random would spread."""
_SMOOTHED = 1.0


@dataclass(frozen=True, slots=True)
class _Slot:
    """A part of the day or the week: `holds` says whether a remark falls into it."""

    key: str
    label: str
    share: float
    """Its share of all hours in which somebody is awake, or of all days."""
    least: int
    holds: Callable[[Remark], bool]


def daily_rhythms(activity: Activity, language: Language) -> tuple[Pattern, ...]:
    """The rhythms of topics, against the rhythm of everything else, and of the work itself, against chance."""
    timed = [each for each in activity.of_kinds("asked", "stated") if each.is_timed]
    slots = tuple(_slots(language))
    named = [each for each in topics(timed, _LEAST_WEEKS) if len(days_of(each.remarks)) >= _LEAST_WEEKS]
    looked_at = len(slots) * (len(named) + 2)
    found = []
    for topic in named:
        own = {id(each) for each in topic.remarks}
        others = [each for each in timed if id(each) not in own]
        found += _best(activity, language, f"topic {topic.key}", topic.remarks, others, slots, looked_at, topic.label)
    for kind in ("asked", "edited"):
        remarks = [each for each in activity.of_kinds(kind) if each.is_timed]
        found += _best(activity, language, kind, remarks, (), slots, looked_at)
    return surest(found)


def _slots(language: Language) -> Iterator[_Slot]:
    for hour in range(24):
        hours = frozenset((hour + more) % 24 for more in range(_HOURS))
        label = text("pattern.hours", language, begin=f"{hour}:00", end=f"{(hour + _HOURS) % 24}:00")
        yield _Slot(f"{hour:02}", label, _HOURS / _AWAKE, _LEAST_DAYS, lambda each, own=hours: each.at.hour in own)  # type: ignore[misc]
    for day in range(7):
        label = text(f"pattern.weekday_{day + 1}", language)
        yield _Slot(f"day {day + 1}", label, 1 / 7, _LEAST_WEEKS, lambda each, own=day: each.at.weekday() == own)  # type: ignore[misc]


def _best(
    activity: Activity,
    language: Language,
    subject: str,
    remarks: Sequence[Remark],
    others: Sequence[Remark],
    slots: Sequence[_Slot],
    looked_at: int,
    label: str = "",
) -> list[Pattern]:
    """The surest rhythm of these remarks, if there is one: of two windows that overlap only one is true."""
    days, hourly = days_of(remarks), _one_an_hour(remarks)
    ranked = []
    for slot in slots:
        inside = [each for each in hourly if slot.holds(each)]
        count = len(days_of(inside))
        if count < slot.least or count < _SHARE * len(days) or len(inside) < _SHARE * len(hourly):
            continue
        chance = poisson_tail(count, _expected(slot, hourly, others))
        ranked.append((chance, -count, slot.key, slot, inside))
    if not ranked:
        return []
    chance, _, _, slot, inside = min(ranked, key=lambda each: each[:3])
    cases = _one_a_day(inside)
    sure = confidence(chance, looked_at, (each.at for each in cases), activity.now)
    return [_pattern(language, subject, slot, cases, sure, label)]


def _expected(slot: _Slot, hourly: Sequence[Remark], others: Sequence[Remark]) -> float:
    """The number of days on which a slot is to be expected to have at least one of these remarks: each falls into it
    with the share that the slot has of the other remarks, without others with its share of the time."""
    share = _share(slot, others) if others else slot.share
    if slot.least == _LEAST_WEEKS:
        return share * len(days_of(hourly))
    a_day = Counter(each.at.date() for each in hourly)
    return sum(1 - (1 - share) ** count for count in a_day.values())


def _share(slot: _Slot, others: Sequence[Remark]) -> float:
    once = _one_an_hour(others)
    return (sum(map(slot.holds, once)) + _SMOOTHED * slot.share * 10) / (len(once) + _SMOOTHED * 10)


def _one_an_hour(remarks: Iterable[Remark]) -> list[Remark]:
    return list({(each.at.date(), each.at.hour): each for each in remarks}.values())


def _one_a_day(remarks: Iterable[Remark]) -> list[Remark]:
    found: dict[date, Remark] = {}
    for each in remarks:
        found.setdefault(each.at.date(), each)
    return list(found.values())


def _pattern(
    language: Language, subject: str, slot: _Slot, cases: Sequence[Remark], sure: float, label: str
) -> Pattern:
    key = "pattern.rhythm_topic" if label else f"pattern.rhythm_{subject}"
    return Pattern(
        "daily_rhythm",
        f"{subject} {slot.key if not label else slot.key[:3]}",
        text(key, language, topic=quoted(label), when=slot.label, count=len(cases)),
        sure,
        len(cases),
        cases[-1].at.date(),
        newest_links((each.at, each.link) for each in cases),
        text("pattern.rhythm_suggestion", language),
        (label,) if label else (),
    )
