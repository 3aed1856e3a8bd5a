"""What happened, counted: events by kind, tools, runs, flushes; one small JSON file a day.

A subscriber like any other: it counts what it hears, keeps the sums in memory, and adds them to the day's file from
time to time and whenever a run ends. Figures are a help and not a record: a file that cannot be read is set aside,
and whatever goes wrong here stops nobody. What things cost is the spend ledger's business.
"""

import json
import logging
import math
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import TypeAlias

from agent.clock import Clock
from agent.config.lock import hold
from agent.events.runs import (
    ContextCompact,
    ContextRefreshed,
    IterationStarted,
    MemoryCaptured,
    MemoryFlushed,
    MemoryRecalled,
    SessionEnded,
    SessionStarted,
    TaskCompleted,
    TaskStarted,
    ToolCompleted,
    ToolFailed,
)
from agent.events.subscriber import Counts
from agent.events.types import (
    DaemonStarted,
    DaemonStopped,
    FileChanged,
    IndexUpdated,
    NoteCreated,
    NoteDeleted,
    NoteEdited,
    NoteMoved,
    ScanFinished,
)

INTERVAL = 30.0
"""Seconds between two writes while nothing ends: what a kill may cost, against a write for every event."""

NAMES: Mapping[type, str] = {
    TaskStarted: "task.started",
    TaskCompleted: "task.completed",
    IterationStarted: "iteration.started",
    ToolCompleted: "tool.completed",
    ToolFailed: "tool.failed",
    SessionStarted: "session.started",
    SessionEnded: "session.ended",
    ContextCompact: "context.compact",
    MemoryFlushed: "memory.flush",
    MemoryRecalled: "proactive.memory.recalled",
    MemoryCaptured: "proactive.memory.captured",
    ContextRefreshed: "proactive.context.refresh",
    NoteCreated: "note.created",
    NoteEdited: "note.edited",
    NoteMoved: "note.moved",
    NoteDeleted: "note.deleted",
    FileChanged: "file.changed",
    ScanFinished: "scan.finished",
    IndexUpdated: "index.updated",
    DaemonStarted: "daemon.started",
    DaemonStopped: "daemon.stopped",
}
"""What events are called in the figures; any other by its type's name."""
_ENDINGS = (TaskCompleted, ContextCompact, MemoryFlushed, SessionEnded, DaemonStopped)
"""After these the figures are written at once."""
_PATIENCE = 0.2
"""Seconds that are waited while another process writes; its turn takes about a millisecond."""

Sums: TypeAlias = dict[str, dict[str, float]]
"""Figures by family (`events`, `used`, …), then by name."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Totals:
    """Figures of some days added up. `events` by kind; `used` and `failed` by tool; `outcomes` of runs by their word;
    `handler_errors` by subscriber. Times in seconds. `unreadable` counts the files that are not in it.
    """

    events: Mapping[str, float] = field(default_factory=dict)
    used: Mapping[str, float] = field(default_factory=dict)
    failed: Mapping[str, float] = field(default_factory=dict)
    outcomes: Mapping[str, float] = field(default_factory=dict)
    handler_errors: Mapping[str, float] = field(default_factory=dict)
    tool_seconds: float = 0.0
    run_seconds: float = 0.0
    steps: float = 0
    input_tokens: float = 0
    output_tokens: float = 0
    flush_saved: float = 0
    flush_known: float = 0
    unreadable: int = 0


_FAMILIES = ("events", "used", "failed", "outcomes", "handler_errors")


class Collector:
    """Counts what it hears into `folder`. `counts` gives what became of the bus's subscribers, where there is a bus."""

    def __init__(self, folder: Path, clock: Clock, counts: Callable[[], Mapping[str, Counts]] | None = None) -> None:
        self._folder = folder
        self._clock = clock
        self._counts = counts
        self._errors: Counter[str] = Counter()
        self._pending: dict[date, Sums] = {}
        self._written = clock.monotonic()
        self._mutex = threading.Lock()

    def hear(self, event: object) -> None:
        """Count an event; to be subscribed to `object`, last of all."""
        with self._mutex:
            sums = self._pending.setdefault(self._clock.now().date(), {})
            for family, name, number in _figures(event):
                _plus(sums, family, name, number)
        if isinstance(event, _ENDINGS) or self._clock.monotonic() - self._written >= INTERVAL:
            self.save()

    def save(self) -> bool:
        """Add what was counted since the last time to the days' files; False when that has to wait."""
        with self._mutex:
            self._count_errors()
            self._written = self._clock.monotonic()
            try:
                self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
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
                _plus(sums, "handler_errors", name, number)


def read(folder: Path, since: date | None = None) -> Totals:
    """The figures of all days, or of those from `since` on; what cannot be read is counted and left out."""
    sums: Sums = {}
    unreadable = 0
    for path in sorted(folder.glob("*.json*")):
        if since and path.name[:10] < since.isoformat():
            continue
        found = _load(path) if path.suffix == ".json" else None
        unreadable += found is None
        for family, figures in (found or {}).items():
            for name, number in figures.items():
                _plus(sums, family, name, number)
    families = {family: dict(sums.get(family, {})) for family in _FAMILIES}
    single = defaultdict(float, sums.get("sums", {}))
    return Totals(
        **families,
        tool_seconds=single["tool_seconds"],
        run_seconds=single["run_seconds"],
        steps=single["steps"],
        input_tokens=single["input_tokens"],
        output_tokens=single["output_tokens"],
        flush_saved=single["flush_saved"],
        flush_known=single["flush_known"],
        unreadable=unreadable,
    )


def _figures(event: object) -> Iterator[tuple[str, str, float]]:
    yield "events", NAMES.get(type(event), type(event).__name__), 1
    match event:
        case ToolCompleted(tool=tool, seconds=seconds):
            yield from (("used", tool, 1), ("sums", "tool_seconds", seconds))
        case ToolFailed(tool=tool, seconds=seconds):
            yield from (("used", tool, 1), ("failed", tool, 1), ("sums", "tool_seconds", seconds))
        case TaskCompleted():
            yield "outcomes", event.outcome, 1
            yield "sums", "run_seconds", event.seconds
            yield "sums", "steps", event.steps
            yield "sums", "input_tokens", event.input_tokens
            yield "sums", "output_tokens", event.output_tokens
        case MemoryFlushed(saved=saved, known=known):
            yield from (("sums", "flush_saved", saved), ("sums", "flush_known", known))


def _plus(sums: Sums, family: str, name: str, number: float) -> None:
    figures = sums.setdefault(family, {})
    figures[name] = figures.get(name, 0) + number


def _add(path: Path, sums: Sums) -> None:
    """Add to a day's file, which is whole at every moment."""
    before = _load(path)
    if before is None:
        damaged = path.with_name(f"{path.name}.damaged")
        logger.warning("the figures in %s cannot be read; they are now in %s", path, damaged.name)
        path.replace(damaged)
    together = before or {}
    for family, figures in sums.items():
        for name, number in figures.items():
            _plus(together, family, name, number)
    draft = path.with_name(f".{path.name}.new")
    draft.write_text(json.dumps(together, ensure_ascii=False, indent=1, sort_keys=True), "utf-8", "replace")
    draft.replace(path)


def _load(path: Path) -> Sums | None:
    """A day's figures, empty where there is no file; None where it holds something else."""
    try:
        said = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (ValueError, RecursionError, OSError):
        return None
    if not isinstance(said, dict) or not all(isinstance(figures, dict) for figures in said.values()):
        return None
    if not all(_is_number(number) for figures in said.values() for number in figures.values()):
        return None
    return {str(family): dict(figures) for family, figures in said.items()}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
