"""Tries variants of skills that work well, once the person has been silent for a while after a run.

Work for the pool: it asks a model, and does past tasks again, so that it stops when the daemon does, and is begun again
after the next run. Which skills may be changed, and how often, is decided by `propose`.
"""

import logging
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import field

from agent.background.failures import failure_of, log_failed_work
from agent.background.pool import Pool, Priority
from agent.clock import Clock
from agent.dataclass import dataclass
from agent.events.runs import TaskCompleted
from agent.events.types import DaemonStarted, Tick
from agent.llm.provider import Cancelled

KEY = "experiments"
STILL = 600.0
"""Seconds after the last run of a person's from which a variant may be proposed: later than what reflects on it."""
PAUSE = 3_600.0
"""Seconds between two looks: a day of many runs needs few."""

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Experiments:
    """The proposer of one vault's daemon. `settled` says whether what people did by hand is recorded; `propose` does
    the work; `tidy` removes what killed processes have left of it."""

    pool: Pool
    clock: Clock
    settled: Callable[[], bool]
    propose: Callable[[Cancelled], object]
    tidy: Callable[[], object]
    problem: str = ""
    _begin_at: float | None = field(default=None, init=False)
    _next_at: float = field(default=0.0, init=False)

    def start(self, _: DaemonStarted) -> None:
        """Remove what is left over."""
        self.tidy()

    def run_ended(self, event: TaskCompleted) -> None:
        """A run has ended: look later whether a skill may be changed. Only marks it, as the daemon waits for this."""
        if not event.job:
            self._begin_at = self.clock.monotonic() + STILL

    def tick(self, event: Tick) -> None:
        """Submit the work when it is due, and what people did by hand is recorded."""
        due = self._begin_at
        if due is None or event.now < max(due, self._next_at) or self.pool.has(KEY) or not self.settled():
            return
        self._begin_at, self._next_at = None, event.now + PAUSE
        future = self.pool.submit(self.propose, key=KEY, priority=Priority.MAINTENANCE)
        future.add_done_callback(self._over)

    def _over(self, future: "Future[object]") -> None:
        error = failure_of(future)
        self.problem = "" if error is None else log_failed_work(logger, "experiments", error)
