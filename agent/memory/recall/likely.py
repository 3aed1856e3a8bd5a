"""Passages with the probability that they help: those of several searches, put into one order and cut off together."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from agent.dataclass import dataclass
from agent.index.hit import Hit, Mode
from agent.memory.recall.candidates import RecallCandidate
from agent.memory.recall.gate import LEAST, Floor, coverage, likelihood, named_notes

NAMED = 0.95
"""The probability for a note whose name is in what is asked."""
THERE = 0.7
"""The least probability for a passage with a word of the request in the folder that it names."""
_REACH, _WORDLESS = 2.5, 1.5
"""What is less likely than the best passage by this much (in the logistic's own unit, before it becomes a probability)
only resembles the request: of those with one of its rare words, and of those without any. Of the passages beside the
right one in `tests/memory/conversations` half have none, and of the right ones that are given one in ten."""
_RANKS = 3.0
"""The constant of the fusion of both ranks, which has more evidence than either of them (`tests/bench/README.md`)."""
_WORD = 0.1
"""The coverage from which a passage has one of the rare words."""


@dataclass(frozen=True, slots=True)
class LikelyPassage:
    """A passage, and the probability that it helps with one part of the request; `memory` is None for one of a note."""

    chance: float
    hit: Hit
    mode: Mode
    memory: RecallCandidate | None = None

    @property
    def is_log(self) -> bool:
        """True for the log of a day that is asked for."""
        return self.memory is not None and self.memory.is_asked_for


def judge(
    asked: str, found: Sequence[Hit | RecallCandidate], mode: Mode, beside: Iterable[Hit] = ()
) -> list[LikelyPassage]:
    """The passages found for one part of a request, in their order, each with its probability. `beside` are other
    passages found for it, which tell whether a name is rare."""
    hits = [each.hit if isinstance(each, RecallCandidate) else each for each in found]
    named = named_notes(asked, [*hits, *beside])
    judged = []
    for each, hit in zip(found, hits, strict=True):
        memory = each if isinstance(each, RecallCandidate) else None
        chance = max(likelihood(asked, hit, mode), NAMED if hit.path in named else 0.0)
        judged.append(LikelyPassage(1.0 if memory and memory.is_asked_for else chance, hit, mode, memory))
    return judged


def fitting_there(found: Iterable[LikelyPassage]) -> list[LikelyPassage]:
    """Of the passages in a folder that the request names, those with one of its rare words: they are likely enough to
    help, as they were asked for there."""
    return [replace(each, chance=max(each.chance, THERE)) for each in found if coverage(each.hit) >= _WORD]


def of_the_days(found: Sequence[LikelyPassage]) -> list[LikelyPassage]:
    """Passages of the days that the request asks for: each is an answer like the others, first the first one of each
    note."""
    firsts = {each.hit.path: each for each in reversed(found)}
    ordered = sorted(found, key=lambda each: firsts[each.hit.path] is not each)
    chance = max((each.chance for each in found), default=0.0)
    return [replace(each, chance=max(chance, THERE)) for each in ordered]


def nearly_best(searches: Sequence[Sequence[LikelyPassage]], floor: Floor) -> list[list[LikelyPassage]]:
    """Of the searches for one part of a request the passages that are likely enough to help, and not much less likely
    than the best of them."""
    queues = [[each for each in search if each.chance >= LEAST[floor]] for search in searches]
    best = max((each.chance for queue in queues for each in queue if not each.is_log), default=0.0)
    if floor == "off":
        return queues
    return [[each for each in queue if _is_near(each, _odds(best))] for queue in queues]


def in_one_order(queues: Iterable[Sequence[LikelyPassage]]) -> list[LikelyPassage]:
    """The passages of all searches, by their rank in the search and their rank by probability (reciprocal rank fusion);
    one that several have found stands where the best of them put it."""
    scored: list[tuple[float, LikelyPassage]] = []
    for queue in queues:
        likeliest = sorted(range(len(queue)), key=lambda at: -queue[at].chance)
        places = {at: place for place, at in enumerate(likeliest)}
        scored += [(1 / (_RANKS + at) + 1 / (_RANKS + places[at]), each) for at, each in enumerate(queue)]
    scored.sort(key=lambda row: (-row[0], -row[1].chance))
    ordered: dict[tuple[str, tuple[int, int]], LikelyPassage] = {}
    for _, each in scored:
        ordered.setdefault((each.hit.path, each.hit.lines), each)
    return list(ordered.values())


def _is_near(each: LikelyPassage, best: float) -> bool:
    reach = _REACH if coverage(each.hit) >= _WORD else _WORDLESS
    return _odds(each.chance) >= best - reach


def _odds(chance: float) -> float:
    bounded = min(max(chance, 1e-9), 1 - 1e-9)
    return math.log(bounded / (1 - bounded))
