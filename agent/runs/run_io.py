"""The connection of a run to its caller; apart from `service`, which is slow to load."""

from agent.dataclass import dataclass
from agent.llm.messages import Cancelled, OnText, ignore, never
from agent.loop.mailbox import Mailbox


@dataclass(frozen=True, slots=True)
class RunIO:
    """The connection of a run to its caller: the output of text, the source of more messages, the stop check, and who
    is told the path of a session as soon as it has one."""

    on_text: OnText = ignore
    cancelled: Cancelled = never
    mailbox: Mailbox | None = None
    on_session: OnText = ignore


UNWATCHED = RunIO()
"""Of a run that nobody follows or stops."""
