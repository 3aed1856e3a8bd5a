"""The metrics on disk, one small JSON file per day, and their totals.

Separate from `collect`, which writes them, so that a command that only reads them (`status`) does not import the event
types, which take 15 ms of a cold start.
"""

import json
import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import date
from pathlib import Path
from typing import TypeAlias

from agent.metrics.names import event_name

Sums: TypeAlias = dict[str, dict[str, float]]
"""Metrics by family (`events`, `used`, …), then by name."""


@dataclass(frozen=True, slots=True)
class MetricTotals:
    """The metrics of some days in total. `events` by type; `used` and `failed` by tool; `outcomes` of runs by word;
    `handler_errors` by subscriber. Times in seconds. `recall_hits` is the number of recalls with a result,
    `capture_problems` of runs from which nothing could be saved, `unreadable` of files left out.
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
    recall_hits: float = 0
    capture_problems: float = 0
    unreadable: int = 0


_FAMILIES = ("events", "used", "failed", "outcomes", "handler_errors")
_SUMS = tuple(each.name for each in fields(MetricTotals) if each.name not in (*_FAMILIES, "unreadable"))


def load_totals(folder: Path, since: date | None = None) -> MetricTotals:
    """The metrics of all days, or from `since` on; a file that cannot be parsed is counted and left out."""
    sums: Sums = {}
    unreadable = 0
    for path in sorted(folder.glob("*.json*")):
        if path.name.startswith(".") or (since and path.name[:10] < since.isoformat()):
            continue
        found = load_day(path) if path.suffix == ".json" else None
        unreadable += found is None
        for family, figures in (found or {}).items():
            for name, number in figures.items():
                add_figure(sums, family, event_name(name) if family == "events" else name, number)
    families = {family: dict(sums.get(family, {})) for family in _FAMILIES}
    single = defaultdict(float, sums.get("sums", {}))
    numbers = {name: single[name] for name in _SUMS}
    return MetricTotals(**families, **numbers, unreadable=unreadable)  # type: ignore[arg-type]  # each by its name


def add_figure(sums: Sums, family: str, name: str, number: float) -> None:
    """Add a number to one metric."""
    figures = sums.setdefault(family, {})
    figures[name] = figures.get(name, 0) + number


def load_day(path: Path) -> Sums | None:
    """A day's metrics, empty for no file; None for a file that cannot be read or parsed."""
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
