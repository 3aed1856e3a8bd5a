"""Metrics: the troubles that stand, how well the agent helps by itself, and what happened over days."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime

from agent.app.figures import all_figures, load_receipts, present_figures
from agent.attention.notice_counts import counts_by_day
from agent.background.standing_alerts import alert_help, alert_title, load_standing
from agent.clock import clock_zone
from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.interfaces.http.pages.charts import (
    Chart,
    counted_charts,
    days_until,
    notice_chart,
    spend_chart,
)
from agent.interfaces.http.pages.page import Page, PageRequest
from agent.metrics.figures import MetricFigure
from agent.metrics.totals import load_days, load_totals
from agent.runs.status import ledger_of
from agent.workspace.workspace import Workspace, is_watched

SPANS = (7, 30, 90)
"""The numbers of days that can be chosen; the second is shown first."""
_SCRIPTS = ("vendor/uPlot.iife.min.js", "static/charts.js")


@dataclass(frozen=True, slots=True)
class _ShownAlert:
    title: str
    help: str
    since: datetime


@dataclass(frozen=True, slots=True)
class _ShownFigure:
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
    standing = load_standing(workspace.vault) if is_watched(workspace) else ()
    return {
        "span": count,
        "spans": SPANS,
        "is_watched": is_watched(workspace),
        "alerts": [
            _ShownAlert(alert_title(each.alert, language), alert_help(each.alert, language), each.since)
            for each in standing
        ],
        "charts": _charts(request, days),
        "figures": [_shown(each) for each in figures],
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


def _shown(figure: MetricFigure) -> _ShownFigure:
    plain = figure.name.strip()
    bound = figure.least if figure.least is not None else figure.most
    sign = ">" if figure.least is not None else "<"
    target = f"{sign} {_number(bound, figure.unit)}" if bound is not None else ""
    return _ShownFigure(
        plain, plain != figure.name, _number(figure.value, figure.unit), target, figure.status, figure.about
    )


def _number(value: float | None, unit: str) -> str:
    if value is None:
        return ""
    number = f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:.1f}"
    return f"{number} {unit}".strip()


PAGE = Page("metrics", "/metrics", show, "f", under="status", scripts=_SCRIPTS)
