"""Finds sequences of tools that occur in many traces more often than by chance. Pure.

The most significant sequence is taken first, its uses are removed from the traces, and the rest is searched again. So a
part of a workflow, or a workflow with one step more by accident, is not found as another one.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

LONGEST = 8
"""Steps of a workflow; of a longer one, so many steps are found."""
LEAST_STEPS = 2
CHANCE = 0.05
"""The probability of a sequence under chance, over all candidates, above which it is dropped."""
MOST_CANDIDATES = 300
"""Sequences of one length that are extended, those in most traces first: bounds the time."""
MOST_FOUND = 20
EXPLAINED = 0.9
PLACES = 2
"""The places of an accidental step: before the sequence, behind it."""

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
    """The negative logarithm of its probability under chance, less the cost of naming its tools."""

    @property
    def order(self) -> tuple[float, int, ToolSequence]:
        """The most surprising first, then the longest."""
        return -self.surprise, -len(self.tools), self.tools


def contains(longer: Sequence[str], shorter: Sequence[str]) -> bool:
    """Whether one sequence is in the other with at most one other step between any two of its own."""
    ends = {place for place, tool in enumerate(longer) if shorter and tool == shorter[0]}
    for tool in shorter[1:]:
        ends = {place for end in ends for place in (end + 1, end + 2) if place < len(longer) and longer[place] == tool}
    return bool(ends) or not shorter


def find_workflows(traces: Sequence[ToolSequence], least: int) -> tuple[Workflow, ...]:
    """The sequences in at least `least` traces, the most significant first; a trace may have several."""
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
    """The sequence, or, if longer candidates cover nearly all its traces, the most significant of those."""
    longer = [each for each in candidates if len(each.tools) > len(part.tools) and contains(each.tools, part.tools)]
    explained = {trace for each in longer for trace in each.places}
    if len(explained & part.places.keys()) < EXPLAINED * len(part.places):
        return part
    return min(longer, key=lambda each: each.order)


def _chances(traces: Iterable[Sequence[str | None]]) -> dict[str, float]:
    """Each tool's share of all uses."""
    counts = Counter(tool for trace in traces for tool in trace if tool is not None)
    total = sum(counts.values())
    return {tool: count / total for tool, count in counts.items()}


def _frequent(traces: Sequence[Sequence[str | None]], least: int) -> Iterator[tuple[ToolSequence, _Places]]:
    """Every sequence of two to eight steps that at least `least` traces have."""
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
    """The steps next to an end, and next but one; a removed step is a border."""
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
    """The sequences without those that are part of a longer one in the very same traces."""
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
    """The negative logarithm of the probability that so many traces have it if all steps are independent.

    `lengths`: how many traces there are of each length.
    """
    once = math.prod(chances[tool] for tool in tools)
    expected = sum(count * -math.expm1(-once * _placements(size, len(tools))) for size, count in lengths.items())
    return _tail(support, max(expected, 1e-12))


@cache
def _placements(size: int, steps: int) -> int:
    """The number of ways to place a sequence in a trace, with gaps of at most one step."""
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
    """Replace each use of the sequence in a trace by None, the first use first."""
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
