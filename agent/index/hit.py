"""The values of a search: the query with its filters, and the hits."""

from dataclasses import field
from typing import TYPE_CHECKING, Literal, TypeAlias

from agent.dataclass import dataclass

if TYPE_CHECKING:
    from agent.index.dates import NamedDay

Mode = Literal["hybrid", "keyword", "vector", "none"]
Engine: TypeAlias = Literal["whoosh", "tantivy"]


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


@dataclass(frozen=True, slots=True)
class Query:
    """A query: its text without filters, its terms, and the days in it."""

    text: str
    terms: tuple[str, ...] = ()
    days: "tuple[NamedDay, ...]" = ()
    filters: Filters = Filters()


@dataclass(frozen=True, slots=True)
class Leg:
    """One signal's part in a hit: its rank among the candidates (from 1), its raw score, and its share of the sum."""

    name: str
    rank: int
    score: float
    share: float


@dataclass(frozen=True, slots=True)
class Hit:
    """A note, or a passage of one, that matches a query; `lines` are inclusive and count from 1 in the file."""

    path: str
    title: str
    id: str | None
    score: float
    lines: tuple[int, int]
    passage: str
    headings: tuple[str, ...]
    why: tuple[Leg, ...] = ()
    """Every leg with its rank and score, the largest share first; empty unless `explain` is set."""
    facets: tuple[tuple[str, str], ...] = ()
    """The facets of its note, for filters: keys of the header and `tag`, with values in lower case."""

    @property
    def is_of_note(self) -> bool:
        """False for a passage of an attachment, whose lines are those of its text and not of the file."""
        return self.path.endswith(".md")

    @property
    def part(self) -> str:
        """The path; of an attachment with its page: `papers/x.pdf, page 3`."""
        return self.path if self.is_of_note else ", ".join((self.path, *self.headings))

    @property
    def place(self) -> str:
        """Where the passage stands, for people: `garden.md:12`, or `papers/x.pdf, page 3`."""
        return f"{self.path}:{self.lines[0]}" if self.is_of_note else self.part


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The hits of a search, best first; `degraded` is the reason why an engine or the vectors are missing, or None."""

    query: str
    mode: Mode
    engine: str
    hits: tuple[Hit, ...] = field(default=())
    degraded: str | None = None
    is_near: bool = False
    """True if no hit is known to have a word of the query: they were found by their meaning alone."""
    is_elsewhere: bool = False
    """True if they are near, and other notes, which are not among the hits, have a word of the query."""
    text: str = ""
    """The query without its filters."""
