"""The source of what is known about the person: the base of their profile, the notes that a task has to do with, and
what they prefer for texts of the kind that it asks for."""

from collections.abc import Collection, Sequence

from agent.context.budget import Count
from agent.context.source import Piece, Receipt
from agent.dataclass import dataclass
from agent.llm.messages import Context
from agent.loop.session import Session
from agent.memory.profile.belief_line import BeliefLine, parse_belief_line
from agent.memory.profile.load import load_profile
from agent.memory.profile.profile_file import ProfileFile, Statement
from agent.memory.profile.search import share_of_words
from agent.memory.profile.summary import LEAST_CONFIDENCE, SummaryPart, profile_summary
from agent.memory.profile.task_kind import kind_of_task
from agent.tools.text_origin import TextOrigin
from agent.vault.store import Vault

PROFILE_SOURCE = "profile"
_WHY = "profile"
_HEAD = "What the person prefers, by what they said and did ([[{note}]], with how sure that is):"
_BELIEVED = 1.5
"""The score of preferences: below the base of the profile, above the notes that a task has to do with."""
_ON_SUBJECT = 0.05
"""The share of a task's words from which a preference is about its subject."""


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
        plain = self.vault.masked(task)
        preferred = [piece for each in files if (piece := self._preferred(each, plain, room)) is not None]
        left = room - sum(self.count(each.text) + 1 for each in preferred)
        parts = profile_summary(files, plain, left, self.count, _is_no_belief)
        return [each for each in (*preferred, *map(_piece, parts)) if each.text not in self.shown]

    def _preferred(self, file: ProfileFile, task: str, room: int) -> Piece | None:
        """What the person prefers for a task, by a note: how texts of its kind are to be, and what it is about; only
        what is sure enough."""
        found = [(each, line) for each in file.statements if (line := parse_belief_line(each.text)) is not None]
        told = [(each, line) for each, line in found if line.confidence > LEAST_CONFIDENCE and _is_about(line, task)]
        told.sort(key=lambda pair: -pair[1].confidence)
        rows, lines, used = [_HEAD.format(note=file.path.removesuffix(".md"))], list[Statement](), 0
        for each, line in told:
            row = f"- {line.says} ({line.confidence:.2f})"
            used = self.count("\n".join([*rows, row]))
            if used > room:
                break
            rows.append(row)
            lines.append(each)
        if not lines:
            return None
        numbers = [each.line for each in lines]
        receipt = Receipt(file.path, (min(numbers), max(numbers)), None, _BELIEVED, _WHY)
        return Piece("\n".join(rows), PROFILE_SOURCE, _BELIEVED, receipt)

    def _is_own(self, file: ProfileFile) -> bool:
        data = self.vault.read(file.path) or b""
        return not self.foreign.source(file.path, data)


def shown_parts(session: Session) -> frozenset[str]:
    """The parts of the profile that a session has been given."""
    given = (each.text for each in session.history if isinstance(each, Context) and each.source == PROFILE_SOURCE)
    return frozenset(part for text in given for part in text.split("\n\n"))


def _is_about(line: BeliefLine, task: str) -> bool:
    """True if a preference concerns a task: by the kind of text that it asks for, else by its words."""
    if line.tasks is not None:
        return line.is_for(kind_of_task(task))
    return share_of_words(task, line.says) > _ON_SUBJECT


def _is_no_belief(row: str) -> bool:
    return parse_belief_line(row) is None


def _piece(part: SummaryPart) -> Piece:
    numbers = [each.line for each in part.file.fields] + [each.line for each in part.file.statements]
    lines = (min(numbers), max(numbers))
    return Piece(part.text, PROFILE_SOURCE, part.score, Receipt(part.file.path, lines, None, part.score, _WHY))
