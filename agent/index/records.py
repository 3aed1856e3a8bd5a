"""What the passage store holds: a row for each note, the sums over all of them, and the conditions to choose by."""

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


@dataclass(frozen=True, slots=True)
class Filters:
    """Conditions that every hit must satisfy; an empty field is no condition. Days are `YYYY-MM-DD`, inclusive on both
    sides."""

    paths: tuple[str, ...] = ()
    """Any of these: the beginning of a path, or a pattern with `*`."""
    after: str = ""
    before: str = ""
    keys: tuple[tuple[str, str], ...] = ()
    """All of these: a key of the header (`tag` for tags, in the header or the text) and a value in lower case."""
    without: "tuple[Filters, ...]" = ()
    """None of these: a note that satisfies one of them is left out."""

    def but(self, without: "tuple[Filters, ...]") -> "Filters":
        """The same conditions, with `without` for what is left out."""
        return Filters(self.paths, self.after, self.before, self.keys, without)

    def __bool__(self) -> bool:
        return bool(self.paths or self.after or self.before or self.keys or self.without)
