"""All jobs on one line of time: what ran, by what came of it, and what comes, as far before now as after it."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Literal, TypeAlias, get_args
from zoneinfo import ZoneInfo

from agent.app.past_runs import PastRun
from agent.dataclass import dataclass
from agent.schedule.history import Outcome
from agent.schedule.job import Job

Span: TypeAlias = Literal["hours", "day", "week"]
SPANS: tuple[Span, ...] = get_args(Span)
Kind: TypeAlias = Outcome | Literal["coming"]
_REACH = {"hours": timedelta(hours=6), "day": timedelta(days=1), "week": timedelta(days=7)}
_SLOT = {"hours": timedelta(minutes=15), "day": timedelta(hours=1), "week": timedelta(hours=6)}
_EACH_HOURS = {"hours": 2, "day": 6, "week": 24}
"""Hours between two times that are written below the line."""
_SHOWN_FIRST: tuple[Kind, ...] = (
    "failed", "interrupted", "refused", "waits", "missed", "skipped", "resumed", "done", "nothing", "coming",
)  # fmt: skip
"""Of several occurrences close to each other the first of these is drawn."""
_MOST = 700
"""Coming times of one job that are drawn; a job with more goes on to the end."""


@dataclass(frozen=True, slots=True)
class TimeMark:
    """Occurrences of one job that are too close to each other to be told apart, from `first` to `last`: what became of
    how many. `x` is their place in percent of the line, `kind` what is drawn."""

    x: float
    kind: Kind
    counts: tuple[tuple[Kind, int], ...]
    first: datetime
    last: datetime


@dataclass(frozen=True, slots=True)
class TimeRow:
    """One job on the line. `goes_on` is the place from which it has more times than are drawn, None if it has not."""

    job: Job
    marks: tuple[TimeMark, ...]
    goes_on: float | None = None


@dataclass(frozen=True, slots=True)
class LineMark:
    """A time below the line; `is_day` for the begin of a day."""

    x: float
    at: datetime
    is_day: bool


@dataclass(frozen=True, slots=True)
class TimeLine:
    """The line and its rows; all times are in `zone`, and now is in the middle."""

    span: Span
    zone: ZoneInfo
    begin: datetime
    end: datetime
    ticks: tuple[LineMark, ...]
    rows: tuple[TimeRow, ...]

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of marks on the line."""
        drawn = {mark.kind for row in self.rows for mark in row.marks}
        return tuple(kind for kind in _SHOWN_FIRST if kind in drawn)

    @property
    def in_order(self) -> list[tuple[TimeMark, Job]]:
        """All marks with their jobs, by time."""
        found = [(mark, row.job) for row in self.rows for mark in row.marks]
        return sorted(found, key=lambda each: each[0].first.timestamp())


def time_line(jobs: Iterable[tuple[Job, Sequence[PastRun]]], now: datetime, span: Span, zone: ZoneInfo) -> TimeLine:
    """The line of these jobs with their runs around `now`."""
    middle, reach = now.astimezone(UTC), _REACH[span]
    begin, end = middle - reach, middle + reach
    rows = tuple(_row(job, runs, now, begin, end, span, zone) for job, runs in jobs)
    return TimeLine(
        span, zone, begin.astimezone(zone), end.astimezone(zone), tuple(_ticks(begin, end, span, zone)), rows
    )


def _row(
    job: Job, runs: Sequence[PastRun], now: datetime, begin: datetime, end: datetime, span: Span, zone: ZoneInfo
) -> TimeRow:
    past: list[tuple[datetime, Kind]] = []
    for each in runs:
        at = each.row.started or each.row.planned
        if begin <= at <= now:
            past.append((at, each.row.outcome))
    next_ones = job.occurrences_until(now, end, _MOST + 1) if job.status == "active" else ()
    ahead: list[tuple[datetime, Kind]] = [(each.at, "coming") for each in next_ones[:_MOST]]
    goes_on = _place(ahead[-1][0], begin, end) if len(next_ones) > _MOST else None
    return TimeRow(job, (*_marks(past, begin, end, span, zone), *_marks(ahead, begin, end, span, zone)), goes_on)


def _marks(
    found: Iterable[tuple[datetime, Kind]], begin: datetime, end: datetime, span: Span, zone: ZoneInfo
) -> Iterator[TimeMark]:
    slots: dict[int, list[tuple[datetime, Kind]]] = {}
    for at, kind in found:
        slots.setdefault(int((at - begin) / _SLOT[span]), []).append((at, kind))
    for _, inside in sorted(slots.items()):
        times = sorted((at.astimezone(UTC) for at, _ in inside), key=datetime.timestamp)
        kinds = [kind for _, kind in inside]
        counts = tuple((kind, kinds.count(kind)) for kind in _SHOWN_FIRST if kind in kinds)
        middle = times[0] + (times[-1] - times[0]) / 2
        first, last = times[0].astimezone(zone), times[-1].astimezone(zone)
        yield TimeMark(_place(middle, begin, end), counts[0][0], counts, first, last)


def _place(at: datetime, begin: datetime, end: datetime) -> float:
    return round(100 * ((at - begin) / (end - begin)), 2)


def _ticks(begin: datetime, end: datetime, span: Span, zone: ZoneInfo) -> Iterator[LineMark]:
    quarter = timedelta(minutes=15)
    at = begin.replace(minute=0, second=0, microsecond=0)
    while (at := at + quarter) < end:
        local = at.astimezone(zone)
        x = _place(at, begin, end)
        if 0 < x < 100 and local.minute == 0 and local.hour % _EACH_HOURS[span] == 0:
            yield LineMark(x, local, local.hour == 0)
