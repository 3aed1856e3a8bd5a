"""`daily_rhythm`: a topic, or the whole work, that keeps to an hour of the day or to a day of the week."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import date

from agent.growth.patterns.confidence import confidence, poisson_tail
from agent.growth.patterns.likeness import days_of, topics
from agent.growth.patterns.pattern import Activity, Pattern, Remark, pattern_of, quoted, surest
from agent.texts import Language, text

_LEAST_DAYS, _LEAST_WEEKS = 4, 3
_SHARE = 0.6
"""A rhythm has at least this share of the days on which its topic comes up, and of the hours."""
_HOURS = 2
"""The hours of a window; a window begins at each hour."""
_AWAKE = 16
"""The hours over which activity at random would spread."""
_SLOTS = 24 + 7
"""The windows of a day and the days of a week; a slot is "07" (from 7 to 9 o'clock) or "day 1" (Monday)."""
_SMOOTHED = 10.0
"""The remarks at random that are taken for granted where a slot is compared with few others."""


def daily_rhythms(activity: Activity, language: Language) -> tuple[Pattern, ...]:
    """The rhythms of topics, against the rhythm of everything else, and of the work itself, against chance."""
    talk = [each for each in activity.of_kinds("asked", "stated") if each.is_timed]
    subjects: list[tuple[str, str, Sequence[Remark], Sequence[Remark]]] = []
    for topic in topics(talk, _LEAST_WEEKS):
        own = set(map(id, topic.remarks))
        rest = [each for each in talk if id(each) not in own]
        subjects.append((f"topic {topic.key}", topic.label, topic.remarks, rest))
    subjects.append(("asked", "", [each for each in talk if each.kind == "asked"], ()))
    subjects.append(("edited", "", activity.of_kinds("edited"), ()))
    found = []
    for subject, label, remarks, others in subjects:
        if (best := _best(remarks, others)) is not None:
            chance, slot, cases = best
            sure = confidence(chance, _SLOTS * len(subjects), cases, activity.now)
            found.append(_pattern(language, subject, label, slot, cases, sure))
    return surest(found)


def _best(remarks: Sequence[Remark], others: Sequence[Remark]) -> tuple[float, str, list[Remark]] | None:
    """The surest rhythm of these remarks: the tail of chance, the slot, and a case for each day; of two windows that
    overlap only one is true. None without one."""
    days, table, usual = len(days_of(remarks)), _by_slot(remarks), _by_slot(others)
    hourly, compared = (len(_one_an_hour(each)) for each in (remarks, others))
    ranked = []
    for slot, inside in sorted(table.items()):
        cases: dict[date, Remark] = {}
        for each in inside:
            cases.setdefault(each.at.date(), each)
        least = _LEAST_WEEKS if _is_weekday(slot) else _LEAST_DAYS
        if len(cases) >= max(least, _SHARE * days) and len(inside) >= _SHARE * hourly:
            share = 1 / 7 if _is_weekday(slot) else _HOURS / _AWAKE
            if others:
                share = (len(usual[slot]) + _SMOOTHED * share) / (compared + _SMOOTHED)
            ranked.append((poisson_tail(len(cases), _expected(slot, share, remarks)), slot, list(cases.values())))
    return min(ranked, key=lambda each: (each[0], -len(each[2])), default=None)


def _expected(slot: str, share: float, remarks: Sequence[Remark]) -> float:
    """The number of days on which a slot is to be expected to have at least one of these remarks, where each falls into
    it with a probability of `share`."""
    a_day = Counter(each.at.date() for each in _one_an_hour(remarks))
    return sum(share if _is_weekday(slot) else 1 - (1 - share) ** count for count in a_day.values())


def _by_slot(remarks: Iterable[Remark]) -> Mapping[str, Sequence[Remark]]:
    """The remarks, one an hour, in each slot."""
    table: dict[str, list[Remark]] = defaultdict(list)
    for each in _one_an_hour(remarks):
        for back in range(_HOURS):
            table[f"{(each.at.hour - back) % 24:02}"].append(each)
        table[f"day {each.at.weekday() + 1}"].append(each)
    return table


def _one_an_hour(remarks: Iterable[Remark]) -> list[Remark]:
    return list({(each.at.date(), each.at.hour): each for each in remarks}.values())


def _is_weekday(slot: str) -> bool:
    return slot.startswith("day")


def _pattern(language: Language, subject: str, label: str, slot: str, cases: Sequence[Remark], sure: float) -> Pattern:
    if _is_weekday(slot):
        when = text(f"pattern.weekday_{slot[-1]}", language)
    else:
        begin, end = int(slot), (int(slot) + _HOURS) % 24
        when = text("pattern.hours", language, begin=f"{begin}:00", end=f"{end}:00")
    key = "pattern.rhythm_topic" if label else f"pattern.rhythm_{subject}"
    name = text(key, language, topic=quoted(label), when=when, count=len(cases))
    subject = f"{subject} {slot[:3] if label else slot}"
    return pattern_of("daily_rhythm", subject, name, sure, cases, (label,) if label else ())
