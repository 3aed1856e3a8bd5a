"""Passages of a note for search: short enough for one topic, long enough to be understood.

A passage stays in its section (short neighbouring sections share one), and never splits a code fence, a table or a
formula. Together the passages hold every line of the body that is not blank; of a session, not what is folded: results
of tools and recalled notes, which have passages of their own. The index ranks them.
"""

import re
from collections.abc import Iterator, Set
from dataclasses import field
from datetime import date, datetime

from agent.dataclass import dataclass
from agent.markdown import blocks
from agent.markdown.blocks import Body
from agent.markdown.note import UTF16, Note
from agent.markdown.session_marks import FOLDED, SESSION

_CJK = r"[\u2e80-\u2fdf\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"
_DAY = re.compile(r"(?<![0-9])[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9])", re.ASCII)
_WHOLE = frozenset(("fence", "table", "math", "code"))


@dataclass(frozen=True, slots=True)
class Sizes:
    """Size limits of one passage; a fence, a table or a single line above the limit is a passage by itself."""

    words: int = 180
    """The maximum number of words; a Chinese, Japanese or Korean character counts as one."""
    lines: int = 0
    """The maximum number of lines that are not blank; a fence or a table counts as one; 0: no limit."""
    least: int = 40
    """A section with fewer words is joined with the next one, under their shared headings."""


@dataclass(frozen=True, slots=True)
class Passage:
    """`text` is lines `first` to `last` (inclusive, from 1 in the file), below `headings`."""

    text: str
    headings: tuple[str, ...]
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class _Unit:
    """Lines that are never split, as indexes into the body's lines, both inclusive."""

    first: int
    last: int
    words: int
    after_blank: bool
    heading: bool = False


def split_passages(note: Note, sizes: Sizes = Sizes(), body: Body | None = None) -> tuple[Passage, ...]:
    """The note's passages in order; `body` is the note's body if already parsed.

    When the header cannot be parsed, the passages include the header's text, so that search still finds the note.
    """
    if note.problem is not None and not note.data.startswith(UTF16):
        body = blocks.parse_body(note.text)
    elif body is None:
        body = blocks.parse_body(note.body, note.body_line)
    folded = _folded(body) if note.type == SESSION else frozenset[int]()
    return tuple(
        Passage("\n".join(body.lines[first : last + 1]), headings, body.first + first, body.first + last)
        for headings, first, last in _cut(body, sizes, folded)
    )


def day(note: Note, path: str) -> str:
    """The note's day as `YYYY-MM-DD`: from `date` or `created` in its header, else from its path, else empty."""
    for key in ("date", "created"):
        value = note.header.get(key)
        if isinstance(value, date | datetime):
            return value.isoformat()[:10]
        if isinstance(value, str) and (found := _DAY.match(value)):
            return found[0]
    days = _DAY.findall(path)
    return str(days[-1]) if days else ""


def words(text: str) -> int:
    """The number of words; a Chinese, Japanese or Korean character counts as one."""
    if text.isascii():
        return len(text.split())
    rest, characters = re.subn(_CJK, " ", text)
    return len(rest.split()) + characters


@dataclass(slots=True)
class _Draft:
    """A passage under construction."""

    path: tuple[str, ...] = ()
    units: list[_Unit] = field(default_factory=list)
    words: int = 0
    texts: int = 0  # units that are not headings

    def add(self, unit: _Unit) -> None:
        self.units.append(unit)
        if not unit.heading:
            self.words += unit.words
            self.texts += 1

    def cut(self) -> tuple[tuple[str, ...], int, int]:
        return self.path, self.units[0].first, self.units[-1].last


def _cut(body: Body, sizes: Sizes, folded: Set[int]) -> Iterator[tuple[tuple[str, ...], int, int]]:
    """The heading path and the first and last line (as indexes) of each passage."""
    paths = dict(heading_paths(body))
    place: tuple[str, ...] = ()
    draft = _Draft()
    units = list(_units(body, counts_words=sizes.lines != 1 or sizes.least > 0))
    for index, unit in enumerate(units):
        if unit.first in folded:
            if draft.texts:
                yield draft.cut()
            draft = _Draft(place)
            continue
        if unit.heading:
            place, above = paths[unit.first], place
            shared = _shared(draft.path, place)
            if draft.texts and (draft.words >= sizes.least or not _neighbours(above, shared)):
                yield draft.cut()
                draft = _Draft(place)
            else:
                draft.path = shared if draft.texts else place
        elif draft.texts and not _fits(draft, units, index, sizes):
            yield draft.cut()
            draft = _Draft(place)
        draft.add(unit)
    if draft.texts or (draft.units and not folded):
        yield draft.cut()


def _folded(body: Body) -> frozenset[int]:
    """The indexes of the lines in collapsed callouts of a session."""
    found: set[int] = set()
    is_inside = False
    for index, line in enumerate(body.lines):
        is_inside = line.startswith(">") and (is_inside or line.startswith(FOLDED))
        found |= {index} if is_inside else set()
    return frozenset(found)


def _shared(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    length = 0
    while length < min(len(one), len(other)) and one[length] == other[length]:
        length += 1
    return one[:length]


def _neighbours(above: tuple[str, ...], shared: tuple[str, ...]) -> bool:
    """True if two sections are parent and child, or children of one parent."""
    return not above or (bool(shared) and len(shared) >= len(above) - 1)


def _fits(draft: _Draft, units: list[_Unit], index: int, sizes: Sizes) -> bool:
    """True if the next unit goes into the passage; a paragraph that fits into one passage is not split."""
    unit = units[index]
    if draft.words + unit.words > sizes.words or (sizes.lines and draft.texts >= sizes.lines):
        return False
    if not unit.after_blank or sizes.lines:
        return True
    paragraph = 0
    for at in range(index, min(index + sizes.words + 1, len(units))):
        if (units[at].after_blank and at > index) or units[at].heading or paragraph > sizes.words:
            break
        paragraph += units[at].words
    return draft.words + paragraph <= sizes.words or paragraph > sizes.words


def heading_paths(body: Body) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Each heading's line (an index into the body's lines) with its path: the parent headings' texts and its own."""
    open_levels: list[tuple[int, str]] = []
    for heading in body.headings:
        while open_levels and open_levels[-1][0] >= heading.level:
            open_levels.pop()
        open_levels.append((heading.level, heading.text))
        yield heading.line - body.first, tuple(text for _, text in open_levels)


def _units(body: Body, *, counts_words: bool) -> Iterator[_Unit]:
    """The units in order; where each of them is a passage by itself, their words need not be counted."""
    headings = {heading.line - body.first for heading in body.headings}
    kinds, lines = body.kinds, body.lines
    index, after_blank = 0, True
    while index < len(lines):
        kind = kinds[index]
        if not lines[index].strip():
            after_blank, index = True, index + 1
            continue
        last = index
        if kind in _WHOLE:
            while last + 1 < len(lines) and kinds[last + 1] == kind:
                last += 1
        elif index in headings:  # an underlined heading has several lines
            while last + 1 < len(lines) and kinds[last + 1] == "heading" and last + 1 not in headings:
                last += 1
        size = sum(words(lines[at]) for at in range(index, last + 1)) if counts_words else 0
        while not lines[last].strip():
            last -= 1
        yield _Unit(index, last, size, after_blank, index in headings)
        index, after_blank = last + 1, False
