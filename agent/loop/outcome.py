"""The outcomes of a run, and the value that a run returns."""

from datetime import datetime
from enum import StrEnum

from agent.dataclass import dataclass
from agent.errors import (
    AgentError,
    Interrupted,
    LimitReached,
    NeedsApproval,
    Permanent,
    QuestionAsked,
    Stopping,
    StopRun,
)
from agent.events.runs import Speaker, TaskCompleted
from agent.llm.messages import Reply, Usage
from agent.tools.tool import Cited
from agent.vault.folders import SKILLS, AgentFolder


class RunOutcome(StrEnum):
    """The outcome of a run. The two that wait for a person can be resumed, and so can an interrupted run."""

    FINISHED = "finished"
    LIMIT = "limit"
    NEEDS_APPROVAL = "needs_approval"
    QUESTION_ASKED = "question_asked"
    INTERRUPTED = "interrupted"
    FAILED = "failed"

    @property
    def waits(self) -> bool:
        """True if calls stay open until a person has decided or answered."""
        return self in {RunOutcome.NEEDS_APPROVAL, RunOutcome.QUESTION_ASKED}

    @property
    def can_go_on(self) -> bool:
        """True if the run can be resumed where it stopped."""
        return self.waits or self is RunOutcome.INTERRUPTED


class Finished(StopRun):
    """The model has answered without a tool call; the message is the answer."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The result of a run.

    `reason` explains a stop before the end; `waits_for` is the path of the note in which a person decides or answers;
    `queued` is the reason why the last records are not written yet; `is_changed`: its tools have changed notes;
    `sources` are the lines of notes that its tools showed, `provided` those that the model had from the beginning,
    `used` those of both that the answer used, `refused` the tools that the model asked for and the policy denies.
    `failure` is the error that made it fail, None without one; `is_quoted`: the model failed before it had done
    anything, and the answer quotes the notes. `remarks` say what else the person has to know of how the models
    answered.
    """

    run: str
    session: str
    outcome: RunOutcome
    answer: str
    reason: str = ""
    hint: str = ""
    waits_for: str = ""
    queued: str = ""
    sources: tuple[Cited, ...] = ()
    provided: tuple[Cited, ...] = ()
    used: tuple[Cited, ...] = ()
    steps: int = 0
    tools: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    failure: Exception | None = None
    is_quoted: bool = False
    remarks: tuple[str, ...] = ()
    home: AgentFolder = AgentFolder()
    is_changed: bool = False

    @property
    def remarked(self) -> str:
        """The answer, and below it what else the person has to know of it."""
        return "\n\n".join(filter(None, (self.answer, *self.remarks)))

    @property
    def provided_notes(self) -> tuple[str, ...]:
        """The notes, other than skills, that the model had text of from the beginning: those that an answer may use."""
        paths = dict.fromkeys(each.path for each in self.provided)
        return tuple(path for path in paths if not (path.startswith("/") or self.home.holds(path, SKILLS)))

    def as_event(
        self, task: str, speaker: Speaker, seconds: float, usage: Usage, at: datetime, job: str
    ) -> TaskCompleted:
        """The event that tells subscribers of it; plain data, since they may write it into a header."""
        used = {each.path for each in self.used}
        return TaskCompleted(
            self.run,
            self.session,
            task,
            speaker,
            self.outcome.value,
            self.answer,
            self.tools,
            seconds,
            self.steps,
            usage.input,
            usage.output,
            at,
            given=self.provided_notes,
            used=tuple(path for path in self.provided_notes if path in used),
            job=job,
        )


def outcome_of(stop: Exception) -> RunOutcome:
    """The outcome that belongs to the error that stopped a run."""
    match stop:
        case Finished():
            return RunOutcome.FINISHED
        case LimitReached():
            return RunOutcome.LIMIT
        case NeedsApproval():
            return RunOutcome.NEEDS_APPROVAL
        case QuestionAsked():
            return RunOutcome.QUESTION_ASKED
        case Interrupted() | Stopping():
            return RunOutcome.INTERRUPTED
        case _:
            return RunOutcome.FAILED


def end_of(reply: Reply) -> AgentError:
    """The error that ends a run after the model's last answer."""
    if reply.stop == "length":
        return LimitReached(
            "the answer was cut off at the longest that one may be",
            limit="llm.max_output",
            hint="ask for less at once, or choose another model (llm.model)",
        )
    if reply.stop == "refused" and reply.message.text.strip():
        return LimitReached(
            "the model or its provider broke the answer off: it is not whole",
            limit="",
            hint="ask in other words, or another model (llm.model)",
        )
    if not reply.message.text.strip():
        refused = reply.stop == "refused"
        if refused:
            return Permanent("the model refused to answer", hint="ask in other words, or another model (llm.model)")
        return Permanent("the model gave an empty answer", hint="ask again; if it stays empty, raise llm.max_output")
    return Finished(reply.message.text)
