"""Metrics: the troubles that stand, how well the agent helps by itself, and what happened over days, in charts: a page
shows them as a table, from which the browser draws; what is not known is None.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Literal, TypeAlias

from agent.app.figures import all_figures, load_receipts, present_figures
from agent.attention.notice_counts import NoticeCounts, counts_by_day
from agent.background.active_alerts import alert_help, alert_title, load_active_alerts
from agent.clock import clock_zone
from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.interfaces.http.pages.page import Page, PageRequest
from agent.metrics.figures import MetricFigure
from agent.metrics.names import RECALLED
from agent.metrics.totals import MetricTotals, load_days, load_totals
from agent.runs.status import ledger_of
from agent.workspace.workspace import Workspace, is_watched

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

    charts = tuple(days)

    def recalled(found: MetricTotals) -> float | None:
        return found.events.get(RECALLED)

    def missed(found: MetricTotals) -> float:
        return (recalled(found) or 0) - (found.recall_hits or 0)

    return (
        Chart(
            "recalls",
            charts,
            (
                Series("recalls_hit", values(lambda found: found.recall_hits)),
                Series("recalls_none", values(missed), tone="dim"),
                Series("recalls_rate", share(lambda found: found.recall_hits, recalled), "share", "line"),
            ),
        ),
        Chart(
            "tool_calls",
            charts,
            (
                Series("calls_ok", values(lambda found: _sum(found.used) - _sum(found.failed))),
                Series("calls_failed", values(lambda found: _sum(found.failed) - _sum(found.denied)), tone="bad"),
                Series("calls_denied", values(lambda found: _sum(found.denied)), tone="warn"),
            ),
        ),
        Chart("job_runs", charts, tuple(_job_series(values))),
        Chart("patterns", charts, (Series("patterns_found", values(lambda found: _sum(found.patterns))),)),
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


SPANS = (7, 30, 90)
"""The numbers of days that can be chosen; the second is shown first."""
_SCRIPTS = ("vendor/uPlot.iife.min.js", "static/charts.js")


@dataclass(frozen=True, slots=True)
class _AlertRow:
    title: str
    help: str
    since: datetime


@dataclass(frozen=True, slots=True)
class _FigureRow:
    """A figure in the words of the page: `status` is the key of a text, empty without a target."""

    name: str
    is_part: bool
    value: str
    target: str
    status: str
    about: str


def show(request: PageRequest) -> Mapping[str, object]:
    """The metrics of the last days (`days`: 7, 30 or 90)."""
    workspace, language = request.workspace, request.language
    count = next((each for each in SPANS if str(each) == request.field("days")), SPANS[1])
    days = days_until(request.now.date(), count)
    totals, present = load_totals(workspace.metrics, days[0]), present_figures(workspace)
    figures = all_figures(workspace, totals, present, days[0])
    alerts = load_active_alerts(workspace.vault) if is_watched(workspace) else ()
    return {
        "span": count,
        "spans": SPANS,
        "is_watched": is_watched(workspace),
        "alerts": [
            _AlertRow(alert_title(each.alert, language), alert_help(each.alert, language), each.since)
            for each in alerts
        ],
        "charts": _charts(request, days),
        "figures": [_figure_row(each) for each in figures],
        "is_counted": bool(totals.events),
        "tools": _rows(totals.used, totals.failed, totals.denied),
        "present": present,
    }


def _charts(request: PageRequest, days: Sequence[date]) -> list[Chart]:
    workspace = request.workspace
    receipts = load_receipts(workspace)
    notices = counts_by_day(receipts, clock_zone(request.now))
    first = min(notices, default=None)
    recalls, *others = counted_charts(days, load_days(workspace.metrics, days[0]))
    return [recalls, notice_chart(days, notices, first), spend_chart(days, _money(workspace, days)), *others]


def _money(workspace: Workspace, days: Sequence[date]) -> Mapping[date, float | None]:
    """What models cost on each day; None where the ledger cannot be read, or no price is known."""
    ledger, found = ledger_of(workspace), dict[date, float | None]()
    for day in days:
        try:
            totals = ledger.totals(day)
        except AgentError:
            found[day] = None
        else:
            found[day] = None if totals.unpriced and not totals.money else totals.money
    return found


def _rows(*counts: Mapping[str, float]) -> list[tuple[str, list[float]]]:
    """The tools with their numbers, the most used first."""
    used = counts[0]
    names = sorted(used, key=lambda name: (-used[name], name))
    return [(name, [each.get(name, 0) for each in counts]) for name in names]


def _figure_row(figure: MetricFigure) -> _FigureRow:
    plain = figure.name.strip()
    bound = figure.least if figure.least is not None else figure.most
    sign = ">" if figure.least is not None else "<"
    target = f"{sign} {_number(bound, figure.unit)}" if bound is not None else ""
    return _FigureRow(
        plain, plain != figure.name, _number(figure.value, figure.unit), target, figure.status, figure.about
    )


def _number(value: float | None, unit: str) -> str:
    if value is None:
        return ""
    number = f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:.1f}"
    return f"{number} {unit}".strip()


PAGE = Page("metrics", "/metrics", show, "f", under="status", scripts=_SCRIPTS)
