"""How a run ends or pauses, in a word, and what there is to say about it."""

from dataclasses import dataclass
from enum import StrEnum

from agent.errors import Interrupted, LimitReached, NeedsApproval, QuestionAsked, StopRun
from agent.tools.tool import Cited


class RunOutcome(StrEnum):
    """The word for it. The two that wait for a person can be resumed, and so can an interrupted run."""

    FINISHED = "finished"
    LIMIT = "limit"
    NEEDS_APPROVAL = "needs_approval"
    QUESTION_ASKED = "question_asked"
    INTERRUPTED = "interrupted"
    FAILED = "failed"

    @property
    def waits(self) -> bool:
        """Whether calls stay open until a person has decided or answered."""
        return self in {RunOutcome.NEEDS_APPROVAL, RunOutcome.QUESTION_ASKED}

    @property
    def can_go_on(self) -> bool:
        """Whether the run can be taken up again where it stopped."""
        return self.waits or self is RunOutcome.INTERRUPTED


class Finished(StopRun):
    """The model has answered and wants no more tools; the message is the answer."""


@dataclass(frozen=True, slots=True)
class Ended:
    """What a run came to. `reason` says why it stopped where it did not finish; `waits_for` names the note to decide
    or answer in; `queued` says why the last of it waits to be written; `commits` are those of its tools, `sources` the
    lines of notes that they showed, `given` those that the model had before it unasked. `failure` is what made it fail,
    None where nothing did."""

    run: str
    session: str
    outcome: RunOutcome
    answer: str
    reason: str = ""
    hint: str = ""
    waits_for: str = ""
    queued: str = ""
    commits: tuple[str, ...] = ()
    sources: tuple[Cited, ...] = ()
    given: tuple[Cited, ...] = ()
    steps: int = 0
    tools: tuple[str, ...] = ()
    failure: Exception | None = None


def outcome_of(stop: Exception) -> RunOutcome:
    """The word for what stopped a run."""
    match stop:
        case Finished():
            return RunOutcome.FINISHED
        case LimitReached():
            return RunOutcome.LIMIT
        case NeedsApproval():
            return RunOutcome.NEEDS_APPROVAL
        case QuestionAsked():
            return RunOutcome.QUESTION_ASKED
        case Interrupted():
            return RunOutcome.INTERRUPTED
        case _:
            return RunOutcome.FAILED
