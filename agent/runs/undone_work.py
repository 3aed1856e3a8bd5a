"""Tells the model of a conversation which of its changes were taken back since its last run, so that it does not go on
as if they were there."""

from collections.abc import Sequence
from datetime import datetime

from agent.context.source import Piece
from agent.dataclass import dataclass
from agent.llm.messages import Context
from agent.loop.records import Spoken
from agent.loop.session import Session
from agent.tools.tool import RunContext
from agent.vault.history.commits import read_commits
from agent.vault.history.find import commits
from agent.vault.store import Vault

UNDONE = "undone"
_MOST, _NOTES = 50, 8
"""The most undos that are looked at, and the most notes that are named of each."""


@dataclass(frozen=True, slots=True)
class UndoneWork:
    """What was undone of one conversation since `last`, its last record (None: it has none), and was not `told` yet."""

    vault: Vault
    session: str
    last: datetime | None
    told: str = ""
    name: str = UNDONE

    def pieces(self, task: str, room: int) -> Sequence[Piece]:
        """One text with a line for each commit that was taken back; none without one."""
        if self.last is None:
            return ()
        undone = {id for each in commits(self.vault, since=self.last, limit=_MOST) for id in each.undoes}
        ours = [each for each in read_commits(self.vault, sorted(undone)) if each.session == self.session]
        rows = [
            f"- {each.subject} ({each.id[:10]}): {', '.join(file.path for file in each.files[:_NOTES])}"
            for each in ours
            if each.id[:10] not in self.told
        ]
        head = "Since your last answer here, these changes of yours were taken back. They are not there any more:"
        return (Piece("\n".join([head, *rows]), UNDONE),) if rows else ()


def undone_work(context: RunContext, session: Session) -> UndoneWork:
    """The source for a run in this session, before anything of the run is recorded in it."""
    spoken = (each.event.message for each in session.records if isinstance(each.event, Spoken))
    told = "\n".join(each.text for each in spoken if isinstance(each, Context) and each.source == UNDONE)
    return UndoneWork(session.vault, session.path, session.last, told)
