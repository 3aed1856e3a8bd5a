"""What a person and their agent did lately, as plain values: all that the detectors look at."""

from datetime import datetime
from typing import Literal, TypeAlias

from agent.dataclass import dataclass

RemarkKind: TypeAlias = Literal["asked", "stated", "written", "edited"]
"""What was asked of the agent, stated in an entry, written into a note on a day, or edited (the note's title)."""


@dataclass(frozen=True, slots=True)
class Remark:
    """Something that the person said or wrote. `at` is aware, in the wall clock of that moment; `is_timed` is false if
    only its day is known. `link` is that of the note that shows it."""

    kind: RemarkKind
    at: datetime
    text: str
    link: str
    is_timed: bool = True


@dataclass(frozen=True, slots=True)
class ToolCallMade:
    """One call of a tool in a run; `reason` is the error of a failed one."""

    at: datetime
    tool: str
    link: str
    reason: str = ""

    @property
    def failed(self) -> bool:
        return bool(self.reason)


@dataclass(frozen=True, slots=True)
class OpenBox:
    """A task that is not done: an unticked box in a note, or a task that waits. `since`: nobody has touched it since
    then."""

    text: str
    link: str
    since: datetime


@dataclass(frozen=True, slots=True)
class Activity:
    """What happened in the days up to `now`, oldest first. `ticked` are the texts of boxes that are done."""

    now: datetime
    remarks: tuple[Remark, ...] = ()
    calls: tuple[ToolCallMade, ...] = ()
    boxes: tuple[OpenBox, ...] = ()
    ticked: tuple[str, ...] = ()

    def of_kinds(self, *kinds: RemarkKind) -> tuple[Remark, ...]:
        """The remarks of these kinds."""
        return tuple(each for each in self.remarks if each.kind in kinds)
