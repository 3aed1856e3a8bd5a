"""Finds sequences of tools that occur in many traces more often than by chance. Pure.

The most significant sequence is found first, its uses are removed from the traces, and the rest is searched again, so
that a part of a workflow, or a workflow with one accidental step, is not found as a separate one.

A workflow trace has the tools of a finished run, in order.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import TypeAlias

from agent.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class TraceStep:
    """One use of a tool; `about` is its subject in a few words, empty if unknown."""

    tool: str
    about: str = ""
    failed: bool = False


@dataclass(frozen=True, slots=True)
class WorkflowTrace:
    """The steps of one run for one `task`. `path` is that of its session; `seconds` is 0 if unknown."""

    run: str
    task: str
    steps: tuple[TraceStep, ...]
    succeeded: bool = True
    seconds: float = 0.0
    path: str = ""
    created: datetime | None = None

    @property
    def tools(self) -> tuple[str, ...]:
        """The tools of the successful steps, in order; repeated uses of a tool in a row count once."""
        worked = [step.tool for step in self.steps if not step.failed]
        return tuple(tool for number, tool in enumerate(worked) if number == 0 or tool != worked[number - 1])


LONGEST = 8
"""The most steps of a workflow; of a longer one, this many are found."""
LEAST_STEPS = 2
CHANCE = 0.05
"""A sequence with a higher probability under chance, over all candidates, is dropped."""
MOST_CANDIDATES = 300
"""The most sequences of one length that are extended, most frequent first: limits the time."""
MOST_FOUND = 20
PLACES = 2
"""The places of an accidental step: before or after the sequence."""

ToolSequence: TypeAlias = tuple[str, ...]
_Trace: TypeAlias = Sequence[str | None]
"""The tools of a run; None where a use was removed."""
_Ends: TypeAlias = Mapping[int, set[int]]
"""By trace number: the places where a sequence ends."""


@dataclass(frozen=True, slots=True)
class Workflow:
    """A sequence of tools, and the numbers of the traces that have it."""

    tools: ToolSequence
    traces: tuple[int, ...]


def contains(longer: Sequence[str], shorter: Sequence[str]) -> bool:
    """True if `shorter` is in `longer`, with at most one other step between any two of its steps."""
    ends = {place for place, tool in enumerate(longer) if shorter and tool == shorter[0]}
    for tool in shorter[1:]:
        ends = {place for end in ends for place in (end + 1, end + 2) if place < len(longer) and longer[place] == tool}
    return bool(ends) or not shorter


def find_workflows(traces: Sequence[ToolSequence], least: int) -> tuple[Workflow, ...]:
    """The sequences in at least `least` traces, most significant first; a trace may have several."""
    left: list[list[str | None]] = [list(tools) for tools in traces]
    found: list[Workflow] = []
    while len(found) < MOST_FOUND and (best := _best(left, least)) is not None:
        found.append(best)
        for trace in best.traces:
            _remove(left[trace], best.tools)
    return tuple(found)


def _best(traces: Sequence[_Trace], least: int) -> Workflow | None:
    """The most significant sequence: its surprise minus the cost of naming its tools; None if none is significant."""
    shares = _shares(traces)
    lengths = Counter(sum(tool is not None for tool in trace) for trace in traces)
    naming = math.log(PLACES * max(len(shares), 2))
    ranked = []
    for tools, ends in _frequent(traces, least):
        surprise = _surprise(tools, len(ends), lengths, shares)
        ranked.append((len(tools) * naming - surprise, -len(tools), tools, surprise, tuple(sorted(ends))))
    tests = Counter(len(tools) for _, _, tools, _, _ in ranked)
    for _, _, tools, surprise, numbers in sorted(ranked):
        if surprise > 2 * math.log(tests[len(tools)]) - math.log(CHANCE):
            return Workflow(tools, numbers)
    return None


def _shares(traces: Iterable[_Trace]) -> dict[str, float]:
    """Each tool's share of all uses."""
    counts = Counter(tool for trace in traces for tool in trace if tool is not None)
    total = sum(counts.values())
    return {tool: count / total for tool, count in counts.items()}


def _frequent(traces: Sequence[_Trace], least: int) -> Iterator[tuple[ToolSequence, _Ends]]:
    """Every sequence of two to eight steps in at least `least` traces."""
    found: dict[ToolSequence, dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
    for number, trace in enumerate(traces):
        for place, tool in enumerate(trace):
            if tool is not None:
                found[(tool,)][number].add(place)
    for _ in range(LEAST_STEPS, LONGEST + 1):
        often = [(tools, ends) for tools, ends in found.items() if len(ends) >= least]
        often.sort(key=lambda each: (-len(each[1]), each[0]))
        found = defaultdict(lambda: defaultdict(set))
        for tools, ends in often[:MOST_CANDIDATES]:
            for number, places in ends.items():
                for place, tool in _following(traces[number], places):
                    found[(*tools, tool)][number].add(place)
        yield from [(tools, ends) for tools, ends in found.items() if len(ends) >= least]


def _following(trace: _Trace, ends: Iterable[int]) -> Iterator[tuple[int, str]]:
    """The steps one or two places after an end; a removed step is a border."""
    for end in ends:
        for place in (end + 1, end + 2):
            tool = trace[place] if place < len(trace) else None
            if tool is None:
                break
            yield place, tool


def _surprise(tools: ToolSequence, support: int, lengths: Mapping[int, int], shares: Mapping[str, float]) -> float:
    """The negative logarithm of the probability that this many traces have it if all steps are independent.

    `lengths`: the number of traces of each length.
    """
    once = math.prod(shares[tool] for tool in tools)
    expected = sum(count * -math.expm1(-once * _placements(size, len(tools))) for size, count in lengths.items())
    return _tail(support, max(expected, 1e-12))


@cache
def _placements(size: int, steps: int) -> int:
    """The number of ways to place a sequence in a trace, with gaps of at most one step."""
    return sum(
        math.comb(steps - 1, gaps) * (size - steps - gaps + 1) for gaps in range(steps) if size - steps - gaps >= 0
    )


def _tail(least: int, expected: float) -> float:
    """The negative logarithm of P(X >= least) for a Poisson distributed X."""
    first = least * math.log(expected) - expected - math.lgamma(least + 1)
    total, term = 1.0, 1.0
    for number in range(least + 1, least + 200):
        term *= expected / number
        total += term
        if term < 1e-12 * total:
            break
    return -min(first + math.log(total), 0.0)


def _remove(trace: list[str | None], tools: ToolSequence) -> None:
    """Replace each use of the sequence in a trace by None, the first use first."""
    while (places := _first_use(trace, tools)) is not None:
        for place in places:
            trace[place] = None


def _first_use(trace: _Trace, tools: ToolSequence) -> tuple[int, ...] | None:
    for start, tool in enumerate(trace):
        paths: list[tuple[int, ...]] = [(start,)] if tool == tools[0] else []
        for wanted in tools[1:]:
            paths = [(*way, end) for way in paths for end, found in _following(trace, way[-1:]) if found == wanted]
        if paths:
            return min(paths)
    return None
