"""A belief by its evidence: weighted Beta counts with recency. Pure.

Each signal weighs as much as its kind is strong, and less as it grows old: w = strength · 2^(-age/half-life), the age
in whole days, so that the order of what a day brought does not matter. For the value with the greatest sum a, against
the sum b of all other values, the confidence is the mean of a Beta distribution with Jeffreys' prior,

    confidence = (a + 1/2) / (a + b + 1)

so that agreeing evidence never lowers it, however weak it is. What the person states settles what they showed before:
from the next day on, older evidence for other values weighs a twentieth, and contradicts nothing.

A running mean of the strengths, (mean · n + strength) / (n + 1), is told beside it: nine tenths after eight strong
signals become .83 by one weak signal that agrees, which is why it does not decide anything.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date
from math import exp2, fsum
from types import MappingProxyType

from agent.dataclass import dataclass
from agent.growth.beliefs.sign import Dimension, Sign, SignKind
from agent.memory.profile.task_kind import TASK_KINDS, TaskKind

STRENGTH: Mapping[SignKind, float] = MappingProxyType(
    {"answered": 1.0, "stated": 0.9, "edited": 0.7, "requested": 0.7, "chosen": 0.5, "followed_up": 0.3}
)
"""How strong a signal is, from 0 to 1."""
WEIGHT: Mapping[SignKind, float] = MappingProxyType({**STRENGTH, "answered": 4.5})
"""What a signal of today weighs: an answer to the very question confirms a belief by itself."""
HALF_LIFE: Mapping[SignKind, float] = MappingProxyType(
    {"answered": 180.0, "stated": 180.0, "edited": 45.0, "requested": 45.0, "chosen": 45.0, "followed_up": 45.0}
)
"""Days after which a signal weighs half: words last longer than habits."""
ENOUGH: Mapping[SignKind, int] = MappingProxyType(
    {"answered": 1, "stated": 1, "edited": 2, "requested": 2, "chosen": 3, "followed_up": 3}
)
"""From how many signals of one kind that agree there is a belief: one edit may be an accident, and of three choices the
first two, too. Kinds add up: an edit and a choice are five sixths of a belief."""
TOLD, CONFIRMED = 0.6, 0.9
"""Above the first confidence a model is told, above the second a preference counts as confirmed."""
DOUBTED = 0.3
"""Contradictions for each piece of evidence, above which the person is asked which value holds."""
SETTLED = 0.05
"""What older evidence for other values weighs once the person has stated one."""
FADED = 0.02
"""A signal that weighs less is forgotten."""
_STATED = frozenset(("answered", "stated"))
_MANY_TASKS = 3
"""So many kinds of texts for which a preference was shown are all of them."""
_ENOUGH = 0.999
"""A whole, as a sum of thirds may come out."""


@dataclass(frozen=True, slots=True)
class Belief:
    """What the person is believed to prefer. `signs` are the signals for the value, `against` those that contradict it,
    the newest first; `tasks` the kinds of texts for which it holds, empty for all. `mean` is the running mean of the
    strengths. `is_enough`: there are enough signs to speak of it. `settled` of the signs are older than a statement of
    the person's for another value."""

    dimension: Dimension
    value: str
    confidence: float
    mean: float
    signs: tuple[Sign, ...]
    against: tuple[Sign, ...] = ()
    tasks: frozenset[TaskKind] = frozenset()
    is_enough: bool = True
    settled: int = 0

    @property
    def is_told(self) -> bool:
        """True if a model is told of it."""
        return self.is_enough and self.confidence > TOLD

    @property
    def is_confirmed(self) -> bool:
        return self.is_enough and self.confidence > CONFIRMED

    @property
    def is_doubted(self) -> bool:
        """True if the person is to be asked which value holds: more than one accident contradicts it."""
        is_more = len(self.against) > 1 or any(each.kind in _STATED for each in self.against)
        return self.is_enough and is_more and len(self.against) > DOUBTED * (len(self.signs) - self.settled)

    @property
    def other_values(self) -> tuple[str, ...]:
        """The values that the contradictions are for, the newest first."""
        return tuple(dict.fromkeys(each.value for each in self.against))


def beliefs(signals: Iterable[Sign], today: date) -> tuple[Belief, ...]:
    """The beliefs by these signals, one for each dimension, the surest first."""
    by_key: dict[tuple[str, str], list[Sign]] = {}
    for each in signals:
        by_key.setdefault(each.dimension.key, []).append(each)
    found = (believe(group, today) for group in by_key.values())
    there = [each for each in found if each is not None]
    return tuple(sorted(there, key=lambda each: (-each.confidence, each.dimension.key)))


def believe(signals: Sequence[Sign], today: date) -> Belief | None:
    """The belief by the signals of one dimension; None if all of them have faded, or are of days to come."""
    live = [each for each in signals if each.day <= today and weight(each, signals, today) >= FADED]
    if not live:
        return None
    sums = {value: fsum(weight(each, signals, today) for each in live if each.plain_value == value)
            for value in {each.plain_value for each in live}}  # fmt: skip
    newest = {value: max(each.day for each in live if each.plain_value == value) for value in sums}
    best = max(sums, key=lambda value: (sums[value], newest[value], value))
    total = fsum(sums.values())
    signs = _newest_first(each for each in live if each.plain_value == best)
    against = _newest_first(each for each in live if each.plain_value != best and not _is_settled(each, signals))
    mean = fsum(STRENGTH[each.kind] for each in signs) / len(signs)
    return Belief(
        signs[0].dimension,
        signs[0].value,
        (sums[best] + 0.5) / (total + 1.0),
        mean,
        signs,
        against,
        _tasks(signs),
        fsum(1 / ENOUGH[each.kind] for each in signs) >= _ENOUGH,
        sum(_is_settled(each, signals) for each in signs),
    )


def weight(signal: Sign, among: Collection[Sign], today: date) -> float:
    """What a signal weighs today, beside the others of its dimension."""
    age = max((today - signal.day).days, 0)
    own = WEIGHT[signal.kind] * exp2(-age / HALF_LIFE[signal.kind])
    return own * SETTLED if _is_settled(signal, among) else own


def _is_settled(signal: Sign, among: Collection[Sign]) -> bool:
    """True if the person has stated another value on a later day, or answered for one on the same."""
    return any(
        each.kind in _STATED
        and each.plain_value != signal.plain_value
        and (each.day > signal.day or (each.kind == "answered" != signal.kind and each.day == signal.day))
        for each in among
    )


def _newest_first(signals: Iterable[Sign]) -> tuple[Sign, ...]:
    """The signals in an order that does not depend on the one in which they came."""
    return tuple(sorted(signals, key=_order, reverse=True))


def _order(signal: Sign) -> tuple[date, float, tuple[str, ...]]:
    words = (signal.evidence.written, signal.shown, signal.kind, signal.value, *sorted(signal.tasks))
    return signal.day, STRENGTH[signal.kind], words


def _tasks(signs: Sequence[Sign]) -> frozenset[TaskKind]:
    """The kinds of texts for which a preference was shown; empty for all."""
    found = frozenset[TaskKind]().union(*(each.tasks for each in signs))
    is_general = any(not each.tasks for each in signs) or len(found) >= min(_MANY_TASKS, len(TASK_KINDS))
    return frozenset() if is_general else found
