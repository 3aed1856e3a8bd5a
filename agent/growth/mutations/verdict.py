"""What the uses of a skill say about a variant: on trial against the skill itself, later against how that did. Pure.

All is computed anew from the rows of the skill's history each time: a use counts once, whoever looks, and an opinion
that comes a day later counts as if it had come at once.
"""

from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

from agent.dataclass import dataclass
from agent.skills.history.usage import Use, merge_opinions
from agent.skills.variants.variant import EARLY_USES, TRIAL_USES, Arm, TrialPlan, parse_label

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
    kept: tuple[bool, ...] = ()


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
    return _is_worse(plan, count.original, count.kept)


def _is_worse(plan: TrialPlan, original: Sequence[bool], other: Sequence[bool]) -> bool:
    less = success_rate(original) - success_rate(other)
    return min(len(original), len(other)) >= EARLY_USES and less > plan.tolerance + _ROUNDING
