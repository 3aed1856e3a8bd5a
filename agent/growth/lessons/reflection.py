"""The values of a reflection: what became of a run, why, and what to do otherwise the next time."""

from dataclasses import asdict
from datetime import datetime
from typing import Literal, TypeAlias

from agent.dataclass import dataclass
from agent.growth.lessons.lesson import lesson_sentence
from agent.runs.reactions import ReactionKind

Grade: TypeAlias = Literal["low", "medium", "high"]
Trigger: TypeAlias = Literal["task", "error", "day", "feedback"]
"""The occasion: a run has ended, a day is over, or the person has said or done something about what came of a run;
`error`, in old notes only, is something that went wrong while a run went on."""
Occasion: TypeAlias = Literal["task", "feedback"]
Opinion: TypeAlias = Literal["", "helpful", "not_helpful"]
"""The box that the person has ticked below a reflection; empty without a tick, and with both."""
ErrorKind: TypeAlias = Literal["information", "strategy", "tool", "model"]
"""The cause of a trouble: too little was known, the way was wrong, a tool was misused, or the model cannot do it."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """A thing to do the next time, in the case `when`, with the `effect` that is expected of it.

    `severity` is how bad it is if it is not done. `restricts`: it only forbids or asks for care, and allows nothing
    that was not allowed.
    """

    text: str
    when: str
    effect: str
    confidence: Grade
    severity: Grade = "low"
    restricts: bool = False

    @property
    def sentence(self) -> str:
        """The lesson that it would be, in one line."""
        return lesson_sentence(self.text, self.when)


@dataclass(frozen=True, slots=True)
class Reflection:
    """One reflection as it stands in its note at `path`, below the heading `heading` (empty: the whole note).

    `runs` are those that it is about, `sessions` the notes with their words. `error` says what went wrong (empty:
    nothing did), `gap` what the agent could not do. `strangers` are the sources of text which is not the person's and
    that these runs have read: nothing of such a reflection may steer the agent. `opinion` is the person's, by the boxes
    in the note. `notes` are those that the runs have read or written, `reactions` what the person had said or done
    about them by then.
    """

    path: str
    at: datetime
    trigger: Trigger
    runs: tuple[str, ...]
    sessions: tuple[str, ...]
    result: str = ""
    efficiency: str = ""
    error: str = ""
    error_kind: ErrorKind | None = None
    strategies: tuple[Strategy, ...] = ()
    gap: str = ""
    heading: str = ""
    strangers: tuple[str, ...] = ()
    opinion: Opinion = ""
    notes: tuple[str, ...] = ()
    reactions: tuple[ReactionKind, ...] = ()

    @property
    def teaches(self) -> bool:
        """True if there is something to do otherwise, or something is missing: else there is nothing to write down."""
        return bool(self.strategies or self.gap)

    @property
    def link(self) -> str:
        """A link to the reflection in its note."""
        place = f"#{self.heading}" if self.heading else ""
        return f"[[{self.path.removesuffix('.md')}{place}]]"


def reflection_document(reflection: Reflection) -> dict[str, object]:
    """The fields of a reflection for JSON; empty texts and lists are there, too."""
    strategies = ({"strategy": each.pop("text"), **each} for each in map(asdict, reflection.strategies))
    return {**asdict(reflection), "at": reflection.at.isoformat(), "strategies": list(strategies)}
