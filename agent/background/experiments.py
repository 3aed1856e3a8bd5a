"""Tries variants of skills that work well, once the person has been silent for a while after a run.

It asks a model, so that it stops when the daemon does, and is begun again after the next run. Which skills may be
changed, and how often, is decided by `propose`.
"""

from collections.abc import Callable

from agent.background.routine import On, Routine
from agent.events.runs import TaskCompleted
from agent.llm.messages import Cancelled


def experiment_routine(propose: Callable[[Cancelled], object]) -> Routine:
    """The proposer of one vault's daemon: `propose` does the work."""
    return Routine(
        "variants of skills",
        lambda _, cancelled: propose(cancelled),
        on=(On(TaskCompleted, lambda event: () if event.job else ("a run of a person's",)),),
        quiet=600.0,  # later than what reflects on the run
        pause=3_600.0,  # a day of many runs needs few looks
        key="experiments",
    )
