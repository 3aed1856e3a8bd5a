"""The source of what is known about the person: the base of their profile, and the notes that a task has to do with."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from agent.context.budget import Count
from agent.context.source import Piece, Receipt
from agent.llm.messages import Context
from agent.loop.session import Session
from agent.memory.edits.lessons_note import is_sure
from agent.memory.profile.load import load_profile
from agent.memory.profile.profile_file import ProfileFile
from agent.memory.profile.summary import SummaryPart, profile_summary
from agent.tools.text_origin import TextOrigin
from agent.vault.store import Vault

PROFILE_SOURCE = "profile"
_WHY = "profile"


@dataclass(frozen=True, slots=True)
class ProfileSource:
    """The source for the tasks of one run. Only the owner's runs have one; `shown` are the parts that the session has
    already. A note with text that others wrote, or that a run wrote that had read such text, is left out."""

    vault: Vault
    foreign: TextOrigin
    count: Count
    shown: Collection[str] = ()

    @property
    def name(self) -> str:
        return PROFILE_SOURCE

    def pieces(self, task: str, room: int) -> Sequence[Piece]:
        """The parts of the summary as texts with receipts; none while nothing is filled."""
        files = tuple(each for each in load_profile(self.vault) if each.filled and self._is_own(each))
        parts = profile_summary(files, self.vault.masked(task), room, self.count, is_sure)
        return [_piece(each) for each in parts if each.text not in self.shown]

    def _is_own(self, file: ProfileFile) -> bool:
        data = self.vault.read(file.path) or b""
        return not self.foreign.source(file.path, data)


def shown_parts(session: Session) -> frozenset[str]:
    """The parts of the profile that a session has been given."""
    given = (each.text for each in session.history if isinstance(each, Context) and each.source == PROFILE_SOURCE)
    return frozenset(part for text in given for part in text.split("\n\n"))


def _piece(part: SummaryPart) -> Piece:
    numbers = [each.line for each in part.file.fields] + [each.line for each in part.file.statements]
    lines = (min(numbers), max(numbers))
    return Piece(part.text, PROFILE_SOURCE, part.score, Receipt(part.file.path, lines, None, part.score, _WHY))
