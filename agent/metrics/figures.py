"""The figures that say how well the agent helps by itself, each with its target where it has one.

The targets of memory are those of its plan once summaries are in use: more than 60 % of recalls give something, more
than 40 % of answers use what was given, more than 35 % of what is captured is known already, recalls below 200 ms at
the 95th percentile, entries below 200 tokens on average.
"""

from collections.abc import Iterator
from typing import Literal, TypeAlias

from agent.dataclass import dataclass
from agent.metrics.families import PresentFigures
from agent.metrics.names import RECALLED, SUMMARISED
from agent.metrics.totals import MetricTotals

Unit: TypeAlias = Literal["", "%", "ms"]


@dataclass(frozen=True, slots=True)
class MetricFigure:
    """One figure; `value` is None if nothing was counted that it could be computed from.

    It should be above `least`, or below `most`. `about` names what the value is of.
    """

    name: str
    value: float | None
    unit: Unit = ""
    least: float | None = None
    most: float | None = None
    about: str = ""

    @property
    def status(self) -> Literal["ok", "below", "above", ""]:
        """Where the value is, compared with the target; empty without a value or target."""
        if self.value is None:
            return ""
        if self.least is not None:
            return "ok" if self.value > self.least else "below"
        if self.most is not None:
            return "ok" if self.value < self.most else "above"
        return ""


def figures(totals: MetricTotals, present: PresentFigures) -> Iterator[MetricFigure]:
    """The figures of what was counted, and of how things are now, in the order in which they are shown."""
    recalls = totals.events.get(RECALLED)
    new = _sum(totals.entries_saved, totals.entries_superseding)
    again = totals.entries_known
    handlers = ((each.quantile(0.95) or 0.0, name) for name, each in totals.handlers.items())
    slowest, handler = max(handlers, default=(None, ""))
    denied = sum(totals.denied.values()) if totals.used else None
    yield MetricFigure("recalls", recalls)
    yield MetricFigure("  that gave something", _share(totals.recall_hits, recalls), "%", least=60)
    yield MetricFigure("  used by the answer", _share(totals.answers_used, totals.answers_given), "%", least=40)
    yield MetricFigure("  in a reduced mode", totals.recall_degraded)
    yield MetricFigure("  time, median", _milliseconds(totals.recall.quantile(0.5)), "ms")
    yield MetricFigure("  time, 95th percentile", _milliseconds(totals.recall.quantile(0.95)), "ms", most=200)
    yield MetricFigure("entries captured", new)
    yield MetricFigure("  replacing an older one", totals.entries_superseding)
    yield MetricFigure("  tokens each", _ratio(totals.entry_tokens, totals.counted_entries), most=200)
    yield MetricFigure("known already", again)
    yield MetricFigure("  share of both", _share(again, _sum(new, again)), "%", least=35)
    yield MetricFigure("refused", totals.entries_refused)
    yield MetricFigure("saved before a compaction", totals.flush_saved)
    yield MetricFigure("daily summaries", totals.events.get(SUMMARISED))
    yield MetricFigure("long-term facts", present.facts)
    yield MetricFigure("calls denied by the policy", denied)
    yield MetricFigure("slowest hook, 95th percentile", _milliseconds(slowest), "ms", about=handler)
    yield MetricFigure("patterns found", sum(totals.patterns.values()) if totals.events else None)
    yield MetricFigure("  you found helpful", present.patterns_helpful)
    yield MetricFigure("  you did not find helpful", present.patterns_not_helpful)


def _sum(*numbers: float | None) -> float | None:
    """The sum of the known numbers; None if none is known."""
    known = [each for each in numbers if each is not None]
    return sum(known) if known else None


def _ratio(part: float | None, whole: float | None) -> float | None:
    return part / whole if part is not None and whole else None


def _share(part: float | None, whole: float | None) -> float | None:
    found = _ratio(part, whole)
    return None if found is None else 100 * found


def _milliseconds(seconds: float | None) -> float | None:
    return None if seconds is None else 1_000 * seconds
