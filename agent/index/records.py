"""What the passage store holds: a row for each note, and the sums over all of them."""

from typing import Literal, TypeAlias

from agent.dataclass import dataclass

NoteStatus: TypeAlias = Literal["indexed", "skipped", "failed"]
PRIVATE = "private"
"""The reason why a note is skipped whose header keeps the agent out; such notes are named nowhere."""


def is_attachment(path: str) -> bool:
    """True for an indexed file that is no note."""
    return not path.endswith(".md")


@dataclass(frozen=True, slots=True)
class StoredNote:
    """A note in the store; `data` is its row of arrays, `headings` has each new heading path and its first unit."""

    id: int
    path: str
    hash: str
    status: NoteStatus
    reason: str = ""
    title: str = ""
    name: str | None = None
    day: str = ""
    headings: tuple[tuple[int, tuple[str, ...]], ...] = ()
    facets: tuple[tuple[str, str], ...] = ()
    data: bytes = b""
    text: str = ""

    @property
    def is_whole(self) -> bool:
        """True if search finds all of it."""
        return self.status == "indexed" and not self.reason


@dataclass(frozen=True, slots=True)
class IndexTotals:
    """Sums over all indexed notes; lengths are in terms."""

    notes: int = 0
    units: int = 0
    terms: int = 0
    hood_terms: int = 0

    def plus(self, other: "IndexTotals", sign: int = 1) -> "IndexTotals":
        notes, units = self.notes + sign * other.notes, self.units + sign * other.units
        return IndexTotals(notes, units, self.terms + sign * other.terms, self.hood_terms + sign * other.hood_terms)
