"""The order of two runs of new units that belong at one place: by the outline, by time, else by content."""

from collections.abc import Sequence

from agent.markdown.merging.units import Unit


def merge_runs(one: Sequence[int], other: Sequence[int], units: dict[int, Unit]) -> list[int]:
    """Both runs in one order that does not depend on which is first; each run keeps its own order."""
    merged: list[int] = []
    while one and other:
        rank = max(units[one[0]].rank, units[other[0]].rank)
        mine, one = _above(one, rank, units)
        theirs, other = _above(other, rank, units)
        if not mine or not theirs:
            merged += mine or theirs
        elif by_time := _merge_by_time(mine, theirs, units):
            merged += by_time
        else:
            merged += sorted([mine, theirs], key=lambda run: [units[at].text for at in run])[0]
            merged += sorted([mine, theirs], key=lambda run: [units[at].text for at in run])[1]
    return [*merged, *one, *other]


def _above(run: Sequence[int], rank: int, units: dict[int, Unit]) -> tuple[list[int], Sequence[int]]:
    """The units at the beginning of a run whose rank is at least `rank`, and the rest."""
    end = next((at for at, each in enumerate(run) if units[each].rank < rank), len(run))
    return list(run[:end]), run[end:]


def _merge_by_time(one: list[int], other: list[int], units: dict[int, Unit]) -> list[int]:
    """Both runs by the times that their units begin with; empty if one of them does not begin with a time."""
    mine, theirs = _entries(one, units), _entries(other, units)
    if not mine or not theirs or len({len(time) for time, _ in mine + theirs}) != 1:
        return []
    merged: list[int] = []
    while mine and theirs:
        first = min(mine[0], theirs[0], key=lambda entry: (entry[0], [units[at].text for at in entry[1]]))
        (mine if first is mine[0] else theirs).pop(0)
        merged += first[1]
    for _, run in mine + theirs:
        merged += run
    return merged


def _entries(run: list[int], units: dict[int, Unit]) -> list[tuple[str, list[int]]]:
    """The parts of a run, each beginning with a unit with a time; empty if the first has none."""
    found: list[tuple[str, list[int]]] = []
    for at in run:
        if time := units[at].time:
            found.append((time, [at]))
        elif not found:
            return []
        else:
            found[-1][1].append(at)
    return found
