"""The evening, once a day: the day in a few lines, and one commit of what nobody has asked for."""

from agent.background.maintenance import KEY
from agent.background.routine import PATIENCE, LookEvery, Routine
from agent.runs.evening import Evening


def evening_routine(evening: Evening) -> Routine:
    """The evenings of one vault's daemon."""
    return Routine(
        "evening",
        lambda *_: evening.keep(),  # short: one call of a model, and a commit
        looks=(LookEvery(60.0, evening.is_due),),
        retry=300.0,
        is_retryable_told=False,
        key=KEY,
        patience=PATIENCE,
    )
