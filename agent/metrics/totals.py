"""The metrics on disk, one small JSON file per day, and their totals.

Separate from `collect`, which writes them, so that a command that only reads them (`status`) does not import the event
types, which take 15 ms of a cold start.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import field
from datetime import date
from pathlib import Path
from typing import TypeAlias

from agent.dataclass import dataclass
from agent.json_value import parse_json
from agent.metrics.names import Durations, event_name, parse_durations

Sums: TypeAlias = dict[str, dict[str, float]]
"""Metrics by family (`events`, `used`, …), then by name."""
RECALL = "recall_seconds"
HANDLER, NODE = "handler_seconds ", "node_seconds "
"""The family of the durations of a handler, or of a tool of the node host, is this with its name."""
MOST_NAMES = 100
"""The most names of a family in a day: a model can invent any number of tools, and a day's file stays small."""
LONGEST_NAME = 80
"""The most characters of a name."""
OTHERS = "(others)"


@dataclass(frozen=True, slots=True)
class MetricTotals:
    """The metrics of some days in total. A number is None if nothing was counted for it.

    By name: `events` by type, `used`, `failed` and `denied` (by the policy) calls by tool, `outcomes` of runs by word
    (of those that people asked for; for those of jobs there are `job_outcomes`, `job_input_tokens` and
    `job_output_tokens`), `modes` of recalls, `injected` texts by type, `handler_errors` and `handlers` (durations) by
    subscriber.
    Recall: its durations, `recall_hits` with a result, `recall_degraded` in a reduced mode; `answers_given` finished
    runs that were given notes and whose use of them is known, `answers_used` those whose answer used one.
    Capture: `entries_*` by what became of them (`saved` without the superseding ones),
    `counted_entries` and `entry_tokens` of the new ones, `capture_problems` runs from which nothing could be saved.
    By itself: `profiles` of the policy by name, `node_calls` of the node host's tools by tool and status ("clipboard
    ok") with their `node_seconds`, runs of jobs by their status in `job_statuses`, `notices_sent` by channel and
    `notices_suppressed` by what was decided, `patterns` by kind.
    `unreadable` is the number of files left out.
    """

    events: Mapping[str, float] = field(default_factory=dict)
    used: Mapping[str, float] = field(default_factory=dict)
    failed: Mapping[str, float] = field(default_factory=dict)
    denied: Mapping[str, float] = field(default_factory=dict)
    outcomes: Mapping[str, float] = field(default_factory=dict)
    job_outcomes: Mapping[str, float] = field(default_factory=dict)
    modes: Mapping[str, float] = field(default_factory=dict)
    injected: Mapping[str, float] = field(default_factory=dict)
    handler_errors: Mapping[str, float] = field(default_factory=dict)
    handlers: Mapping[str, Durations] = field(default_factory=dict)
    profiles: Mapping[str, float] = field(default_factory=dict)
    node_calls: Mapping[str, float] = field(default_factory=dict)
    node_seconds: Mapping[str, Durations] = field(default_factory=dict)
    job_statuses: Mapping[str, float] = field(default_factory=dict)
    notices_sent: Mapping[str, float] = field(default_factory=dict)
    notices_suppressed: Mapping[str, float] = field(default_factory=dict)
    patterns: Mapping[str, float] = field(default_factory=dict)
    recall: Durations = Durations()
    recall_hits: float | None = None
    recall_degraded: float | None = None
    answers_given: float | None = None
    answers_used: float | None = None
    entries_saved: float | None = None
    entries_superseding: float | None = None
    entries_known: float | None = None
    entries_refused: float | None = None
    counted_entries: float | None = None
    entry_tokens: float | None = None
    capture_problems: float | None = None
    flush_saved: float | None = None
    flush_known: float | None = None
    input_tokens: float | None = None
    output_tokens: float | None = None
    job_input_tokens: float | None = None
    job_output_tokens: float | None = None
    unreadable: int = 0


_FAMILIES = (
    *("events", "used", "failed", "denied", "outcomes", "job_outcomes", "modes", "injected", "handler_errors"),
    *("profiles", "node_calls", "job_statuses", "notices_sent", "notices_suppressed", "patterns"),
)
_OTHER_FIELDS = ("handlers", "node_seconds", "recall", "unreadable")
_SUMS = tuple(name for name in MetricTotals.__annotations__ if name not in (*_FAMILIES, *_OTHER_FIELDS))


def load_totals(folder: Path, since: date | None = None) -> MetricTotals:
    """The metrics of all days, or from `since` on; a file that cannot be parsed is counted and left out."""
    sums: Sums = {}
    unreadable = 0
    for _, found in _days(folder, since):
        unreadable += found is None
        for family, figures in (found or {}).items():
            for name, number in figures.items():
                add_figure(sums, family, name, number)
    return _totals(sums, unreadable)


def load_days(folder: Path, since: date) -> Mapping[date, MetricTotals]:
    """The metrics of each day from `since` on, the oldest first; without days on which nothing was counted."""
    found: dict[date, MetricTotals] = {}
    for name, sums in _days(folder, since):
        try:
            day = date.fromisoformat(name[:10])
        except ValueError:
            continue
        if sums is not None:
            found[day] = _totals(sums, 0)
    return found


def first_day(folder: Path) -> date | None:
    """The first day of which something is counted; None without one."""
    for name, _ in _days(folder, None):
        try:
            return date.fromisoformat(name[:10])
        except ValueError:
            continue
    return None


def _days(folder: Path, since: date | None) -> Iterator[tuple[str, Sums | None]]:
    """The name and the metrics of each day's file, in order; None for one that cannot be parsed."""
    for path in sorted(folder.glob("*.json*")):
        if not path.name.startswith(".") and (since is None or path.name[:10] >= since.isoformat()):
            found = load_day(path) if path.suffix == ".json" else None
            yield path.name, found if found is None else _with_present_names(found)


def _with_present_names(sums: Sums) -> Sums:
    """A day's metrics with the events under the names that they have now."""
    renamed: Sums = {"events": {}}
    for name, number in sums.get("events", {}).items():
        add_figure(renamed, "events", event_name(name), number)
    return {**sums, **renamed}


def _totals(sums: Sums, unreadable: int) -> MetricTotals:
    counts: dict[str, Mapping[str, float]] = {family: dict(sums.get(family, {})) for family in _FAMILIES}
    single = sums.get("sums", {})
    numbers: dict[str, float | None] = {name: single.get(name) for name in _SUMS}
    durations = {"handlers": _durations(sums, HANDLER), "node_seconds": _durations(sums, NODE)}
    recall = parse_durations(sums.get(RECALL, {}))
    return MetricTotals(**counts, **numbers, **durations, recall=recall, unreadable=unreadable)  # type: ignore[arg-type]  # each by its name


def _durations(sums: Sums, start: str) -> Mapping[str, Durations]:
    """The durations whose family begins so, by the rest of its name."""
    return {
        family.removeprefix(start): parse_durations(figures)
        for family, figures in sorted(sums.items())
        if family.startswith(start)
    }


def add_figure(sums: Sums, family: str, name: str, number: float) -> None:
    """Add a number to one metric."""
    figures = sums.setdefault(family, {})
    figures[name] = figures.get(name, 0) + number


def add_bounded(sums: Sums, family: str, name: str, number: float) -> None:
    """Add a number to one metric of a day; a name above `MOST_NAMES` is counted with the others."""
    figures = sums.get(family, {})
    if name in figures:  # of ten numbers in a second nearly all
        figures[name] += number
        return
    name = name[:LONGEST_NAME]
    is_known = name in figures or len(figures) < MOST_NAMES
    add_figure(sums, family, name if is_known else OTHERS, number)


def load_day(path: Path) -> Sums | None:
    """A day's metrics, empty for no file; None for a file that cannot be read or parsed."""
    try:
        sums = parse_json(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (ValueError, RecursionError, OSError):
        return None
    if not isinstance(sums, dict) or not all(isinstance(figures, dict) for figures in sums.values()):
        return None
    if not all(_is_number(number) for figures in sums.values() for number in figures.values()):
        return None
    return {str(family): dict(figures) for family, figures in sums.items()}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
