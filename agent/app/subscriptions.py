"""The table of event handlers in runs; the handlers are defined in other packages.

A handler with a higher priority is called earlier.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from agent.dataclass import dataclass
from agent.events.bus import Bus
from agent.events.notices import NoticeRaised
from agent.events.runs import ContextCompact, IterationStarted, SessionEnded, TaskCompleted, TaskStarted, ToolCallFailed
from agent.events.subscriber import TIMEOUT, Injection
from agent.growth.rules.given_rules import GivenRules
from agent.memory.capture.writer import CaptureWorker
from agent.metrics.collect import Collector
from agent.runs.active_skills import ActiveSkills

if TYPE_CHECKING:
    from agent.growth.reflections.running import RunningErrors


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
    row(errors.step, IterationStarted, name="reflection", priority=40)
    row(errors.over, TaskCompleted, name="errors over", priority=40)
    row(parts.capturing.hear, TaskCompleted, name="capture")
    row(parts.take_notice, NoticeRaised, name="notices")
    row(_quiet(parts.sum_up), SessionEnded, name="daily summary", priority=-10)
    row(parts.metrics.hear, object, name="metrics", priority=-100)


def _quiet(work: Callable[[SessionEnded], object]) -> Callable[[SessionEnded], None]:
    """A handler that injects nothing, whatever `work` returns."""

    def handle(event: SessionEnded) -> None:
        work(event)

    return handle
