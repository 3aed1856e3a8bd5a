"""The collector of metrics: counts events, tools, runs, recalls and memories in one small JSON file per day.

A subscriber to all events: it keeps sums in memory, and adds them to the day's file every 30 seconds and after each
run. A file that cannot be parsed is renamed, and no error here stops the caller. The spend ledger counts the cost of
models.
"""

import json
import logging
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import TypeAlias

from agent.clock import Clock
from agent.config.private import hold, make_folder, replace
from agent.events.bus import Counts, Handled
from agent.events.growth import PatternDetected
from agent.events.notices import NotificationSent, NotificationSuppressed
from agent.events.runs import (
    ContextCompact,
    MemoryCaptured,
    MemoryFlushed,
    MemoryRecalled,
    NodeToolCalled,
    ProfileSelected,
    SessionEnded,
    TaskCompleted,
    ToolCallFailed,
    ToolCompleted,
)
from agent.events.types import DaemonStopped, JobEnded
from agent.metrics.alerts import (
    COMPACTIONS,
    FLUSH_KNOWN,
    FLUSH_SAVED,
    HANDLER_ERRORS,
    NODE_DENIED,
    RecentCount,
    add_recent,
)
from agent.metrics.names import JOBS, SUM, bucket_of, event_name
from agent.metrics.totals import HANDLER, NODE, RECALL, Sums, add_bounded, load_day

FINISHED = "finished"
"""The outcome of a run with an answer."""
Numbers: TypeAlias = Iterator[tuple[str, str, float]]
"""Families, names and what is added to each."""


def numbers_of(event: object) -> Numbers:
    """What an event adds to its day."""
    is_of_job = isinstance(event, TaskCompleted) and event.job
    yield "events", JOBS if is_of_job else event_name(type(event).__name__), 1
    match event:
        case ToolCompleted(tool=tool):
            yield "used", tool, 1
        case ToolCallFailed(tool=tool, denied=denied):
            yield from (("used", tool, 1), ("failed", tool, 1))
            if denied:
                yield "denied", tool, 1
        case TaskCompleted():
            yield from _of_job(event) if is_of_job else _of_run(event)
        case MemoryFlushed(saved=saved, known=known):
            yield from (("sums", "flush_saved", saved), ("sums", "flush_known", known))
        case MemoryRecalled():
            yield from _of_recall(event)
        case MemoryCaptured():
            yield from _of_capture(event)
        case _:
            yield from _of_the_rest(event)


def _of_the_rest(event: object) -> Numbers:
    match event:
        case ProfileSelected(profile=profile):
            yield "profiles", profile, 1
        case NodeToolCalled(tool=tool, status=status, seconds=seconds):
            yield "node_calls", f"{tool} {status}", 1
            yield from duration(f"{NODE}{tool}", seconds)
        case JobEnded(outcome=outcome):
            yield "job_statuses", outcome, 1
        case NotificationSent(channel=channel):
            yield "notices_sent", channel, 1
        case NotificationSuppressed(decision=decision):
            yield "notices_suppressed", decision, 1
        case PatternDetected(kind=kind):
            yield "patterns", kind, 1
        case _:
            pass


def recent_numbers_of(event: object) -> Numbers:
    """What an event adds to the counts that are kept with their time."""
    match event:
        case MemoryFlushed(saved=saved, known=known):
            yield from ((COMPACTIONS, "", 1), (FLUSH_SAVED, "", saved), (FLUSH_KNOWN, "", known))
        case NodeToolCalled(status="denied", permission=permission):
            yield NODE_DENIED, permission, 1
        case _:
            pass


def duration(family: str, seconds: float) -> Numbers:
    """What a duration adds to its family."""
    yield from ((family, bucket_of(seconds), 1), (family, SUM, seconds))


def _of_run(event: TaskCompleted) -> Numbers:
    yield "outcomes", event.outcome, 1
    yield "sums", "input_tokens", event.input_tokens
    yield "sums", "output_tokens", event.output_tokens
    if event.given and event.used is not None and event.outcome == FINISHED:
        yield "sums", "answers_given", 1
        yield "sums", "answers_used", bool(event.used)


def _of_job(event: TaskCompleted) -> Numbers:
    yield "job_outcomes", event.outcome, 1
    yield "sums", "job_input_tokens", event.input_tokens
    yield "sums", "job_output_tokens", event.output_tokens


def _of_recall(event: MemoryRecalled) -> Numbers:
    yield "modes", event.mode, 1
    yield "sums", "recall_hits", bool(event.found)
    yield "sums", "recall_degraded", bool(event.degraded)
    yield from duration(RECALL, event.seconds)


def _of_capture(event: MemoryCaptured) -> Numbers:
    yield "sums", "entries_saved", event.saved - event.superseding
    yield "sums", "entries_superseding", event.superseding
    yield "sums", "entries_known", event.known
    yield "sums", "entries_refused", event.refused
    yield "sums", "capture_problems", bool(event.problem)
    if event.tokens:
        yield "sums", "counted_entries", event.saved
        yield "sums", "entry_tokens", event.tokens


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
