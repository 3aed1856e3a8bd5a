"""The charts of the metrics: for each its series of numbers by day. A page shows them as a table, from which the
browser draws; what is not known is None."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from typing import Literal, TypeAlias

from agent.attention.notice_counts import NoticeCounts
from agent.dataclass import dataclass
from agent.metrics.names import RECALLED
from agent.metrics.totals import MetricTotals

Values: TypeAlias = tuple[float | None, ...]
"""A number for each day; None where it is not known."""
SeriesKind: TypeAlias = Literal["part", "share"]


@dataclass(frozen=True, slots=True)
class Series:
    """One series: `parts` of a chart stand on each other as bars, a `share` is a line in percent. `name` is the key of
    its text, `tone` that of its colour."""

    name: str
    values: Values
    kind: SeriesKind = "part"
    tone: str = "main"

    @property
    def total(self) -> float | None:
        """The sum of the known numbers; None without one."""
        known = [each for each in self.values if each is not None]
        return sum(known) if known else None


@dataclass(frozen=True, slots=True)
class Chart:
    """Series over the same days. `name` is the key of its title; `digits` are those behind the point, `unit` stands
    before a number."""

    name: str
    days: tuple[date, ...]
    series: tuple[Series, ...]
    digits: int = 0
    unit: str = ""

    @property
    def is_empty(self) -> bool:
        """True if nothing was counted on any of the days."""
        return not any(each.total for each in self.series if each.kind == "part")


def days_until(today: date, count: int) -> tuple[date, ...]:
    """So many days, the last of them today."""
    return tuple(today - timedelta(days=back) for back in range(count - 1, -1, -1))


def counted_charts(days: Sequence[date], counted: Mapping[date, MetricTotals]) -> tuple[Chart, ...]:
    """Recalls, tools, runs of jobs and patterns, from the metrics of the days."""

    def values(number: Callable[[MetricTotals], float | None]) -> Values:
        """A number of each day; a day on which something else was counted has 0."""
        return tuple(None if (found := counted.get(day)) is None else number(found) or 0 for day in days)

    def share(part: Callable[[MetricTotals], float | None], whole: Callable[[MetricTotals], float | None]) -> Values:
        pairs = ((part(found), whole(found)) if (found := counted.get(day)) else (None, None) for day in days)
        return tuple(100 * (one or 0) / other if other else None for one, other in pairs)

    shown = tuple(days)

    def recalled(found: MetricTotals) -> float | None:
        return found.events.get(RECALLED)

    def missed(found: MetricTotals) -> float:
        return (recalled(found) or 0) - (found.recall_hits or 0)

    return (
        Chart(
            "recalls",
            shown,
            (
                Series("recalls_hit", values(lambda found: found.recall_hits)),
                Series("recalls_none", values(missed), tone="dim"),
                Series("recalls_rate", share(lambda found: found.recall_hits, recalled), "share", "line"),
            ),
        ),
        Chart(
            "tool_calls",
            shown,
            (
                Series("calls_ok", values(lambda found: _sum(found.used) - _sum(found.failed))),
                Series("calls_failed", values(lambda found: _sum(found.failed) - _sum(found.denied)), tone="bad"),
                Series("calls_denied", values(lambda found: _sum(found.denied)), tone="warn"),
            ),
        ),
        Chart("job_runs", shown, tuple(_job_series(values))),
        Chart(
            "patterns",
            shown,
            (Series("patterns_found", values(lambda found: _sum(found.patterns))),),
        ),
    )


def notice_chart(days: Sequence[date], counts: Mapping[date, NoticeCounts], first: date | None) -> Chart:
    """The notices of each day by their first decision; before the `first` day that is known of, nothing is known."""
    found = [counts.get(day, NoticeCounts()) if first is not None and day >= first else None for day in days]

    def values(name: str) -> Values:
        return tuple(None if each is None else float(getattr(each, name)) for each in found)

    shares = tuple(100 * each.sent / each.raised if each is not None and each.raised else None for each in found)
    return Chart(
        "notices_raised",
        tuple(days),
        (
            Series("notices_sent", values("sent")),
            Series("notices_held", values("held"), tone="warn"),
            Series("notices_digest", values("digest"), tone="dim"),
            Series("notices_dropped", values("dropped"), tone="bad"),
            Series("notices_share", shares, "share", "line"),
        ),
    )


def spend_chart(days: Sequence[date], money: Mapping[date, float | None]) -> Chart:
    """What models cost on each day, in US dollars."""
    return Chart("spent", tuple(days), (Series("spent_day", tuple(money.get(day) for day in days)),), 2, "$")


def _job_series(values: Callable[[Callable[[MetricTotals], float | None]], Values]) -> list[Series]:
    def of(*statuses: str) -> Callable[[MetricTotals], float]:
        return lambda found: sum(found.job_statuses.get(each, 0) for each in statuses)

    return [
        Series("jobs_done", values(of("done"))),
        Series("jobs_nothing", values(of("nothing")), tone="dim"),
        Series("jobs_failed", values(of("failed", "interrupted")), tone="bad"),
        Series("jobs_other", values(of("waits", "skipped")), tone="warn"),
    ]


def _sum(numbers: Mapping[str, float]) -> float:
    return sum(numbers.values())
