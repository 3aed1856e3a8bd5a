"""Timings as figures: milliseconds, with the spread that a noisy machine gives them."""

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median


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
        """The value that 95 % of the runs stay within."""
        return sorted(self.runs)[min(len(self.runs) - 1, int(len(self.runs) * 0.95))]

    def document(self) -> dict[str, object]:
        return {"name": self.name, "median_ms": self.median, "p95_ms": self.p95, "runs": len(self.runs)}

    def line(self) -> str:
        return f"{self.name:44} median {self.median:7.1f} ms   p95 {self.p95:7.1f} ms   {len(self.runs)} runs"


def paired(rounds: int, tasks: Sequence[tuple[str, Callable[[int], object]]], warm: int = 2) -> list[Figure]:
    """Run the tasks in turn, so that a busy moment of the machine falls on all of them alike."""
    times: list[list[float]] = [[] for _ in tasks]
    for number in range(rounds + warm):
        for slot, (_, task) in zip(times, tasks, strict=True):
            started = time.perf_counter()
            task(number)
            if number >= warm:
                slot.append((time.perf_counter() - started) * 1000)
    return [Figure(name, tuple(slot)) for (name, _), slot in zip(tasks, times, strict=True)]


def as_installed() -> dict[str, str]:
    """The environment for programs that are timed: compiled code is kept, as it is where a program is installed."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
