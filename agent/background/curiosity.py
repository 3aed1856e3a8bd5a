"""Takes in the answers to questions that nothing waits for, closes those that are over, and has the agent ask at most
one thing a day by itself, after it has answered its person, if the settings want that.

Of several machines with one vault only the one whose turn it is does so, after it has taken in what the others have
asked and settled: no answer is taken in twice, and none asks what another one has asked.
"""

from collections.abc import Callable

from agent.background.routine import PATIENCE, LookEvery, On, Routine, changes_in
from agent.background.turns import TurnsToGiveBack
from agent.channel_names import IN_NOTES
from agent.events.runs import TaskCompleted
from agent.events.types import FilesChanged
from agent.growth.curiosity.look import ask, gap_to_ask
from agent.growth.curiosity.settle import is_something_over, settle
from agent.llm.messages import Cancelled
from agent.loop.outcome import RunOutcome
from agent.vault.folders import QUESTIONS
from agent.vault.sync.turns import take_turn
from agent.workspace.workspace import Workspace, reload_settings

TURN = "questions"
"""The name of the turn for settling and asking."""
_ASK = "ask"
"""What a look is wanted for after an answer, beside settling."""


def has_answered_person(event: TaskCompleted) -> bool:
    """True for a run whose person is there, and has their answer: not one that waits or failed, nor one in a group or
    in a note, which nobody may be looking at."""
    is_there = not event.job and not event.speaker.group and event.speaker.channel != IN_NOTES
    return is_there and event.outcome == RunOutcome.FINISHED


def curiosity_routine(workspace: Workspace, turns: TurnsToGiveBack, publish: Callable[[object], object]) -> Routine:
    """The curiosity of one vault's daemon; `publish` is told what was answered."""

    def look(wanted: dict[str, None], cancelled: Cancelled) -> None:
        """Settle, and ask if that is wanted. Most looks find nothing, and no turn is taken for them."""
        fresh = reload_settings(workspace)
        if not is_something_over(fresh) and (_ASK not in wanted or gap_to_ask(fresh) is None):
            return
        turn = take_turn(turns.claims, TURN)
        try:
            settle(fresh, publish)  # what another machine has done meanwhile is there no more
            gap = gap_to_ask(fresh) if _ASK in wanted else None
            if gap is not None and not cancelled():
                ask(fresh.unasked, gap)
        finally:
            turns.add(turn)

    return Routine(
        "questions",
        look,
        on=(
            On(FilesChanged, changes_in(workspace.vault.home, QUESTIONS)),
            On(TaskCompleted, lambda event: (_ASK,) if has_answered_person(event) else ()),
        ),
        quiet=30.0,
        looks=(LookEvery(600.0),),
        reports_retryable=False,
        key="curiosity",
        patience=PATIENCE,
    )
