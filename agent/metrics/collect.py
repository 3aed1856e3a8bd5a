"""The collector of metrics: counts events, tools, runs, recalls and memories in one small JSON file per day.

A subscriber to all events: it keeps sums in memory, and adds them to the day's file every 30 seconds and after each
run. A file that cannot be parsed is renamed, and no error here stops the caller. The spend ledger counts the cost of
models. What is counted of an event is in `counted`.
"""

import json
import logging
import threading
from collections import Counter, deque
from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path

from agent.clock import Clock
from agent.config.lock import hold
from agent.config.private import make_folder, replace
from agent.events.runs import (
    ContextCompact,
    MemoryCaptured,
    MemoryFlushed,
    NodeToolCalled,
    SessionEnded,
    TaskCompleted,
)
from agent.events.subscriber import Counts, Handled
from agent.events.types import DaemonStopped, JobEnded
from agent.metrics.counted import duration, numbers_of, recent_numbers_of
from agent.metrics.recent import HANDLER_ERRORS, RecentCount, add_recent
from agent.metrics.totals import HANDLER, Sums, add_bounded, load_day

INTERVAL = 30.0
"""Seconds between two writes during a run: the most that a kill loses, without a write for every event."""

_ENDINGS = (
    TaskCompleted,
    MemoryCaptured,
    ContextCompact,
    MemoryFlushed,
    NodeToolCalled,
    JobEnded,
    SessionEnded,
    DaemonStopped,
)
"""The metrics are written at once after these; a capture follows its run, and is often the last event."""
_PATIENCE = 0.2
"""The maximum wait in seconds while another process writes; a write takes about a millisecond."""
_CALLS = 1_000
"""The most calls of handlers that wait to be counted: the turns of half a minute at rest."""

logger = logging.getLogger(__name__)


class Collector:
    """Counts events into `folder`. `counts` returns the counts of the bus's subscribers; None without a bus."""

    def __init__(self, folder: Path, clock: Clock, counts: Callable[[], Mapping[str, Counts]] | None = None) -> None:
        self._folder = folder
        self._clock = clock
        self._counts = counts
        self._errors: Counter[str] = Counter()
        self._pending: dict[date, Sums] = {}
        self._recent: list[RecentCount] = []
        self._written = clock.monotonic()
        self._calls: deque[Handled] = deque()
        self._day, self._day_until = clock.now().date(), self._written
        self._mutex = threading.Lock()

    def hear(self, event: object) -> None:
        """Count an event. Subscribe it to `object`, after all other subscribers."""
        with self._mutex:
            now = self._clock.now()
            sums = self._pending.setdefault(now.date(), {})
            for family, name, number in numbers_of(event):
                add_bounded(sums, family, name, number)
            self._recent += (RecentCount(now, *each) for each in recent_numbers_of(event) if each[2])
        if isinstance(event, _ENDINGS) or self._clock.monotonic() - self._written >= INTERVAL:
            self.save()

    def handled(self, call: Handled) -> None:
        """Count a call of a handler and what it injected: the observer of a bus.

        Calls are counted many at a time, as a turn makes dozens of them: with the next save at the latest.
        """
        now = self._clock.monotonic()
        if now >= self._day_until or len(self._calls) >= _CALLS:
            with self._mutex:
                day, self._day_until = self._clock.now().date(), now + 1.0
                if day != self._day or len(self._calls) >= _CALLS:
                    self._count_calls()
                self._day = day
        self._calls.append(call)

    def _count_calls(self) -> None:
        if not self._calls:
            return
        sums = self._pending.setdefault(self._day, {})
        while self._calls:
            call = self._calls.popleft()
            for family, name, number in duration(f"{HANDLER}{call.subscriber}", call.seconds):
                add_bounded(sums, family, name, number)
            for each in call.injections:
                add_bounded(sums, "injected", each.type.value, 1)

    def save(self) -> bool:
        """Add the new sums to the days' files; False when they could not be written and are kept for the next save."""
        with self._mutex:
            self._count_errors()
            self._count_calls()
            self._written = self._clock.monotonic()
            if not self._pending and not self._recent:
                return True
            try:
                make_folder(self._folder)
                with hold(self._folder / "lock", self._clock, _PATIENCE) as held:
                    while held is not None and self._pending:
                        day = min(self._pending)
                        _add(self._folder / f"{day.isoformat()}.json", self._pending[day])
                        del self._pending[day]
                    if held is not None and self._recent:
                        add_recent(self._folder, self._recent, self._clock.now())
                        self._recent = []
            except OSError as error:
                logger.warning("figures cannot be written to %s: %s", self._folder, error)
            return not self._pending

    def _count_errors(self) -> None:
        if self._counts is None:
            return
        now = Counter({name: each.failed + each.late for name, each in self._counts().items()})
        fresh, self._errors = now - self._errors, now
        if fresh:
            at = self._clock.now()
            sums = self._pending.setdefault(at.date(), {})
            for name, number in fresh.items():
                add_bounded(sums, "handler_errors", name, number)
            self._recent += (RecentCount(at, HANDLER_ERRORS, name, number) for name, number in fresh.items())


def _add(path: Path, sums: Sums) -> None:
    """Add sums to a day's file, by an atomic replacement."""
    before = load_day(path)
    if before is None:
        damaged = path.with_name(f"{path.name}.damaged")
        logger.warning("the figures in %s cannot be read; they are now in %s", path, damaged.name)
        path.replace(damaged)
    together = before or {}
    for family, figures in sums.items():
        for name, number in figures.items():
            add_bounded(together, family, name, number)
    replace(path, json.dumps(together, ensure_ascii=False, indent=1, sort_keys=True))
