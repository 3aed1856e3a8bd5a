"""What tools are used for again and again: frequent sequences in many traces, told from what chance brings together.

Found one after another: the one that says most about the traces is taken, its uses are taken out of them, and the rest
is looked at again. So a part of a workflow, or the same with one more step by accident, is no workflow of its own.
Pure; what a workflow is for is left to `learner`.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

LONGEST = 8
"""Steps of a workflow; longer ones are found as this much of them."""
LEAST_STEPS = 2
CHANCE = 0.05
"""A sequence that this much data would show by chance with a higher probability is none."""
MOST_CANDIDATES = 300
"""Sequences of one length that are followed further, those in most traces first: bounds the time."""
MOST_FOUND = 20
EXPLAINED = 0.9
PLACES = 2
"""Where one more step may stand by accident: before it, behind it."""

ToolSequence: TypeAlias = tuple[str, ...]
_Places: TypeAlias = dict[int, frozenset[int]]
"""By trace: where a sequence ends in it."""


@dataclass(frozen=True, slots=True)
class Workflow:
    """A sequence of tools, and the numbers of the traces that have it."""

    tools: ToolSequence
    traces: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Candidate:
    tools: ToolSequence
    places: _Places
    surprise: float
    """How unlikely it is by chance: the negative logarithm of the probability."""

    @property
    def order(self) -> tuple[float, int, ToolSequence]:
        """The most telling first: the surprise less what it takes to name so many tools; then the longest."""
        return -self.surprise, -len(self.tools), self.tools


def contains(longer: Sequence[str], shorter: Sequence[str]) -> bool:
    """Whether one sequence is in the other with at most one other step between any two of its own."""
    ends = {place for place, tool in enumerate(longer) if shorter and tool == shorter[0]}
    for tool in shorter[1:]:
        ends = {place for end in ends for place in (end + 1, end + 2) if place < len(longer) and longer[place] == tool}
    return bool(ends) or not shorter


def find_workflows(traces: Sequence[ToolSequence], least: int) -> tuple[Workflow, ...]:
    """The sequences that at least so many traces share, the most telling first; one trace may have several."""
    left: list[list[str | None]] = [list(tools) for tools in traces]
    found: list[Workflow] = []
    refused: set[ToolSequence] = set()
    while len(found) < MOST_FOUND:
        best = _best(left, least, refused)
        if best is None:
            break
        found.append(Workflow(best.tools, tuple(sorted(best.places))))
        refused.add(best.tools)
        for trace in best.places:
            _take_out(left[trace], best.tools)
    return tuple(found)


def _best(traces: Sequence[Sequence[str | None]], least: int, refused: set[ToolSequence]) -> _Candidate | None:
    chances = _chances(traces)
    lengths = Counter(sum(tool is not None for tool in trace) for trace in traces)
    candidates = [each for each in _closed(_frequent(traces, least)) if each[0] not in refused]
    naming = math.log(PLACES * max(len(chances), 2))
    weighed = [
        _Candidate(tools, places, _surprise(tools, len(places), lengths, chances) - len(tools) * naming)
        for tools, places in candidates
    ]
    tests = Counter(len(tools) for tools, _ in candidates)
    for candidate in sorted(weighed, key=lambda each: each.order):
        size = len(candidate.tools)
        if candidate.surprise + size * naming > 2 * math.log(tests[size]) - math.log(CHANCE):
            return _whole(candidate, weighed)
    return None


def _whole(part: _Candidate, candidates: Iterable[_Candidate]) -> _Candidate:
    """The sequence itself, or, where it is only what several longer ones have in common, the most telling of those."""
    longer = [each for each in candidates if len(each.tools) > len(part.tools) and contains(each.tools, part.tools)]
    explained = {trace for each in longer for trace in each.places}
    if len(explained & part.places.keys()) < EXPLAINED * len(part.places):
        return part
    return min(longer, key=lambda each: each.order)


def _chances(traces: Iterable[Sequence[str | None]]) -> dict[str, float]:
    """How often each tool is used, as a share of all uses."""
    counts = Counter(tool for trace in traces for tool in trace if tool is not None)
    total = sum(counts.values())
    return {tool: count / total for tool, count in counts.items()}


def _frequent(traces: Sequence[Sequence[str | None]], least: int) -> Iterator[tuple[ToolSequence, _Places]]:
    """Every sequence of two to eight steps that so many traces have."""
    starts: dict[ToolSequence, dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
    for number, trace in enumerate(traces):
        for place, tool in enumerate(trace):
            if tool is not None:
                starts[(tool,)][number].add(place)
    level = _kept(starts, least)
    for length in range(2, LONGEST + 1):
        longer: dict[ToolSequence, dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
        for tools, places in level:
            for number, ends in places.items():
                for end, tool in _following(traces[number], ends):
                    longer[(*tools, tool)][number].add(end)
        level = _kept(longer, least)
        if length >= LEAST_STEPS:
            yield from level


def _following(trace: Sequence[str | None], ends: Iterable[int]) -> Iterator[tuple[int, str]]:
    """The steps that come next, or next but one; what was taken out of the trace ends it."""
    for end in ends:
        for place in (end + 1, end + 2):
            tool = trace[place] if place < len(trace) else None
            if tool is None:
                break
            yield place, tool


def _kept(found: dict[ToolSequence, dict[int, set[int]]], least: int) -> list[tuple[ToolSequence, _Places]]:
    often = [(tools, places) for tools, places in found.items() if len(places) >= least]
    often.sort(key=lambda each: (-len(each[1]), each[0]))
    return [
        (tools, {number: frozenset(ends) for number, ends in places.items()})
        for tools, places in often[:MOST_CANDIDATES]
    ]


def _closed(found: Iterable[tuple[ToolSequence, _Places]]) -> list[tuple[ToolSequence, _Places]]:
    """Without those that are part of a longer one in the very same traces."""
    together: dict[frozenset[int], list[tuple[ToolSequence, _Places]]] = defaultdict(list)
    for tools, places in found:
        together[frozenset(places)].append((tools, places))
    kept: list[tuple[ToolSequence, _Places]] = []
    for group in together.values():
        longest_first: list[tuple[ToolSequence, _Places]] = []
        for tools, places in sorted(group, key=lambda each: (-len(each[0]), each[0])):
            if not any(len(other) > len(tools) and contains(other, tools) for other, _ in longest_first):
                longest_first.append((tools, places))
        kept += longest_first
    return kept


def _surprise(tools: ToolSequence, support: int, lengths: Mapping[int, int], chances: Mapping[str, float]) -> float:
    """The negative logarithm of the probability that so many traces have it when each step is drawn by itself.

    `lengths`: how many traces there are of each length.
    """
    once = math.prod(chances[tool] for tool in tools)
    expected = sum(count * -math.expm1(-once * _placements(size, len(tools))) for size, count in lengths.items())
    return _tail(support, max(expected, 1e-12))


@cache
def _placements(size: int, steps: int) -> int:
    """In how many ways a sequence lies in a trace, with gaps of at most one."""
    return sum(
        math.comb(steps - 1, gaps) * (size - steps - gaps + 1) for gaps in range(steps) if size - steps - gaps >= 0
    )


def _tail(least: int, expected: float) -> float:
    """Minus the logarithm of P(X >= least) for X that is Poisson distributed."""
    first = least * math.log(expected) - expected - math.lgamma(least + 1)
    total, term = 1.0, 1.0
    for number in range(least + 1, least + 200):
        term *= expected / number
        total += term
        if term < 1e-12 * total:
            break
    return -min(first + math.log(total), 0.0)


def _take_out(trace: list[str | None], tools: ToolSequence) -> None:
    """Replace each use of the sequence in a trace, the first one first, by nothing."""
    while (places := _first_use(trace, tools)) is not None:
        for place in places:
            trace[place] = None


def _first_use(trace: Sequence[str | None], tools: ToolSequence) -> tuple[int, ...] | None:
    for start, tool in enumerate(trace):
        ways: list[tuple[int, ...]] = [(start,)] if tool == tools[0] else []
        for wanted in tools[1:]:
            ways = [(*way, end) for way in ways for end, found in _following(trace, way[-1:]) if found == wanted]
        if ways:
            return min(ways)
    return None
