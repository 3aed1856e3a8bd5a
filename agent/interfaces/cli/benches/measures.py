"""A figure with the limit that it has to keep: what the longer benchmarks print, one a line."""

from collections.abc import Sequence
from dataclasses import dataclass

from agent.interfaces.cli.benches.figures import Figure


@dataclass(frozen=True, slots=True)
class Measure:
    """One figure in `unit`. Without a limit it is told and not judged; `at_least` turns the limit into a floor."""

    name: str
    value: float
    unit: str
    limit: float | None = None
    at_least: bool = False

    @property
    def reached(self) -> bool:
        if self.limit is None:
            return True
        return self.value >= self.limit if self.at_least else self.value <= self.limit

    def document(self) -> dict[str, object]:
        limit = {"limit": self.limit, "limit_is": "least" if self.at_least else "most", "reached": self.reached}
        return {"name": self.name, "value": self.value, "unit": self.unit, **(limit if self.limit is not None else {})}

    def line(self) -> str:
        shown = f"{self.name:56} {self.value:9.2f} {self.unit:3}"
        if self.limit is None:
            return shown.rstrip()
        bound = "at least" if self.at_least else "at most"
        return f"{shown} {bound:>8} {self.limit:g}: {'reached' if self.reached else 'NOT reached'}"


def middle_and_tail(figure: Figure, limit: float | None) -> list[Measure]:
    """The median, told, and the 95th percentile, judged; milliseconds."""
    return [
        Measure(f"{figure.name}, median of {len(figure.runs)}", figure.median, "ms"),
        Measure(f"{figure.name}, p95", figure.p95, "ms", limit),
    ]


def all_reached(measures: Sequence[Measure]) -> bool:
    """Whether every figure keeps its limit."""
    return all(each.reached for each in measures)
