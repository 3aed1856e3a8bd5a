"""The collector of metrics: counts events by type, tools, runs and flushes in one small JSON file per day.

A subscriber to all events: it keeps sums in memory, and adds them to the day's file every 30 seconds and after each
run. A file that cannot be parsed is renamed, and no error here stops the caller. The spend ledger counts the cost of
models.
"""

import json
import logging
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from pathlib import Path

from agent.clock import Clock
from agent.config.lock import hold
from agent.config.private import make_folder, replace
from agent.events.runs import (
    ContextCompact,
    MemoryCaptured,
    MemoryFlushed,
    MemoryRecalled,
    SessionEnded,
    TaskCompleted,
    ToolCallFailed,
    ToolCompleted,
)
from agent.events.subscriber import Counts
from agent.events.types import DaemonStopped
from agent.metrics.names import event_name
from agent.metrics.totals import Sums, add_figure, load_day

INTERVAL = 30.0
"""Seconds between two writes during a run: the most that a kill loses, without a write for every event."""

_ENDINGS = (TaskCompleted, MemoryCaptured, ContextCompact, MemoryFlushed, SessionEnded, DaemonStopped)
"""The metrics are written at once after these; a capture follows its run, and is often the last event."""
_PATIENCE = 0.2
"""The maximum wait in seconds while another process writes; a write takes about a millisecond."""

logger = logging.getLogger(__name__)


class Collector:
    """Counts events into `folder`. `counts` returns the counts of the bus's subscribers; None without a bus."""

    def __init__(self, folder: Path, clock: Clock, counts: Callable[[], Mapping[str, Counts]] | None = None) -> None:
        self._folder = folder
        self._clock = clock
        self._counts = counts
        self._errors: Counter[str] = Counter()
        self._pending: dict[date, Sums] = {}
        self._written = clock.monotonic()
        self._mutex = threading.Lock()

    def hear(self, event: object) -> None:
        """Count an event. Subscribe it to `object`, after all other subscribers."""
        with self._mutex:
            sums = self._pending.setdefault(self._clock.now().date(), {})
            for family, name, number in _figures(event):
                add_figure(sums, family, name, number)
        if isinstance(event, _ENDINGS) or self._clock.monotonic() - self._written >= INTERVAL:
            self.save()

    def save(self) -> bool:
        """Add the new sums to the days' files; False when they could not be written and are kept for the next save."""
        with self._mutex:
            self._count_errors()
            self._written = self._clock.monotonic()
            try:
                make_folder(self._folder)
                with hold(self._folder / "lock", self._clock, _PATIENCE) as held:
                    while held is not None and self._pending:
                        day = min(self._pending)
                        _add(self._folder / f"{day.isoformat()}.json", self._pending[day])
                        del self._pending[day]
            except OSError as error:
                logger.warning("figures cannot be written to %s: %s", self._folder, error)
            return not self._pending

    def _count_errors(self) -> None:
        if self._counts is None:
            return
        now = Counter({name: each.failed + each.late for name, each in self._counts().items()})
        fresh, self._errors = now - self._errors, now
        if fresh:
            sums = self._pending.setdefault(self._clock.now().date(), {})
            for name, number in fresh.items():
                add_figure(sums, "handler_errors", name, number)


def _figures(event: object) -> Iterator[tuple[str, str, float]]:
    yield "events", event_name(type(event).__name__), 1
    match event:
        case ToolCompleted(tool=tool, seconds=seconds):
            yield from (("used", tool, 1), ("sums", "tool_seconds", seconds))
        case ToolCallFailed(tool=tool, seconds=seconds):
            yield from (("used", tool, 1), ("failed", tool, 1), ("sums", "tool_seconds", seconds))
        case TaskCompleted():
            yield "outcomes", event.outcome, 1
            yield "sums", "run_seconds", event.seconds
            yield "sums", "steps", event.steps
            yield "sums", "input_tokens", event.input_tokens
            yield "sums", "output_tokens", event.output_tokens
        case MemoryFlushed(saved=saved, known=known):
            yield from (("sums", "flush_saved", saved), ("sums", "flush_known", known))
        case MemoryRecalled(found=found) if found:
            yield "sums", "recall_hits", 1
        case MemoryCaptured(problem=problem) if problem:
            yield "sums", "capture_problems", 1


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
            add_figure(together, family, name, number)
    replace(path, json.dumps(together, ensure_ascii=False, indent=1, sort_keys=True))
