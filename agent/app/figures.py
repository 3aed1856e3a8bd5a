"""The figures of one vault as every interface shows them: what was counted, and how things are now."""

from collections import Counter
from collections.abc import Iterator
from datetime import date

from agent.app.notice_ledger import open_ledger
from agent.attention.notice_counts import NoticeCounts, counts_by_day, total_of_days
from agent.attention.receipt import NoticeReceipt
from agent.background.active_alerts import load_active_alerts
from agent.clock import clock_zone
from agent.errors import AgentError
from agent.growth.patterns.pattern_notes import pattern_opinions
from agent.memory.store import count_facts
from agent.metrics.families import PresentFigures, format_prometheus
from agent.metrics.figures import MetricFigure, figures
from agent.metrics.totals import MetricTotals, load_totals
from agent.runs.job_upkeep import job_record, job_shelf
from agent.runs.node_host import node_state
from agent.runs.status import ledger_of
from agent.workspace.workspace import Workspace, is_watched


def present_figures(workspace: Workspace) -> PresentFigures:
    """How things are now; asks the node host where it is switched on, which may take some seconds."""
    node = node_state(workspace)
    opinions = pattern_opinions(workspace.vault)
    return PresentFigures(
        count_facts(workspace.vault),
        {job.id: job_record(workspace, job).consec_failures for job in job_shelf(workspace).load().jobs},
        None if node is None else node.is_connected,
        node.permissions if node is not None and node.is_connected else {},
        Counter(each.alert.rule for each in load_active_alerts(workspace.vault)) if is_watched(workspace) else None,
        opinions.count("helpful"),
        opinions.count("not_helpful"),
        _spent_today(workspace),
        workspace.settings.spend.daily,
    )


def all_figures(
    workspace: Workspace, totals: MetricTotals, present: PresentFigures, since: date | None = None
) -> tuple[MetricFigure, ...]:
    """The figures of the days since then, in the order in which they are shown; `totals` are those of the same days."""
    days = counts_by_day(load_receipts(workspace), clock_zone(workspace.clock.now())).items()
    notices = total_of_days(counts for day, counts in days if since is None or day >= since)
    return (*figures(totals, present), *_notice_figures(notices))


def prometheus_text(workspace: Workspace) -> bytes:
    """All metrics in Prometheus' text format."""
    totals = load_totals(workspace.metrics)
    return format_prometheus(totals, present_figures(workspace), workspace.vault.place.root.name)


def _notice_figures(counts: NoticeCounts) -> Iterator[MetricFigure]:
    yield MetricFigure("notices raised", counts.raised)
    yield MetricFigure("  sent at once", counts.sent)
    yield MetricFigure("  held for a while", counts.held)
    yield MetricFigure("  left for the digest", counts.digest)
    yield MetricFigure("  dropped", counts.dropped)
    yield MetricFigure("  share sent at once", 100 * counts.sent / counts.raised if counts.raised else None, "%")


def load_receipts(workspace: Workspace) -> tuple[NoticeReceipt, ...]:
    """All receipts of notices; none if their ledger cannot be read, which `doctor` says."""
    try:
        return open_ledger(workspace).all()
    except AgentError:
        return ()


def _spent_today(workspace: Workspace) -> float | None:
    """What models cost today; None if it is not known."""
    try:
        ledger = ledger_of(workspace)
        today = ledger.totals(ledger.today())
    except AgentError:
        return None
    return None if today.unpriced and not today.money else today.money
