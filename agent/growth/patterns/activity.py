"""What a person and their agent did lately, as plain values: all that the detectors look at."""

from datetime import datetime
from typing import Literal, TypeAlias

from agent.dataclass import dataclass

RemarkKind: TypeAlias = Literal["asked", "stated", "written", "edited"]
"""What was asked of the agent, stated in an entry, written into a note on a day, or edited (the note's title)."""


@dataclass(frozen=True, slots=True)
class Remark:
    """Something that the person asked or wrote. `at` is aware, in the wall clock of that moment; `is_timed` is false
    if only its day is known. `link` is that of the note that shows it."""

    kind: RemarkKind
    at: datetime
    text: str
    link: str
    is_timed: bool = True


@dataclass(frozen=True, slots=True)
class ToolCallMade:
    """One call of a tool in a run; `reason` is the error of a failed one, else empty."""

    at: datetime
    tool: str
    link: str
    reason: str = ""


Case: TypeAlias = Remark | ToolCallMade


@dataclass(frozen=True, slots=True)
class OpenBox:
    """A task that is not done: an unticked box in a note, or a task that waits. It was last touched at `since`."""

    text: str
    link: str
    since: datetime


@dataclass(frozen=True, slots=True)
class Activity:
    """What happened in the days up to `now`, oldest first. `ticked` are the texts of boxes that are done."""

    now: datetime
    remarks: tuple[Remark, ...] = ()
    boxes: tuple[OpenBox, ...] = ()
    ticked: tuple[str, ...] = ()

    def of_kinds(self, *kinds: RemarkKind) -> tuple[Remark, ...]:
        """The remarks of these kinds."""
        return tuple(each for each in self.remarks if each.kind in kinds)
