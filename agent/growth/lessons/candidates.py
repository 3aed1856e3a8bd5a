"""Candidates for lessons: what three independent reflections say, by meaning the same. Pure.

Independent are reflections about different runs, on different days. A strategy of low confidence stays in its
reflection, as does one that nobody could follow, and all of a reflection that strangers' text may have shaped, or
that the person called unhelpful.

How two lessons stand to each other: the same, opposite, or neither.

Near is what has words and, by the search index's embedder, meaning in common. What is near is told apart by a "not",
by the order of its parts, and by the fast model where there is one; without a model, what is near counts as the same,
and the person sees in the proposal on which words it rests.
"""

from collections.abc import Sequence

from agent.config.resources import first_match, pattern, words
from agent.dataclass import dataclass
from agent.growth.lessons.reflection import Reflection, Strategy
from agent.growth.patterns.likeness import LESSONS, Vectors, groups, overlap, pair_likeness, words_in
from agent.memory.understanding.seam import TextRelation
from agent.memory.understanding.wording import wording

_OPPOSITE = 0.75
"""The share of the shorter one's words that two opposite lessons have in common, their "not" aside."""


def relation(one: str, other: str, vectors: Vectors | None) -> TextRelation:
    """The relation of two lessons: `same`, `contradicts` or `different`."""
    if _are_opposite(one, other):
        return TextRelation.CONTRADICTS
    is_near = pair_likeness(one, other, vectors) >= LESSONS.of(vectors)
    return TextRelation.SAME if is_near else TextRelation.DIFFERENT


def takes_away_safeguard(text: str) -> bool:
    """True for words that forbid a question, a check or a limit, or that make something happen by itself."""
    return pattern("loosens").search(" ".join(text.split()).replace("’", "'")) is not None


def is_restriction(text: str) -> bool:
    """True if a lesson only forbids something or asks for care, and takes away no safeguard."""
    plain = " ".join(text.split()).replace("’", "'")
    return pattern("restricts").search(plain) is not None and not takes_away_safeguard(text)


def _are_opposite(one: str, other: str) -> bool:
    """True if nearly the same words say the opposite: one has a "not" more, or the other order."""
    first, second = words_in(one), words_in(other)
    if not first or not second or overlap(one, other) < _OPPOSITE:
        return False
    return _is_negative(one) != _is_negative(other) or _are_turned(one, other)


def _is_negative(text: str) -> bool:
    """True for an odd number of "not": "never … without" forbids nothing."""
    plain = wording(text).plain
    nots = sum(word.strip(".,;:!?") in words("negation_words") for word in plain.split())
    marks = 0 if plain.isascii() else len(pattern("negation_marks").findall(plain))
    return (nots + marks + len(pattern("instead").findall(plain))) % 2 == 1


def _are_turned(one: str, other: str) -> bool:
    """True if what comes first in one comes second in the other."""
    here, there = _order(one), _order(other)
    if here is None or there is None:
        return False
    turned = _shared(here[0], there[1]) + _shared(here[1], there[0])
    return turned > _shared(here[0], there[0]) + _shared(here[1], there[1])


def _order(text: str) -> tuple[str, str] | None:
    found = first_match("order", text)
    return (found["first"], found["second"]) if found is not None else None


def _shared(one: str, other: str) -> float:
    first, second = words_in(one), words_in(other)
    return len(first & second) / max(1, min(len(first), len(second)))


ENOUGH = 3
"""Independent reflections from which a strategy is a candidate."""
MOST_READ = 600
"""The newest strategies that are compared: the work grows with the product of their number and that of the groups."""


@dataclass(frozen=True, slots=True)
class LessonEvidence:
    """One reflection that a lesson rests on: the day, the link to it, and the words of its strategy."""

    day: str
    link: str
    words: str


@dataclass(frozen=True, slots=True)
class FoundStrategy:
    """A strategy in its reflection."""

    reflection: Reflection
    strategy: Strategy

    @property
    def evidence(self) -> LessonEvidence:
        """The reflection as what a lesson rests on."""
        found = self.reflection
        return LessonEvidence(f"{found.at:%Y-%m-%d}", found.link, self.strategy.text)


@dataclass(frozen=True, slots=True)
class LessonCandidate:
    """A lesson that could be: the words of one strategy, and all that say the same, the oldest first."""

    strategy: Strategy
    strategies: tuple[FoundStrategy, ...]

    @property
    def evidence(self) -> tuple[LessonEvidence, ...]:
        """The reflections that it rests on."""
        return tuple(each.evidence for each in self.strategies)


def usable_strategies(reflections: Sequence[Reflection]) -> tuple[FoundStrategy, ...]:
    """The strategies from which lessons may come, the oldest first, at most `MOST_READ`."""
    found = [
        FoundStrategy(reflection, strategy)
        for reflection in sorted(reflections, key=lambda each: each.at)
        if may_steer(reflection)
        for strategy in reflection.strategies
        if strategy.confidence != "low" and can_be_followed(strategy.text)
    ]
    return tuple(found[-MOST_READ:])


def can_be_followed(strategy: str) -> bool:
    """False for words with which anybody agrees and that nobody can follow, such as "be more careful"."""
    rest = pattern("platitude").sub(" ", strategy.casefold().replace("’", "'"))
    return any(character.isalnum() for character in rest)


def may_steer(reflection: Reflection) -> bool:
    """True if a lesson may come from a reflection: it says which runs it is about, no stranger's text was read in them,
    and the person has not called it unhelpful."""
    return bool(reflection.runs) and not reflection.strangers and reflection.opinion != "not_helpful"


def is_urgent(found: FoundStrategy) -> bool:
    """True if a strategy takes effect at once: it is bad if it is not done, that is sure, and it only restricts, by its
    own words too."""
    strategy = found.strategy
    is_sure = strategy.severity == "high" and strategy.confidence == "high"
    return is_sure and strategy.restricts and is_restriction(strategy.text)


def find_candidates(strategies: Sequence[FoundStrategy], vectors: Vectors | None) -> tuple[LessonCandidate, ...]:
    """The candidates among these strategies, those with the most independent reflections first."""
    texts = [each.strategy.text for each in strategies]
    found = list[LessonCandidate]()
    for numbers in groups(texts, vectors, LESSONS):
        group = [strategies[number] for number in numbers]
        if len(independent(group)) < ENOUGH:
            continue
        middle = _middle(group, vectors)
        text = middle.strategy.text
        same = [
            each for each in group if each is middle or relation(text, each.strategy.text, vectors) is TextRelation.SAME
        ]
        rested_on = independent(same)
        if len(rested_on) >= ENOUGH:
            found.append(LessonCandidate(middle.strategy, tuple(rested_on)))
    return tuple(sorted(found, key=lambda each: -len(each.strategies)))


def independent(strategies: Sequence[FoundStrategy]) -> list[FoundStrategy]:
    """The strategies of reflections on different days that are about different runs, the oldest first."""
    days, runs, found = set[str](), set[str](), list[FoundStrategy]()
    for each in sorted(strategies, key=lambda each: (each.reflection.at, len(each.reflection.runs))):
        day, own = f"{each.reflection.at:%Y-%m-%d}", set(each.reflection.runs)
        if day not in days and runs.isdisjoint(own):
            days.add(day)
            runs |= own
            found.append(each)
    return found


def _middle(group: Sequence[FoundStrategy], vectors: Vectors | None) -> FoundStrategy:
    """The strategy that is most like the others; of several the latest."""

    def likeness(one: FoundStrategy) -> float:
        return sum(pair_likeness(one.strategy.text, each.strategy.text, vectors) for each in group)

    return max(group, key=lambda each: (round(likeness(each), 6), each.reflection.at))
