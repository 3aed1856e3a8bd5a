"""What the uses of a skill say about it, and what follows for its score. Pure.

The figures are those of the feedback loop: from five uses on, a skill that people found helpful in more than 80 % of
their answers counts a fifth more, one below 30 % with three bad answers at least counts two fifths less.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agent.skills.history.usage import Use, merge_opinions

ENOUGH = 5
"""Uses before feedback changes anything."""
IN_A_ROW = 5
"""Ineffective uses in a row after which a learned skill is put aside."""
GOOD, BAD, BAD_ANSWERS = 0.8, 0.3, 3
MORE, LESS = 1.2, 0.6
SUCCESS = frozenset({"finished", "success"})
"""Outcomes of runs that count as a success."""
FAILURE = frozenset({"failed", "failure", "limit"})


@dataclass(frozen=True, slots=True)
class Stats:
    """Counts of a skill's uses. Rates from 0 to 1, None where nothing can be said yet; `ended`: uses in
    runs that have ended well or badly. `streak`: the ineffective uses
    since the last effective one, and since the skill was put aside."""

    uses: int = 0
    auto: int = 0
    ended: int = 0
    successes: int = 0
    helpful: int = 0
    not_helpful: int = 0
    corrected: int = 0
    streak: int = 0

    @property
    def success_rate(self) -> float | None:
        return self.successes / self.ended if self.ended else None

    @property
    def helpful_rate(self) -> float | None:
        answers = self.helpful + self.not_helpful
        return self.helpful / answers if answers else None

    @property
    def factor(self) -> float:
        """What the skill's score is multiplied by."""
        rate = self.helpful_rate
        if self.uses < ENOUGH or rate is None:
            return 1.0
        if rate > GOOD:
            return MORE
        return LESS if rate < BAD and self.not_helpful >= BAD_ANSWERS else 1.0


def count_uses(rows: Iterable[Use]) -> Stats:
    """The counts over the rows of one skill."""
    rows = list(rows)
    found = list(merge_opinions(rows))
    aside = max((row.time for row in rows if row.activated == "put_aside"), default=None)
    return Stats(
        len(found),
        sum(use.activated == "auto" for use in found),
        sum(use.outcome in SUCCESS | FAILURE for use in found),
        sum(use.outcome in SUCCESS and use.feedback != "corrected" for use in found),
        sum(use.feedback == "helpful" for use in found),
        sum(use.feedback == "not_helpful" for use in found),
        sum(use.feedback == "corrected" for use in found),
        _streak([use for use in found if aside is None or use.time > aside]),
    )


def is_ineffective(use: Use) -> bool:
    """Whether a use did no good: somebody said so or had to correct it, or the run failed and nobody was content."""
    return use.feedback in {"not_helpful", "corrected"} or (use.feedback == "" and use.outcome in FAILURE)


def _streak(found: Sequence[Use]) -> int:
    """Uses that tell nothing (a run that is waiting) neither end nor lengthen it."""
    streak = 0
    for use in found:
        if is_ineffective(use):
            streak += 1
        elif use.feedback == "helpful" or use.outcome in SUCCESS:
            streak = 0
    return streak
