"""The connection of a run to its caller; apart from `service`, which is slow to load."""

from agent.dataclass import dataclass
from agent.llm.messages import Cancelled, OnText, ignore, never
from agent.loop.mailbox import Mailbox


@dataclass(frozen=True, slots=True)
class RunIO:
    """The connection of a run to its caller: the output of text, the source of more messages, and the stop check."""

    on_text: OnText = ignore
    cancelled: Cancelled = never
    mailbox: Mailbox | None = None


UNWATCHED = RunIO()
"""Of a run that nobody follows or stops."""
