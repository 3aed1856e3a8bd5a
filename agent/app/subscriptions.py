"""The table of event handlers, for the daemon and for runs; the handlers are defined in other packages.

A handler with a higher priority is called earlier. The daemon's handlers follow file changes: they have no time limit,
and so are called on the daemon's own thread.
"""

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING

from agent.dataclass import dataclass
from agent.events.bus import Bus
from agent.events.notices import NoticeRaised
from agent.events.runs import (
    ContextCompact,
    IterationStarted,
    ProposalDecided,
    SessionEnded,
    TaskCompleted,
    TaskStarted,
    ToolCallFailed,
)
from agent.events.subscriber import TIMEOUT, Injection
from agent.events.types import DaemonStarted, EditsCommitted, EditsStopped, FilesChanged, Tick, TurnEnded
from agent.growth.rules.given_rules import GivenRules
from agent.loop.outcome import Ended
from agent.memory.capture.writer import CaptureWorker
from agent.metrics.collect import Collector
from agent.runs.active_skills import ActiveSkills

if TYPE_CHECKING:  # a run does not load the daemon's modules
    from agent.background.alerts import Alerts
    from agent.background.curiosity import Curiosity
    from agent.background.deletion_notice import DeletionNotice
    from agent.background.experiments import Experiments
    from agent.background.human_edits import HumanEdits
    from agent.background.inbox.inbox import Inbox
    from agent.background.incoming.messages import IncomingMessages
    from agent.background.index_sync import IndexSync
    from agent.background.insights import Insights
    from agent.background.jobs.jobs import Jobs
    from agent.background.leftovers import Leftovers
    from agent.background.machine_contact import MachineContact
    from agent.background.maintenance import Maintenance
    from agent.background.model_key import ModelKey
    from agent.background.notices import Notices
    from agent.background.presence import Presence
    from agent.background.reflections import Reflections
    from agent.background.remote_sync import RemoteSync
    from agent.background.resume import Resume
    from agent.background.rules import RuleUpkeep
    from agent.background.session_watch import SessionWatch
    from agent.background.state_file import JsonStateFile
    from agent.background.tasks import Tasks
    from agent.growth.reflections.running import RunningErrors

LAST = -100
"""The priority of a handler that is called after all others."""


@dataclass(frozen=True, slots=True)
class DaemonParts:
    """The owners of the event handlers in one vault's daemon; their problems are told in the order of the fields."""

    key: "ModelKey"
    index: "IndexSync"
    edits: "HumanEdits"
    sessions: "SessionWatch"
    resume: "Resume"
    inbox: "Inbox"
    presence: "Presence"
    jobs: "Jobs"
    maintenance: "Maintenance"
    tasks: "Tasks"
    metrics: Collector
    state: "JsonStateFile"
    deletions: "DeletionNotice"
    remotes: "RemoteSync"
    contact: "MachineContact"
    notices: "Notices"
    insights: "Insights"
    reflections: "Reflections"
    curiosity: "Curiosity"
    messages: "IncomingMessages"
    alerts: "Alerts"
    rules: "RuleUpkeep"
    experiments: "Experiments"

    @property
    def problems(self) -> tuple[str, ...]:
        """What does not work now: the `problem` of each part that has one, empty for a part that works."""
        return tuple(getattr(getattr(self, each.name), "problem", "") for each in fields(self))


def subscribe_daemon(bus: Bus, parts: DaemonParts) -> None:
    """Subscribe the daemon's handlers; the rows of one event are in the order of the calls."""
    index, edits, inbox, resume, maintenance = parts.index, parts.edits, parts.inbox, parts.resume, parts.maintenance
    row = bus.subscribe

    row(parts.key.start, DaemonStarted, name="start: model's key", priority=90, timeout=None)
    row(index.start, DaemonStarted, name="start: index", priority=80, timeout=None)
    row(resume.start, DaemonStarted, name="start: runs cut off", priority=70, timeout=None)
    row(inbox.start, DaemonStarted, name="start: inbox", priority=60, timeout=None)
    row(parts.presence.start, DaemonStarted, name="start: state", priority=65, timeout=None)
    row(parts.jobs.start, DaemonStarted, name="start: jobs", priority=55, timeout=None)
    row(maintenance.start, DaemonStarted, name="start: maintenance", priority=50, timeout=None)
    row(parts.tasks.start, DaemonStarted, name="start: tasks", priority=45, timeout=None)

    row(index.changed, FilesChanged, name="files: index", priority=90, timeout=None)
    row(edits.changed, FilesChanged, name="files: human edits", priority=80, timeout=None)
    row(parts.sessions.changed, FilesChanged, name="files: sessions", priority=70, timeout=None)
    row(resume.changed, FilesChanged, name="files: decisions", priority=60, timeout=None)
    row(inbox.changed, FilesChanged, name="files: inbox", priority=50, timeout=None)
    row(parts.jobs.changed, FilesChanged, name="files: jobs", priority=45, timeout=None)
    row(maintenance.changed, FilesChanged, name="files: maintenance", priority=40, timeout=None)
    row(parts.tasks.changed, FilesChanged, name="files: tasks", priority=35, timeout=None)

    row(parts.remotes.changed, FilesChanged, name="files: remotes", priority=30, timeout=None)

    row(index.tick, Tick, name="tick: index", priority=90, timeout=None)
    row(parts.key.tick, Tick, name="tick: model's key", priority=85, timeout=None)
    row(edits.tick, Tick, name="tick: human edits", priority=80, timeout=None)
    row(resume.tick, Tick, name="tick: decisions", priority=60, timeout=None)
    row(inbox.tick, Tick, name="tick: inbox", priority=50, timeout=None)
    row(parts.presence.tick, Tick, name="tick: state", priority=55, timeout=None)
    row(parts.jobs.tick, Tick, name="tick: jobs", priority=45, timeout=None)
    row(maintenance.tick, Tick, name="tick: maintenance", priority=40, timeout=None)
    row(parts.tasks.tick, Tick, name="tick: tasks", priority=35, timeout=None)
    row(parts.remotes.tick, Tick, name="tick: remotes", priority=30, timeout=None)
    row(index.turn_ended, TurnEnded, name="turn over: index", timeout=None)
    row(parts.state.turn_ended, TurnEnded, name="turn over: status", priority=LAST, timeout=None)

    row(maintenance.edits_committed, EditsCommitted, name="edits: maintenance", timeout=None)
    row(maintenance.run_ended, TaskCompleted, name="run over: maintenance", timeout=None)
    _subscribe_ends(bus, parts)
    _subscribe_messages(bus, parts.messages)

    row(parts.jobs.heard, object, name="any event: jobs", priority=LAST, timeout=None)
    row(_but(parts.metrics.hear, TaskCompleted), object, name="metrics", priority=LAST, timeout=None)
    _subscribe_notices(bus, parts)
    _subscribe_in_passing(bus, parts)


def subscribe_leftovers(bus: Bus, leftovers: "Leftovers") -> None:
    """Subscribe what gives memory back: after everything else, as the index reads what was kept for it."""
    bus.subscribe(leftovers.changed, FilesChanged, name="files: leftovers", priority=LAST, timeout=None)
    bus.subscribe(leftovers.turn_ended, TurnEnded, name="turn over: leftovers", priority=LAST, timeout=None)


def _subscribe_notices(bus: Bus, parts: DaemonParts) -> None:
    """Subscribe what raises notices, and what brings them to the person."""
    row, notices = bus.subscribe, parts.notices

    row(notices.start, DaemonStarted, name="start: notices", priority=40, timeout=None)
    row(notices.changed, FilesChanged, name="files: notices", priority=25, timeout=None)
    row(notices.tick, Tick, name="tick: notices", priority=25, timeout=None)
    row(parts.deletions.stopped, EditsStopped, name="edits stopped: a notice", timeout=None)
    row(notices.raised, NoticeRaised, name="notices", timeout=None)
    row(parts.alerts.changed, FilesChanged, name="files: alerts", priority=22, timeout=None)
    row(parts.alerts.tick, Tick, name="tick: alerts", priority=22, timeout=None)


def _subscribe_in_passing(bus: Bus, parts: DaemonParts) -> None:
    """Subscribe what nobody waits for: the other machines, patterns with what is suggested after a run, and growth."""
    row, insights = bus.subscribe, parts.insights

    row(parts.contact.tick, Tick, name="tick: other machines", priority=20, timeout=None)
    row(insights.changed, FilesChanged, name="files: patterns", priority=20, timeout=None)
    row(insights.tick, Tick, name="tick: patterns", priority=10, timeout=None)
    row(insights.run_ended, TaskCompleted, name="run over: patterns", timeout=None)
    _subscribe_growth(bus, parts)


def _subscribe_growth(bus: Bus, parts: DaemonParts) -> None:
    """Subscribe what the agent does to itself, by what became of its work."""
    row, reflections, rules = bus.subscribe, parts.reflections, parts.rules

    row(reflections.start, DaemonStarted, name="start: reflections", priority=30, timeout=None)
    row(reflections.changed, FilesChanged, name="files: reflections", priority=15, timeout=None)
    row(reflections.edits_committed, EditsCommitted, name="edits: reflections", timeout=None)
    row(reflections.run_ended, TaskCompleted, name="run over: reflections", timeout=None)
    row(reflections.tick, Tick, name="tick: reflections", priority=5, timeout=None)
    row(parts.experiments.start, DaemonStarted, name="start: variants of skills", priority=10, timeout=None)
    row(parts.experiments.tick, Tick, name="tick: variants of skills", priority=5, timeout=None)
    row(parts.experiments.run_ended, TaskCompleted, name="run over: variants of skills", timeout=None)

    row(rules.start, DaemonStarted, name="start: rules", priority=30, timeout=None)
    row(rules.changed, FilesChanged, name="files: rules", priority=20, timeout=None)
    row(rules.tick, Tick, name="tick: rules", priority=10, timeout=None)
    row(rules.edits_committed, EditsCommitted, name="edits: rules", timeout=None)
    row(rules.run_ended, TaskCompleted, name="run over: rules", timeout=None)
    row(rules.decided, ProposalDecided, name="decided: rules", timeout=None)

    row(parts.curiosity.start, DaemonStarted, name="start: questions", priority=30, timeout=None)
    row(parts.curiosity.changed, FilesChanged, name="files: questions", priority=20, timeout=None)
    row(parts.curiosity.tick, Tick, name="tick: questions", priority=10, timeout=None)


def _subscribe_ends(bus: Bus, parts: DaemonParts) -> None:
    """Subscribe those who wait for the end of a run that goes on after a decision."""
    bus.subscribe(parts.inbox.take_in, Ended, name="run over: inbox", timeout=None)
    bus.subscribe(parts.jobs.take_in, Ended, name="run over: jobs", timeout=None)
    bus.subscribe(parts.messages.take_in, Ended, name="run over: messages", timeout=None)


def _subscribe_messages(bus: Bus, messages: "IncomingMessages") -> None:
    """Subscribe what comes in through messengers."""
    bus.subscribe(messages.start, DaemonStarted, name="start: messages", priority=40, timeout=None)
    bus.subscribe(messages.tick, Tick, name="tick: messages", priority=15, timeout=None)


@dataclass(frozen=True, slots=True)
class RunParts:
    """The event handlers, and their owners, in the runs of one vault. `refresh` may take `refresh_seconds`, and
    `look_ahead` about `look_ahead_seconds`."""

    flush: Callable[[ContextCompact], None]
    refresh: Callable[[IterationStarted], Sequence[Injection]]
    refresh_seconds: float
    skills: ActiveSkills
    rules: GivenRules
    capturing: CaptureWorker
    sum_up: Callable[[SessionEnded], object]
    metrics: Collector
    errors: "RunningErrors"
    look_ahead: Callable[[TaskStarted], Sequence[Injection]]
    look_ahead_seconds: float
    take_notice: Callable[[NoticeRaised], None]


def subscribe_run(bus: Bus, parts: RunParts) -> None:
    """Subscribe the handlers of runs."""
    row, errors = bus.subscribe, parts.errors

    row(parts.flush, ContextCompact, name="flush", priority=100)
    row(parts.rules.refreshed, IterationStarted, name="rules", priority=70)
    row(parts.skills.refreshed, IterationStarted, name="skills", priority=60)
    row(parts.refresh, IterationStarted, name="refresh", priority=50, timeout=parts.refresh_seconds)
    row(errors.started, TaskStarted, name="complaints", priority=40)
    row(parts.look_ahead, TaskStarted, name="what work needs", priority=30, timeout=parts.look_ahead_seconds + TIMEOUT)
    row(errors.failed, ToolCallFailed, name="errors", priority=40)
    row(errors.step, IterationStarted, name="reflection", priority=40, timeout=errors.settings.error_seconds + TIMEOUT)
    row(errors.over, TaskCompleted, name="errors over", priority=40)
    row(parts.capturing.hear, TaskCompleted, name="capture")
    row(parts.take_notice, NoticeRaised, name="notices")
    row(_quiet(parts.sum_up), SessionEnded, name="daily summary", priority=-10)
    row(parts.metrics.hear, object, name="metrics", priority=LAST)


def subscribe_unheard(bus: Bus, parts: RunParts) -> None:
    """Subscribe only what gives a run its texts: nothing remembers the run or follows from it."""
    bus.subscribe(parts.skills.refreshed, IterationStarted, name="skills", priority=60)


def _quiet(work: Callable[[SessionEnded], object]) -> Callable[[SessionEnded], None]:
    """A handler that injects nothing, whatever `work` returns."""

    def handle(event: SessionEnded) -> None:
        work(event)

    return handle


def _but(hear: Callable[[object], None], left_out: type) -> Callable[[object], None]:
    """`hear` for all events but `left_out` (a run is counted by its own process) and the daemon's frequent ones."""

    def handle(event: object) -> None:
        if not isinstance(event, left_out | Tick | TurnEnded | FilesChanged):
            hear(event)

    return handle
