"""A search: its filters and remaining text, the days that it names, and its hits."""

import re
from dataclasses import field
from datetime import date, timedelta
from typing import TYPE_CHECKING, Literal, TypeAlias

from agent.dataclass import dataclass
from agent.errors import UserError
from agent.index.analysis import query_terms
from agent.index.records import Filters
from agent.lazy import later
from agent.times.named_days import NamedDay, parse_days, span

if TYPE_CHECKING:
    from agent.times.periods import parse_period
else:  # few searches have such a filter
    parse_period = later("agent.times.periods", "parse_period")


AFTER_DAYS = 10
"""Days after the day in the query that still count, with decreasing weight: people write "yesterday" and "last
week"."""


def closeness(asked: tuple[NamedDay, ...], day: str) -> float:
    """A score from 0 to 1: the closeness of a note's day (`YYYY-MM-DD`, or empty) to the days in a query."""
    if not asked or not day:
        return 0.0
    try:
        written = date.fromisoformat(day)
    except ValueError:
        return 0.0
    return max(_close(each, written) for each in asked)


def _close(asked: NamedDay, written: date) -> float:
    best = 0.0
    for year in (asked.year,) if asked.year else (written.year, written.year - 1):
        first, last = span(year, asked.month, asked.day)
        gap = (written - last).days
        if first <= written <= last:
            return 1.0
        if 0 < gap <= AFTER_DAYS:
            best = max(best, 0.8 * (1 - gap / (AFTER_DAYS + 1)))
    return best


def answering_days(asked: NamedDay) -> tuple[str, str]:
    """The first and last day (ISO) of the notes that can match this day or month."""
    first, last = span(asked.year, asked.month, asked.day)
    return first.isoformat(), (last + timedelta(AFTER_DAYS)).isoformat()


Mode = Literal["hybrid", "keyword", "vector", "none"]
Engine: TypeAlias = Literal["whoosh", "tantivy", "postgres"]


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
    files: tuple[str, ...] | None = None
    """The files beside notes that have all words of the query in their paths; None: it was not looked for them."""


_FILTER = re.compile(r"""(?<!\S)(-?)([^\x00-@\[-^`{-\x7f][\w-]*):(?:"([^"]*)"|'([^']*)'|([^\s"'/][^\s]*)|(?=\s|$))""")
_FILTER_DAY = re.compile(r"([0-9]{4})(?:-([0-9]{1,2}))?(?:-([0-9]{1,2}))?")
_EXAMPLES = {
    "path": "path:notes/garden",
    "tag": "tag:garden",
    "type": "type:note",
    "scope": "scope:user",
    "after": "after:2023-05-08",
    "before": "before:2023-05-08",
}
KNOWN = frozenset(_EXAMPLES)
_COLON = re.compile(r"(?<=[\w-]):(?=\S)")
_BARE = re.compile(rf"(?<!\S)({'|'.join(_EXAMPLES)}):(?=\s|$)", re.IGNORECASE)


def parse_query(text: str, keys: frozenset[str] = frozenset()) -> Query:
    """The query in `text`; `keys` are the vault's header keys, which are filters beside the built-in ones.

    Raises `UserError` for an invalid day, and for a built-in filter without a value that is the first word or has
    quotes.
    """
    text = text.strip().encode("utf-8", "replace").decode()  # a shell can pass a lone surrogate
    paths: list[str] = []
    after = before = ""
    wanted: list[tuple[str, str]] = []
    remaining: list[str] = []
    position = 0
    for match in _FILTER.finditer(text):
        key = match[2].casefold()
        if match[1] or (key not in KNOWN and key not in keys):
            continue
        value = next(filter(None, match.groups()[2:]), "")
        if not value and (key not in KNOWN or (match.start() and match[0].endswith(":"))):
            continue  # "operators such as path: and tag:" is about filters
        if not value:
            hint = "write it right behind the colon, such as {example}"
            raise UserError("{filter} has no value", hint=hint, filter=match[0], example=_EXAMPLES[key])
        remaining.append(text[position : match.start()])
        position = match.end()
        if key == "path":
            paths.append(value.strip("/"))
        elif key == "after":
            after = max(after, parse_day(value, last=False))
        elif key == "before":
            last = parse_day(value, last=True)
            before = min(before, last) if before else last
        else:
            wanted.append(("tag" if key == "tags" else key, value.removeprefix("#").casefold()))
    remaining.append(text[position:])
    rest = " ".join("".join(remaining).split())
    filters = Filters(tuple(paths), after, before, tuple(wanted))
    return Query(rest, tuple(query_terms(rest)), parse_days(rest), filters)


def with_whole_days(text: str, today: date) -> str:
    """The text with the days of its filters `after:` and `before:` as ISO writes them: of `after:yesterday`, of
    `before:"last week"`, `after:上周`. What is not understood stays, and is refused by `parse_query`."""

    def written(match: re.Match[str]) -> str:
        key, value = match[2].casefold(), next(filter(None, match.groups()[2:]), "")
        if match[1] or key not in ("after", "before") or not value or _FILTER_DAY.fullmatch(value):
            return match[0]
        found = parse_period(value, today)
        return match[0] if found is None else f"{key}:{found.first if key == 'after' else found.last}"

    return _FILTER.sub(written, text) if ":" in text else text


def without_filters(text: str) -> str:
    """The text with nothing in it that parses as a filter, for what is no query: a task, a sentence."""
    return _BARE.sub(r"\1", _COLON.sub(": ", text))


def parse_day(text: str, *, last: bool) -> str:
    """The first or the last day of `2023`, `2023-05` or `2023-05-08`, as ISO; raises `UserError`."""
    found = _FILTER_DAY.fullmatch(text)
    if found is None:
        hint = 'write it as 2023-05-08, 2023-05, yesterday or "last week"'
        raise UserError("{text} is not a day", hint=hint, text=text)
    year, month, number = (int(part) if part else 0 for part in found.groups())
    try:
        first, end = span(year, month or (12 if last else 1), number)
    except ValueError as error:
        raise UserError("the calendar has no {text}", hint="write a day as 2023-05-08", text=text) from error
    return (end if last else first).isoformat()
