"""What the uses of a rule say about it: on probation a sequential test of its success rate, then a watch for a drop.

The test is that of `growth.trials.rate`: a rule whose uses succeed half of the time passes with a probability of 3 %,
one with nine of ten successes passes with 88 %, and is set aside though it is good with 5 % (`rate_chances`, 15 uses;
`tests/growth/rules` prints and checks the figures). All is computed anew from the uses each time, so that a correction
which comes a day later counts as if it had come at once.
"""

from collections.abc import Sequence
from typing import Literal, TypeAlias

from agent.dataclass import dataclass
from agent.growth.rules.rule import RuleStatus
from agent.growth.trials.drop import DropTest, uses_until_drop
from agent.growth.trials.rate import RateTest, judge_rate

GOOD, BAD = 0.9, 0.5
"""The success rates that are told apart: with a good rule nine of ten runs do well, with a bad one half of them."""
WATCHED = 50
"""Uses in one watch for a drop, within which a rule that stays good is set aside with a probability of at most 5 %;
then the next watch begins."""

RuleReason: TypeAlias = Literal["passed", "failed", "inconclusive", "dropped", "open"]


@dataclass(frozen=True, slots=True)
class RuleVerdict:
    """What its uses say: the `status` that a rule has by them, the reason, and the uses that count so far with the
    successes among them."""

    status: RuleStatus
    reason: RuleReason
    uses: int
    successes: int


def probation_test(uses: int) -> RateTest:
    """The test of a rule on probation of so many uses; while it is open then, half as many more."""
    return RateTest(BAD, GOOD, uses + uses // 2)


def judge_probation(outcomes: Sequence[bool], uses: int) -> RuleVerdict:
    """The verdict on a rule with these uses since its yes, True for a success, when probation has so many `uses`."""
    judged = judge_rate(outcomes, probation_test(uses))
    total, successes = len(outcomes), sum(outcomes)
    match judged.verdict:
        case "passed":
            watched = judge_active(outcomes[judged.uses :])
            reason: RuleReason = "passed" if watched.reason == "open" else "dropped"
            return RuleVerdict(watched.status, reason, total, successes)
        case "failed" | "inconclusive" as reason:
            return RuleVerdict("deprecated", reason, total, successes)
        case "open":
            return RuleVerdict("probation", "open", total, successes)


def judge_active(outcomes: Sequence[bool]) -> RuleVerdict:
    """The verdict on a rule that is active without probation, or since it has passed."""
    test = DropTest(GOOD, BAD, WATCHED)
    watches = [outcomes[start : start + WATCHED] for start in range(0, len(outcomes), WATCHED)]
    has_dropped = any(uses_until_drop(each, test) is not None for each in watches)
    status: RuleStatus = "deprecated" if has_dropped else "active"
    return RuleVerdict(status, "dropped" if has_dropped else "open", len(outcomes), sum(outcomes))
