"""What the uses of a lesson say about it: on probation whether enough of them went well, then whether too few do. Pure.

With ten uses, a lesson with which half of the runs go well passes in 5 % of all cases, one with nine of ten in 93 %,
one with 95 of 100 in 99 %. All is computed anew from the uses each time, so that a correction which comes a day later
counts as if it had come at once."""

from collections.abc import Sequence
from math import ceil
from typing import Literal, TypeAlias

from agent.dataclass import dataclass
from agent.growth.lessons.lesson import LessonState

LEAST = 0.8
"""The share of the uses on probation that have to go well."""
DROPPED = 0.5
"""An active lesson is set aside once less than this share of its last uses, as many as a probation has, went well."""

LessonReason: TypeAlias = Literal["passed", "failed", "dropped", "open"]


@dataclass(frozen=True, slots=True)
class LessonVerdict:
    """What its uses say: the `state` that a lesson has by them, the reason, and the uses that count so far with the
    successes among them."""

    state: LessonState
    reason: LessonReason
    uses: int
    successes: int


def judge_probation(outcomes: Sequence[bool], uses: int) -> LessonVerdict:
    """The verdict on a lesson with these uses since its yes, True for a success, when probation has so many `uses`; it
    is made as soon as no further use can change it."""
    total, successes, needed = len(outcomes), sum(outcomes), ceil(LEAST * uses)
    for number in range(1, total + 1):
        good = sum(outcomes[:number])
        if good >= needed:
            watched = judge_active(outcomes[number:], uses)
            return LessonVerdict(
                watched.state, "dropped" if watched.reason == "dropped" else "passed", total, successes
            )
        if number - good > uses - needed:
            return LessonVerdict("deprecated", "failed", total, successes)
    return LessonVerdict("probation", "open", total, successes)


def judge_active(outcomes: Sequence[bool], uses: int) -> LessonVerdict:
    """The verdict on a lesson that is active without probation, or since it has passed."""
    windows = (outcomes[max(end - uses, 0) : end] for end in range(1, len(outcomes) + 1))
    has_dropped = any(each.count(False) > uses * (1 - DROPPED) for each in windows)
    state: LessonState = "deprecated" if has_dropped else "active"
    return LessonVerdict(state, "dropped" if has_dropped else "open", len(outcomes), sum(outcomes))
