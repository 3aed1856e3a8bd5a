"""Counts of a skill's uses, and the factor for its score. Pure.

From five uses on, a skill called helpful in more than 80 % of the answers scores a fifth higher; one below 30 % with at
least three bad answers scores two fifths lower.
"""

from collections.abc import Iterable, Sequence

from agent.dataclass import dataclass
from agent.skills.history.usage import Use, merge_opinions
from agent.skills.variants.variant import parse_label

RECENT = 20
"""The last uses that say how well a skill works now."""
ENOUGH = 5
"""Uses before feedback changes the score."""
IN_A_ROW = 5
"""Ineffective uses in a row after which a learned skill is moved away."""
GOOD, BAD, BAD_ANSWERS = 0.8, 0.3, 3
MORE, LESS = 1.2, 0.6
SUCCESS = frozenset({"finished", "success"})
"""Outcomes of runs that count as a success."""
FAILURE = frozenset({"failed", "failure", "limit"})
_NEW_COUNT = frozenset({"put_aside", "rolled_back"})
"""Rows after which the ineffective uses are counted anew."""


@dataclass(frozen=True, slots=True)
class Stats:
    """Counts of a skill's uses.

    `ended`: uses that say something, as their run failed or the person reacted; `successes`: those with which they were
    content. `streak`: ineffective uses since the last effective one, or since
    the skill was moved away or got a former text again; those of a variant on trial do not count. `recent` of the last
    uses say something (at most `RECENT`), and `recent_successes` of them succeeded. Rates are 0 to 1, None without
    data.
    """

    uses: int = 0
    auto: int = 0
    ended: int = 0
    successes: int = 0
    helpful: int = 0
    not_helpful: int = 0
    corrected: int = 0
    streak: int = 0
    recent: int = 0
    recent_successes: int = 0

    @property
    def recent_rate(self) -> float | None:
        """The success rate of the last uses."""
        return self.recent_successes / self.recent if self.recent else None

    @property
    def success_rate(self) -> float | None:
        return self.successes / self.ended if self.ended else None

    @property
    def helpful_rate(self) -> float | None:
        answers = self.helpful + self.not_helpful
        return self.helpful / answers if answers else None

    @property
    def factor(self) -> float:
        """The factor by which the skill's score is multiplied."""
        rate = self.helpful_rate
        if self.uses < ENOUGH or rate is None:
            return 1.0
        if rate > GOOD:
            return MORE
        return LESS if rate < BAD and self.not_helpful >= BAD_ANSWERS else 1.0


def count_uses(rows: Iterable[Use]) -> Stats:
    """The counts over the rows of one skill."""
    rows = list(rows)
    uses = list(merge_opinions(rows))
    aside = max((row.time for row in rows if row.activated in _NEW_COUNT), default=None)
    last = recent_uses(rows)
    return Stats(
        len(uses),
        sum(use.activated == "auto" for use in uses),
        sum(use_succeeded(use) is not None for use in uses),
        sum(use_succeeded(use) is True for use in uses),
        sum(use.feedback == "helpful" for use in uses),
        sum(use.feedback == "not_helpful" for use in uses),
        sum(use.feedback == "corrected" for use in uses),
        _streak([use for use in uses if (aside is None or use.time > aside) and not is_of_variant(use)]),
        len(last),
        sum(use_succeeded(use) is True for use in last),
    )


def recent_uses(rows: Iterable[Use], most: int = RECENT) -> tuple[Use, ...]:
    """The last uses of the skill that say something, oldest first, without those of a variant on trial."""
    found = [use for use in merge_opinions(rows) if use_succeeded(use) is not None and not is_of_variant(use)]
    return tuple(found[-most:])


def use_succeeded(use: Use) -> bool | None:
    """True for a use that the person called helpful, or after which they were content; False for an ineffective one;
    None for one that says nothing: a run that has only ended proves nothing of what was used in it."""
    if is_ineffective(use):
        return False
    return True if use.feedback == "helpful" else None


def is_of_variant(use: Use) -> bool:
    """True if a use took a variant on trial instead of the skill."""
    label = parse_label(use.trial)
    return label is not None and label[1] == "variant"


def is_ineffective(use: Use) -> bool:
    """True if a use was called unhelpful or was corrected, or its run failed without an opinion."""
    return use.feedback in {"not_helpful", "corrected"} or (use.feedback == "" and use.outcome in FAILURE)


def _streak(uses: Sequence[Use]) -> int:
    """The number of ineffective uses at the end; a use of unknown effect, as in a waiting run, is skipped."""
    streak = 0
    for use in uses:
        if is_ineffective(use):
            streak += 1
        elif use.feedback == "helpful" or use.outcome in SUCCESS:
            streak = 0
    return streak
