"""Timings in milliseconds (`Figure`), and single values with a limit (`Measure`)."""

import os
import time
from collections.abc import Callable, Sequence
from statistics import median

from agent.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """Milliseconds of repeated runs."""

    name: str
    runs: tuple[float, ...]

    @property
    def median(self) -> float:
        return median(self.runs)

    @property
    def p95(self) -> float:
        """The 95th percentile."""
        return sorted(self.runs)[min(len(self.runs) - 1, int(len(self.runs) * 0.95))]

    def document(self) -> dict[str, object]:
        return {"name": self.name, "median_ms": self.median, "p95_ms": self.p95, "runs": len(self.runs)}

    def line(self) -> str:
        return f"{self.name:44} median {self.median:7.1f} ms   p95 {self.p95:7.1f} ms   {len(self.runs)} runs"


def paired(rounds: int, tasks: Sequence[tuple[str, Callable[[int], object]]], warm: int = 2) -> list[Figure]:
    """The times of the tasks, run in turn, so that other load on the machine affects all of them equally."""
    times: list[list[float]] = [[] for _ in tasks]
    for number in range(rounds + warm):
        for slot, (_, task) in zip(times, tasks, strict=True):
            started = time.perf_counter()
            task(number)
            if number >= warm:
                slot.append((time.perf_counter() - started) * 1000)
    return [Figure(name, tuple(slot)) for (name, _), slot in zip(tasks, times, strict=True)]


def as_installed() -> dict[str, str]:
    """The environment for timed programs: Python may keep compiled code, as in an installed program."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


@dataclass(frozen=True, slots=True)
class Measure:
    """One figure in `unit`. Without a limit it is not judged; with `at_least` the limit is a minimum."""

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
        line = f"{self.name:56} {self.value:9.2f} {self.unit:3}"
        if self.limit is None:
            return line.rstrip()
        bound = "at least" if self.at_least else "at most"
        return f"{line} {bound:>8} {self.limit:g}: {'reached' if self.reached else 'NOT reached'}"


def middle_and_tail(figure: Figure, limit: float | None) -> list[Measure]:
    """The median, not judged, and the 95th percentile with its limit; both in milliseconds."""
    return [
        Measure(f"{figure.name}, median of {len(figure.runs)}", figure.median, "ms"),
        Measure(f"{figure.name}, p95", figure.p95, "ms", limit),
    ]


def all_reached(measures: Sequence[Measure]) -> bool:
    """True if every figure is within its limit."""
    return all(each.reached for each in measures)
