"""One note while the program changes it: each line with its author, and the few things that may be done to it.

Lines of the person stay byte for byte; only a field that nobody has filled takes a value, whoever wrote its line. At
the end this is checked once more, and a change that would lose a line of theirs is not made.

A change of several lines at once in a note about the person: a pattern with its boxes, a lesson with its count.

The program writes such blocks, brings their lines up to date and takes them out again. Lines that the person wrote or
keeps are no block of the program's, so that nothing of theirs is ever changed this way.
"""

from collections.abc import Sequence
from typing import Literal, Self

from agent.dataclass import dataclass
from agent.errors import BadNote
from agent.markdown.blocks import Heading, parse_body
from agent.markdown.note import Note
from agent.markdown.yaml_write import Value
from agent.memory.profile.evidence import Evidence
from agent.memory.profile.profile_file import KEEP, ProfileFile, confidence_after, field_in, words_of_line

MOST_EVIDENCE = 60
"""The most quotations in one header; the changelog has all of them."""


@dataclass(slots=True)
class Row:
    """A line of the note without its line feed. `is_theirs`: the person wrote or changed it. `is_marked`: they have
    marked it, or its section, with `%% keep %%`."""

    text: str
    is_theirs: bool
    is_marked: bool = False
    is_body: bool = True

    @property
    def is_free(self) -> bool:
        """True if the program may replace the line."""
        return not (self.is_theirs or self.is_marked)


@dataclass(slots=True)
class NoteEdit:
    """A note whose bytes were `base` when the change began; `theirs` says for each line whether it is the person's."""

    base: bytes
    rows: list[Row]
    newline: str
    evidence: list[Evidence]

    @classmethod
    def begin(cls, base: bytes, theirs: Sequence[bool]) -> Self:
        """The note as it is."""
        text = base.decode("utf-8", "surrogateescape")
        lines = text.split("\n")
        note = Note.parse(base)
        first = max(note.body_line, 1)
        rows = [
            Row(line.removesuffix("\r"), theirs[at] if at < len(theirs) else True, is_body=at + 1 >= first)
            for at, line in enumerate(lines)
        ]
        return cls(base, rows, "\r\n" if "\r\n" in text else "\n", [])

    def find_marked(self) -> None:
        """Find the lines that the person has marked, by themselves or with a heading above them."""
        body = parse_body("\n".join(row.text for row in self.rows if row.is_body))
        first = next((at for at, row in enumerate(self.rows) if row.is_body), len(self.rows))
        levels = {first + each.line - 1: each.level for each in body.headings}
        marked_level = 0
        for at, row in enumerate(self.rows):
            level = levels.get(at, 0)
            if level and marked_level and level <= marked_level:
                marked_level = 0
            if level and not marked_level and KEEP.search(row.text):
                marked_level = level
            row.is_marked = bool(marked_level) or KEEP.search(row.text) is not None

    def empty_field(self, label: str) -> Row | None:
        """The line of the field of this label that nobody has filled and that may be filled."""
        for row in self._fields(label):
            found = field_in(row.text)
            if found is not None and not found[2] and not row.is_marked:
                return row
        return None

    def filled_fields(self, label: str) -> tuple[tuple[Row, str], ...]:
        """The lines of the fields of this label that have a value, with it."""
        found = ((row, field_in(row.text)) for row in self._fields(label))
        return tuple((row, words_of_line(field[2])) for row, field in found if field is not None and field[2])

    def line_saying(self, text: str) -> Row | None:
        """The first line that says exactly this."""
        wanted = words_of_line(text).casefold()
        body = (row for row in self.rows if row.is_body and wanted)
        return next((row for row in body if words_of_line(row.text).casefold() == wanted), None)

    def worded_rows(self) -> tuple[tuple[Row, str], ...]:
        """The lines of the body that say something, with what they say."""
        body = [row for row in self.rows if row.is_body]
        kinds = parse_body("\n".join(row.text for row in body)).kinds
        named = (row for row, kind in zip(body, kinds, strict=True) if kind in {"text", "table"})
        return tuple(
            (row, text) for row in named if (text := words_of_line(row.text)) and not _is_empty_field(row.text)
        )

    def fill(self, row: Row, value: str) -> None:
        """Give the field on this line a value; what stands before the value stays."""
        found = field_in(row.text)
        begin = found[0].rstrip() if found else row.text
        row.text = f"{begin} {value}"
        row.is_theirs = False

    def add(self, heading: str, *lines: str, before: Sequence[str] = ()) -> bool:
        """Add lines at the end of the section of this heading, which is added if it is missing, above the first of the
        headings `before` that is there; false if the person keeps the program out of it."""
        rows = [Row(line, is_theirs=False) for line in lines]
        at = self._end_of(heading)
        if at is None:
            later = next((each for name in before if (each := self._heading_row(name)) is not None), None)
            if later is not None:
                self.rows[later:later] = [Row(f"## {heading}", False), Row("", False), *rows, Row("", False)]
                return True
            self._close()
            gap = [] if self._is_blank(len(self.rows) - 2) else [Row("", is_theirs=False)]
            self.rows[-1:-1] = [*gap, Row(f"## {heading}", is_theirs=False), Row("", is_theirs=False), *rows]
            return True
        if self.rows[at - 1].is_marked and KEEP.search(self._heading_above(at)):
            return False
        added = [*([Row("", is_theirs=False)] if self._is_heading(at - 1) else []), *rows]
        self.rows[at:at] = added
        end = at + len(added)
        if end == len(self.rows) or self._is_heading(end):
            self.rows.insert(end, Row("", is_theirs=False))
        return True

    def replace_lines(self, before: Sequence[str], after: Sequence[str]) -> bool:
        """Put lines in the place of lines of the program's that follow each other; false if these are not there, or
        one of them is the person's."""
        count = len(before)
        for at in range(len(self.rows) - count + 1):
            rows = self.rows[at : at + count]
            if [row.text for row in rows] == list(before) and all(row.is_free and row.is_body for row in rows):
                self.rows[at : at + count] = [Row(line, is_theirs=False) for line in after]
                return True
        return False

    def drop_empty_section(self, heading: str) -> None:
        """Take out a heading of the program's below which nothing is left."""
        wanted = f"## {heading}"
        at = next((at for at, row in enumerate(self.rows) if row.is_free and row.text.strip() == wanted), None)
        if at is None:
            return
        end = at + 1
        while end < len(self.rows) and not self.rows[end].text.strip():
            end += 1
        if end == len(self.rows):
            while at and self._is_blank(at - 1) and not self.rows[at - 1].is_theirs:
                at -= 1
            self.rows[at:] = [Row("", is_theirs=False)]
        elif self._is_heading(end):
            del self.rows[at:end]

    def result(self, before: ProfileFile) -> bytes | None:
        """The new bytes with the evidence in the header; None if a line of the person would be lost."""
        text = self.newline.join(row.text for row in self.rows)
        if "\r\n" in self.base.decode("utf-8", "surrogateescape"):
            lines = self.base.decode("utf-8", "surrogateescape").split("\n")
            if any(not line.endswith("\r") for line in lines[:-1]):
                return None  # mixed line ends: nothing is rewritten
        made = text.encode("utf-8", "surrogateescape")
        theirs = [row.text for row in self.rows if row.is_theirs]
        for key, value in self._header(before):
            try:
                changed = Note.parse(made).with_key(key, value).data
            except BadNote:
                continue
            if _has_all(theirs, changed):
                made = changed
        return made if _has_all(theirs, made) else None

    def _header(self, before: ProfileFile) -> list[tuple[str, Value]]:
        """The changed keys of the header; a header of the person's own, without these keys, stays as it is."""
        there = Note.parse(self.base).header
        if "evidence" not in there:
            return []
        known = [each.written for each in before.evidence]
        fresh = list(dict.fromkeys(each.written for each in self.evidence if each.quote and each.written not in known))
        if not fresh or len(known) >= MOST_EVIDENCE:
            return []
        items: list[Value] = [*known, *fresh]
        keys: list[tuple[str, Value]] = [("evidence", items[:MOST_EVIDENCE])]
        figure = there.get("confidence")
        if "confidence" in there and (figure in (None, 0, "") or figure == confidence_after(len(known))):
            keys.append(("confidence", confidence_after(len(items))))
        return keys

    def _fields(self, label: str) -> list[Row]:
        wanted = label.strip().casefold()
        found = ((row, field_in(row.text)) for row in self.rows if row.is_body)
        return [row for row, field in found if field is not None and field[1].casefold() == wanted]

    def _end_of(self, heading: str) -> int | None:
        """The number of the row before which a line is added to the section; None without the section."""
        begin = self._heading_row(heading)
        if begin is None:
            return None
        first, headings = self._headings()
        level = next(each.level for each in headings if first + each.line - 1 == begin)
        below = (first + each.line - 1 for each in headings if each.level <= level)
        end = next((at for at in below if at > begin), len(self.rows))
        while self._is_blank(end - 1):
            end -= 1
        return end

    def _heading_row(self, heading: str) -> int | None:
        """The number of the row with this heading, below the title; None without it."""
        wanted = heading.strip().casefold()
        first, headings = self._headings()
        rows = (first + each.line - 1 for each in headings if each.level > 1 and _plain(each.text) == wanted)
        return next(rows, None)

    def _headings(self) -> tuple[int, Sequence[Heading]]:
        """The number of the first row of the body, and the body's headings, whose lines count from there."""
        first = next((at for at, row in enumerate(self.rows) if row.is_body), len(self.rows))
        return first, parse_body("\n".join(row.text for row in self.rows[first:])).headings

    def _heading_above(self, at: int) -> str:
        rows = (row.text for row in reversed(self.rows[:at]) if row.text.startswith("#") and KEEP.search(row.text))
        return next(rows, "")

    def _close(self) -> None:
        """End the note with a line end."""
        if self.rows and self.rows[-1].text:
            self.rows.append(Row("", is_theirs=False))

    def _is_blank(self, at: int) -> bool:
        return 0 <= at < len(self.rows) and self.rows[at].is_body and not self.rows[at].text.strip()

    def _is_heading(self, at: int) -> bool:
        return 0 <= at < len(self.rows) and self.rows[at].text.startswith("#")


def _plain(heading: str) -> str:
    return KEEP.sub("", heading).strip().casefold()


def _is_empty_field(line: str) -> bool:
    found = field_in(line)
    return found is not None and not found[2]


def _has_all(lines: Sequence[str], data: bytes) -> bool:
    """True if all of these lines are in the note, in their order."""
    rest = iter(row.removesuffix("\r") for row in data.decode("utf-8", "surrogateescape").split("\n"))
    return all(line in rest for line in lines)


BlockDone = Literal["added", "replaced", "removed"]


@dataclass(frozen=True, slots=True)
class BlockChange:
    """The lines `before`, as the program wrote them in `note`, become the lines `after`: without `before` they are
    added to the section of the heading, without `after` they are taken out. `says` is the block in a few words for the
    changelog; `id` is the writer's own."""

    note: str
    says: str
    heading: str
    evidence: tuple[Evidence, ...]
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    id: str = ""


def change_block(edit: NoteEdit, change: BlockChange) -> BlockDone | None:
    """Make the change; a section that is left empty goes. Returns what was done, or None if
    the lines are not there as the program wrote them, or the person keeps the program out of the section."""
    edit.find_marked()
    if not change.before:
        return "added" if edit.add(change.heading, *change.after) else None
    if not edit.replace_lines(change.before, change.after):
        return None
    if change.after:
        return "replaced"
    edit.drop_empty_section(change.heading)
    return "removed"
