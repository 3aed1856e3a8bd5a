"""Events of what the person may want to hear of, as frozen values: plain data, so that every layer can raise one."""

from typing import Literal, TypeAlias

from agent.dataclass import dataclass

REMINDER = "reminder"
"""The type of what the person wanted to be told at a time: nothing holds or drops it, and if its channel fails it
stands in the day's note until the channel proves it."""
Decided: TypeAlias = Literal["sent", "held", "dropped", "digest"]
"""What was decided about a notice: sent at once, held until it may be sent, dropped, or left for the digest."""


@dataclass(frozen=True, slots=True)
class NoticeRaised:
    """Something that the person may want to hear of; whether, when and where is decided by attention.

    `type` is a short name such as `job_failed`; `priority` is from 0 to 1. `title` is one line, `lines` say more; both
    are in the language of the vault and hold no text of strangers unescaped. `subject` is what it is about, such as the
    path of a note: two notices of one type about one subject say the same. `channel` is the channel that was asked for
    (empty: the person's). `urgent`: also in quiet hours. `decides` is the path of the note in `approvals/` or
    `questions/` in which the person can answer. `due` is the moment at which the person wanted to hear of it, in
    ISO 8601 (empty: none).
    """

    type: str
    priority: float
    title: str
    lines: tuple[str, ...] = ()
    subject: str = ""
    channel: str = ""
    urgent: bool = False
    decides: str = ""
    due: str = ""


@dataclass(frozen=True, slots=True)
class NotificationSent:
    """A channel has proved that it delivered a notice."""

    notice: str
    type: str
    channel: str
    proof: str


@dataclass(frozen=True, slots=True)
class NotificationSuppressed:
    """A notice was not sent now: the rule that held it back."""

    notice: str
    type: str
    decision: Decided
    rule: str
