"""What the uses of a skill say about a variant: on trial against the skill itself, later against a drop. Pure.

All is computed anew from the rows of the skill's history each time: a use counts once, whoever looks, and an opinion
that comes a day later counts as if it had come at once.
"""

from collections.abc import Iterable, Sequence

from agent.dataclass import dataclass
from agent.growth.trials.drop import DropTest, uses_until_drop
from agent.growth.trials.pair import HIGHEST, JudgedPairs, PairTest, judge_pairs, pair_chances
from agent.skills.history.stats import use_succeeded
from agent.skills.history.usage import Use, merge_opinions
from agent.skills.variants.variant import Arm, TrialOdds, TrialPlan, parse_label

WATCHED = 20
"""The uses of a kept variant that are watched for a drop: a rate that stays good is rolled back falsely in at most 5 %
of all watches, and one of .3 is noticed within ten uses in 98 %."""
_LEAST = 0.01


@dataclass(frozen=True, slots=True)
class TrialCount:
    """The outcomes of the uses of a trial, in the order of their times, True for a success: of the skill as it was, of
    its variant, and of the variant since it was kept."""

    original: tuple[bool, ...] = ()
    variant: tuple[bool, ...] = ()
    kept: tuple[bool, ...] = ()


def count_trial(rows: Iterable[Use], number: int) -> TrialCount:
    """The outcomes of the uses of the trial with this number; a use that says nothing is left out."""
    found: dict[Arm, list[bool]] = {"original": [], "variant": [], "kept": []}
    for use in merge_opinions(rows):
        label, outcome = parse_label(use.trial), use_succeeded(use)
        if label is not None and label[0] == number and outcome is not None:
            found[label[1]].append(outcome)
    return TrialCount(*(tuple(found[arm]) for arm in ("original", "variant", "kept")))


def test_of(plan: TrialPlan) -> PairTest:
    """The test of a trial."""
    rate = min(max(plan.rate, _LEAST), HIGHEST - _LEAST)
    return PairTest(rate, plan.gain, plan.uses, plan.tolerance)


def judge_trial(plan: TrialPlan, count: TrialCount) -> JudgedPairs:
    """The verdict on a variant by its uses and those of the skill as it was."""
    return judge_pairs(count.original, count.variant, test_of(plan))


def odds_of(plan: TrialPlan) -> TrialOdds:
    """What a trial with this plan can show."""
    test = test_of(plan)
    better, equal = (pair_chances(test, test.rate, rate) for rate in (test.expected, test.rate))
    return TrialOdds(test.expected - test.rate, better.upper, equal.upper)


def has_dropped(plan: TrialPlan, kept: Sequence[bool]) -> int | None:
    """The number of uses after which a kept variant was found to be worse than the skill before; None if it was not."""
    good = test_of(plan).rate
    return uses_until_drop(kept, DropTest(good, max(good - plan.tolerance, good * 0.5), WATCHED))
