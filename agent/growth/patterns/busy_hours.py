"""`busy_hours`: hours of the week in which the person usually works, and in which they may want no notices.

It only suggests: the setting is one of the machine, and a note changes none of these, so the suggestion names the
command. Whether somebody works is taken from when they edit notes by hand and when they ask.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, time, timedelta

from agent.attention.quiet import QuietHours, parse_quiet
from agent.clock import in_clock_zone
from agent.dataclass import dataclass
from agent.growth.patterns.activity import Activity, Remark
from agent.growth.patterns.confidence import binomial_tail, confidence
from agent.growth.patterns.pattern import LEAST, Pattern, newest_links, surest
from agent.texts import Language, text

_GROUPS = {"mon-fri": range(5), "sat-sun": range(5, 7)}
"""The days that are looked at together, named as the setting names them: a single day of the week comes only five times
in the time that is looked at, which proves nothing."""
_SHARE, _SELDOM = 0.6, 1 / 3
"""An hour is usual if it is busy on at least the first share of the days; that it is by chance busy on less than the
second is to be ruled out."""
_AWAKE = 16
"""The hours of a day over which work at random would spread."""
_LONGEST, _MOST = 4, 2
"""The most hours in a row, and the most spans: a whole working day says when somebody works, not when they must not be
disturbed."""


@dataclass(frozen=True, slots=True)
class BusyHour:
    """An hour that is busy on these days (`busy`) of a group; `confidence` as of a pattern."""

    group: str
    hour: int
    busy: tuple[date, ...]
    confidence: float


@dataclass(frozen=True, slots=True)
class _Span:
    """Busy hours in a row on the days of one group."""

    hours: tuple[BusyHour, ...]

    @property
    def setting(self) -> str:
        """The span as `attention.quiet` has it."""
        return f"{self.hours[0].group} {self.hours[0].hour}-{self.hours[-1].hour + 1}"

    @property
    def weight(self) -> int:
        return sum(len(each.busy) for each in self.hours)

    def label(self, language: Language) -> str:
        """The span in words."""
        group = self.hours[0].group.replace("-", "_")
        begin, end = f"{self.hours[0].hour}:00", f"{self.hours[-1].hour + 1}:00"
        return text(f"pattern.busy_{group}", language, hours=text("pattern.hours", language, begin=begin, end=end))


def busy_hours(activity: Activity, language: Language, quiet: str) -> tuple[Pattern, ...]:
    """One suggestion at most, for hours that `quiet`, the setting of today, does not have yet."""
    remarks = [each for each in activity.of_kinds("asked", "edited") if each.is_timed]
    found = _spans(find_busy_hours(remarks, activity.now, parse_quiet(quiet)))
    spans = sorted(sorted(found, key=lambda each: -each.weight)[:_MOST], key=lambda each: each.setting)
    if not spans:
        return ()
    hours = [each for span in spans for each in span.hours]
    days = {day for each in hours for day in each.busy}
    kept = quiet if any(span.start != span.end for span in parse_quiet(quiet).spans) else ""
    setting = ", ".join(filter(None, (kept, *(each.setting for each in spans))))
    cases = [each for each in remarks if any(each.at.date() in one.busy and each.at.hour == one.hour for one in hours)]
    pattern = Pattern(
        "busy_hours",
        "busy hours",
        text("pattern.busy", language, when=_listed(spans, language), count=len(days)),
        min(each.confidence for each in hours),
        len(days),
        cases[-1].at.date(),
        newest_links((each.at, each.link) for each in cases),
        text("pattern.busy_suggestion", language, command=f'`vault-agent config set attention.quiet "{setting}"`'),
    )
    return surest([pattern])


def find_busy_hours(remarks: Sequence[Remark], now: datetime, quiet: QuietHours) -> tuple[BusyHour, ...]:
    """The usual hours that are not quiet, each with how sure it is that the person works in it on more days than in
    other hours, and more than seldom; today, which is not over, does not count."""
    cells = {(each.at.date(), each.at.hour) for each in remarks if each.at.date() < now.date()}
    first = min((day for day, _ in cells), default=now.date())
    days = [first + timedelta(days=number) for number in range((now.date() - first).days)]
    candidates = 24 * len(_GROUPS)
    found: list[BusyHour] = []
    for group, weekdays in _GROUPS.items():
        own = [day for day in days if day.weekday() in weekdays]
        total = sum(day.weekday() in weekdays for day, _ in cells)
        for hour in range(24):
            busy = tuple(day for day in own if (day, hour) in cells)
            if not busy or len(busy) < _SHARE * len(own) or _is_quiet(quiet, own, hour):
                continue
            share = (total - len(busy) + 1) / ((_AWAKE - 1) * len(own) + 1)
            chance = binomial_tail(len(busy), len(own), max(share, _SELDOM))
            times = (in_clock_zone(datetime.combine(day, time(hour)), now) for day in busy)
            found.append(BusyHour(group, hour, busy, confidence(chance, candidates, times, now)))
    return tuple(found)


def _is_quiet(quiet: QuietHours, days: Iterable[date], hour: int) -> bool:
    return all(quiet.holds(datetime.combine(day, time(hour))) for day in days)


def _spans(hours: Iterable[BusyHour]) -> Iterator[_Span]:
    """The rows of hours that are sure, without those in a row of usual hours that is too long."""
    for row in _rows(hours):
        if len(row) <= _LONGEST:
            yield from map(_Span, _rows(each for each in row if each.confidence >= LEAST))


def _rows(hours: Iterable[BusyHour]) -> tuple[tuple[BusyHour, ...], ...]:
    """The hours that follow on each other, together."""
    rows: list[list[BusyHour]] = []
    for each in hours:
        if rows and (each.group, each.hour) == (rows[-1][-1].group, rows[-1][-1].hour + 1):
            rows[-1].append(each)
        else:
            rows.append([each])
    return tuple(map(tuple, rows))


def _listed(spans: Iterable[_Span], language: Language) -> str:
    return text("answers.comma", language).join(each.label(language) for each in spans)
