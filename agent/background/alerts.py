"""Looks once a minute for troubles that the person should hear of, and tells of each once, through attention.

While nothing was counted, no job has failed and no node host is wanted, a look costs a glance at one file. When a
trouble is over, its notice is taken back if it was not shown yet; nothing is said otherwise.
"""

from collections.abc import Callable, Mapping
from dataclasses import field
from datetime import datetime

from agent.attention.outbox import Outbox
from agent.background.active_alerts import ActiveAlert, alert_help, alert_title, load_active_alerts, save_active_alerts
from agent.background.part import Hears
from agent.background.pool import Priority
from agent.background.routine import LookEvery, Routine
from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.events.notices import NoticeRaised
from agent.events.types import FilesChanged
from agent.markdown.changes import NoteChange
from agent.metrics.alerts import Alert, AlertRule, Observed, alerts_of, load_recent
from agent.metrics.collect import Collector
from agent.metrics.totals import first_day
from agent.runs.job_upkeep import job_record, job_shelf
from agent.runs.node_host import node_state
from agent.vault.folders import JOB_HISTORY, JOBS
from agent.workspace.workspace import Workspace, reload_settings

INTERVAL = 60.0
"""Seconds between two looks."""
PRIORITIES: Mapping[AlertRule, float] = {
    "job_failures": 0.8,
    "handler_errors": 0.7,
    "flush_saves_nothing": 0.5,
    "node_away": 0.65,
    "node_permission": 0.7,
}
"""How important each is; the one that may be no trouble at all waits for the digest."""


@dataclass(slots=True)
class Alerts:
    """The alerts of one vault's daemon. `metrics` counts in this process; `open` opens the outbox of notices; `goals`
    are the notes that may be goals, if they are known."""

    workspace: Workspace
    metrics: Collector
    open: Callable[[], Outbox]
    goals: Callable[[], frozenset[str] | None]
    _has_news: bool = field(default=True, init=False)
    _failures: dict[str, int] = field(default_factory=dict, init=False)

    def changed(self, event: FilesChanged[NoteChange]) -> None:
        """A job, or the history of one, may have changed: look at the failures again."""
        home = self.workspace.vault.home
        self._has_news |= any(home.holds(each.path, JOBS, JOB_HISTORY) for each in event.events)

    def routine(self) -> Routine:
        """A look at the troubles; one at the node host may take seconds."""
        return Routine(
            "alerts",
            lambda *_: self.look(),
            hears=(Hears(FilesChanged, self.changed),),
            looks=(LookEvery(INTERVAL, self._is_due),),
            needs_settled=False,
            priority=Priority.NETWORK,
        )

    def _is_due(self) -> bool:
        """Save what was counted; returns True if there may be a trouble."""
        self.metrics.save()
        try:
            is_wanted = reload_settings(self.workspace).settings.node.enabled
        except AgentError:
            is_wanted = False
        is_any = self._has_news or is_wanted or load_recent(self.workspace.metrics)
        return bool(is_any or load_active_alerts(self.workspace.vault))

    def look(self) -> tuple[ActiveAlert, ...]:
        """Look for troubles, tell of new ones, and take back what is over; returns those that stand.

        Raises `Retryable` or `Permanent` when a notice cannot be noted.
        """
        vault, now = self.workspace.vault, self.workspace.clock.now()
        before = {each.key: each for each in load_active_alerts(vault)}
        found: dict[tuple[str, str], Alert] = {}
        for alert in alerts_of(self._observed(now)):
            found[alert.rule, alert.subject] = alert
        if not found and not before:
            return ()
        outbox, active = self.open(), list[ActiveAlert]()
        for alert in found.values():
            known = before.get((alert.rule, alert.subject))
            since, notice = (known.since, known.notice) if known else (now, outbox.take(self._notice(alert)).id)
            active.append(ActiveAlert(alert, since, notice))
        for key, each in before.items():
            if key not in found:
                outbox.take_back(each.notice)
        if active != list(before.values()):
            save_active_alerts(vault, active)
        return tuple(active)

    def _observed(self, now: datetime) -> Observed:
        fresh = reload_settings(self.workspace)
        node = node_state(fresh)
        if self._has_news:
            self._failures = _failures(fresh, self.goals())
            self._has_news = False
        folder = self.workspace.metrics
        return Observed(
            now,
            load_recent(folder),
            first_day(folder),
            self._failures,
            node.since if node is not None and not node.is_connected else None,
            node.permissions if node is not None else {},
        )

    def _notice(self, alert: Alert) -> NoticeRaised:
        language = self.workspace.settings.vault.language
        title, lines = alert_title(alert, language), (alert_help(alert, language),)
        return NoticeRaised(alert.rule, PRIORITIES[alert.rule], title, lines, subject=alert.subject or alert.rule)


def _failures(workspace: Workspace, goals: frozenset[str] | None) -> dict[str, int]:
    """The failures in a row of each job that goes on; of one that is stopped its person was told."""
    records = {
        job.id: job_record(workspace, job) for job in job_shelf(workspace, goals).load().jobs if job.status == "active"
    }
    return {id: record.consec_failures for id, record in records.items() if not record.is_stopped}
