"""The verdict on a lesson by its uses: on probation whether enough of them went well, then whether too few do. Pure.

With ten uses, a lesson with which half of the runs go well passes in 5 % of all cases, one with nine of ten in 93 %,
one with 95 of 100 in 99 %. All is computed anew from the uses each time, so that a correction which comes a day later
counts as if it had come at once."""

from collections.abc import Iterable, Sequence
from math import ceil
from typing import Literal, TypeAlias

from agent.dataclass import dataclass
from agent.growth.lessons.lesson import LessonState
from agent.skills.history.usage import Use, merge_opinions
from agent.skills.variants.variant import EARLY_USES, TRIAL_USES, Arm, TrialPlan, parse_label

LEAST = 0.8
"""The share of the uses on probation that have to go well."""
DROPPED = 0.5
"""An active lesson is set aside once less than this share of its last uses, as many as a probation has, went well."""

LessonReason: TypeAlias = Literal["passed", "failed", "dropped", "open"]


@dataclass(frozen=True, slots=True)
class LessonVerdict:
    """The `state` that a lesson has by its uses, the reason, and the uses that count so far with the
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


TrialVerdict: TypeAlias = Literal["better", "worse", "inconclusive", "open"]
"""`open`: more uses are needed; `inconclusive`: after the last use neither is clearly better."""
_ROUNDING = 1e-9
"""Rates are tenths in binary: 1 - .9 is a little less than .1."""


@dataclass(frozen=True, slots=True)
class TrialCount:
    """The outcomes of the first `TRIAL_USES` uses of each side of a trial, in the order of their times, True for a
    success: of the skill as it was, of its variant, and of the variant since it was kept."""

    original: tuple[bool, ...] = ()
    variant: tuple[bool, ...] = ()
    adopted: tuple[bool, ...] = ()


def count_trial(rows: Iterable[Use], number: int) -> TrialCount:
    """The outcomes of the uses of the trial with this number; a use to which the person has not reacted is left out."""
    found: dict[Arm, list[bool]] = {"original": [], "variant": [], "kept": []}
    for use in merge_opinions(rows):
        label = parse_label(use.trial)
        if label is not None and label[0] == number and use.feedback:
            found[label[1]].append(use.feedback == "helpful")
    return TrialCount(*(tuple(found[arm][:TRIAL_USES]) for arm in ("original", "variant", "kept")))


def success_rate(outcomes: Sequence[bool]) -> float:
    """The share of successes, 0 without a use."""
    return sum(outcomes) / len(outcomes) if outcomes else 0.0


def judge_trial(plan: TrialPlan, count: TrialCount) -> TrialVerdict:
    """The verdict on a variant by its uses and those of the skill as it was."""
    if _is_worse(plan, count.original, count.variant):
        return "worse"
    if min(len(count.original), len(count.variant)) < TRIAL_USES:
        return "open"
    more = success_rate(count.variant) - success_rate(count.original)
    return "better" if more >= plan.gain - _ROUNDING else "inconclusive"


def has_dropped(plan: TrialPlan, count: TrialCount) -> bool:
    """True if a kept variant does worse now than the skill did on trial."""
    return _is_worse(plan, count.original, count.adopted)


def _is_worse(plan: TrialPlan, original: Sequence[bool], other: Sequence[bool]) -> bool:
    less = success_rate(original) - success_rate(other)
    return min(len(original), len(other)) >= EARLY_USES and less > plan.tolerance + _ROUNDING
