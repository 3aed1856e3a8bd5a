"""Adds Markdown to the end of a note as blocks of its own: there it is what it would be alone; what is above stays so.

A line right below a paragraph would make a heading of it, or go on with it; below a list, it may become a part of the
last item; in a fence or comment that is left open, all of it would be code or hidden. So a blank line goes between, and
what is open is closed first. Items go on with a list of their kind, and rows with a table.

The sections of a note by their headings: found by name, and added to without a change to any other line.

Tables in notes to which the program only ever adds rows, such as a log: each row begins with its moment.

Cells are known by their order, as the names of the columns may be in the vault's language.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime

from agent.dataclass import dataclass
from agent.errors import UserError
from agent.markdown import note
from agent.markdown.blocks import Heading, OpenBlocks, columns, open_blocks, parse_body
from agent.markdown.inline import CLOSERS
from agent.markdown.note import Note

_ITEM = re.compile(r"[ \t]*([-*+]|[0-9]{1,9}(?=([.)])))[.)]?(?:[ \t]|$)")
_DELIMITERS = re.compile(r"[|:\- \t]*-[|:\- \t]*$")
_HEADING = re.compile(r"#{1,6}(?:[ \t]|$)")
_INDENTED = re.compile(r"(?:[ \t]*\n)*[ \t]+[^\s]")
_SEPARATOR = "<!-- -->"
"""Ends a list or indented code, so that indented text below it is no part of it."""
_HTML = (
    (re.compile(r" {0,3}<(script|pre|style|textarea)(?:[ \t>]|$)", re.IGNORECASE), "</{}>"),
    (re.compile(r" {0,3}<\?"), "?>"),
    (re.compile(r" {0,3}<![A-Za-z]"), ">"),
    (re.compile(r" {0,3}<!\[CDATA\["), "]]>"),
)
"""The HTML that a blank line does not end, with its ends; comments are in `OpenBlocks`."""


def append_block(before: bytes, text: bytes) -> bytes:
    """The note with the text below it, as blocks of its own and with the note's line endings.

    Raises `UserError` if a line of the text would end a header that the note only begins.
    """
    newline = b"\r\n" if b"\r\n" in before else b"\n"
    added = text.replace(b"\r\n", b"\n").replace(b"\n", newline)
    added += b"" if added.endswith(b"\n") else newline
    after = before + between(before, text) + added
    if before and not note.split(before).opening and note.split(after).opening:
        raise UserError(
            "the note begins with ---, and a line of the text would end a header there",
            hint="put a blank line above the first line of the note, or write *** in place of ---",
        )
    return after


def between(before: bytes, text: bytes) -> bytes:
    """The lines that go between a note and text that is added to it: those that close what is open, and a blank one."""
    newline = b"\r\n" if b"\r\n" in before else b"\n"
    body = note.split(before).body
    end = newline if before and not before.endswith(b"\n") else b""
    above = _as_text(body).rstrip(" \t\n")
    if not above:
        return end
    added = _as_text(text)
    found = open_blocks(above)
    closing = [*_closing(above, found, added)]
    closed = "\n".join((above, *closing))
    has_gap = not closing and re.search(r"\n[ \t]*\n\Z", _as_text(body + end)) is not None
    is_below_heading = _HEADING.match(above.rpartition("\n")[2]) is not None
    lines = closing if closing or has_gap or is_below_heading or _goes_on(above, found, added) else [""]
    lines += [""] if closing else []
    if _INDENTED.match(added) and (found.items or re.match(r"[ \t]|\[\^", closed.rpartition("\n")[2])):
        lines += [_SEPARATOR, ""]
    return end + "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape").replace(b"\n", newline)


def closing_lines(text: bytes) -> bytes:
    """The lines that close what a note or a text leaves open, if anything is to stand below it."""
    words = _as_text(note.split(text).body).rstrip(" \t\n")
    return "".join(f"{line}\n" for line in _closing(words, open_blocks(words), "")).encode("utf-8", "surrogateescape")


def _closing(text: str, found: OpenBlocks, added: str) -> Iterator[str]:
    """The lines that close a text's open fence, comments, formula or HTML."""
    if found.fence:
        yield found.fence
        return
    for mark in found.marks:
        is_block = mark != "$$" or mark in added or re.search(r"(?m)^[ \t]*\$\$[ \t]*$", text) is not None
        if is_block:
            yield CLOSERS[mark]
    yield from filter(None, [_open_html(text)])


def _open_html(text: str) -> str:
    """The end of the HTML that is open at the end of a text; empty if none is."""
    end = ""
    for line in text.split("\n"):
        if not end:
            opened = ((found, close) for begin, close in _HTML if (found := begin.match(line)))
            found, close = next(opened, (None, ""))
            end = close.format(*found.groups()) if found else ""
            line = line[found.end() :] if found else line
        if end and end.lower() in line.lower():
            end = ""
    return end


def _goes_on(above: str, found: OpenBlocks, added: str) -> bool:
    """True if the text begins with an item of the list that ends the note, or with a row of its table."""
    first, _, rest = added.partition("\n")
    if found.in_table:
        return first.startswith("|") and not _DELIMITERS.match(rest.partition("\n")[0])
    item = _ITEM.match(first)
    if not found.items or found.quotes or item is None or columns(first):
        return False
    lines = reversed(above.split("\n"))
    last = next(
        (each for each in map(_ITEM.match, filter(lambda line: columns(line) < found.items[0], lines)) if each), None
    )
    return last is not None and _kind(last) == _kind(item)


def _kind(item: re.Match[str]) -> str:
    return item[2] or item[1]


def _as_text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape").replace("\r\n", "\n")


@dataclass(frozen=True, slots=True)
class NoteSection:
    """A heading (`## Title`) and all below it, with the lines from 1 in the file, inclusive."""

    heading: str
    lines: tuple[int, int]


def sections(data: bytes) -> tuple[NoteSection, ...]:
    """All sections of a note; each ends before the next heading of its level or above."""
    note = Note.parse(data)
    headings = parse_body(note.body, note.body_line).headings
    last = data.count(b"\n") + (0 if data.endswith(b"\n") else 1)
    return tuple(
        NoteSection(
            f"{'#' * each.level} {each.text}", (each.line, min(_end(headings[at + 1 :], each.level, data), last))
        )
        for at, each in enumerate(headings)
    )


def sections_named(data: bytes, name: str) -> tuple[NoteSection, ...]:
    """The sections with this heading, `## Title` or only `Title`; if there are none, without regard to case."""
    wanted = " ".join(name.split())
    found = sections(data)
    for fold in (str, str.casefold):
        names = fold(wanted)
        same = [each for each in found if names in {fold(each.heading), fold(each.heading.lstrip("#").strip())}]
        if same:
            return tuple(same)
    return ()


def add_to_section(data: bytes, heading: bytes, text: bytes) -> bytes:
    """The note with `text` at the end of the section below `heading` (`## Title`), which is added if it is missing.

    A section ends before the next heading of its level or above, and before a line that begins with `%%`, as the marks
    of this program do. The added text is blocks of its own, or goes on with a list or a table that is there; what it
    leaves open is closed. It takes the note's line endings.
    """
    newline = b"\r\n" if b"\r\n" in data else b"\n"
    text = text.replace(b"\r\n", b"\n").strip(b"\n")
    text = (text + b"\n" + closing_lines(text)).replace(b"\n", newline)
    rows = [row + b"\n" for row in data.split(b"\n")]
    rows[-1] = rows[-1][:-1]
    found = _section(data, heading)
    if found is None:
        gap = b"" if not data or data.endswith(newline) else newline
        closed = closing_lines(data).replace(b"\n", newline)
        return data + gap + closed + newline + heading + newline + newline + text
    first, end = found
    end = next((at for at in range(first, end) if rows[at].startswith(b"%%")), end)
    while end > first and not rows[end - 1].strip():
        end -= 1
    above, below = b"".join(rows[:end]), b"".join(rows[end:])
    return (
        above + between(above, text) + text + (newline if below.strip() and below[:1] not in b"\r\n" else b"") + below
    )


def _section(data: bytes, heading: bytes) -> tuple[int, int] | None:
    """The numbers of the lines from below the heading to the end of its section, from 0; None without the heading."""
    note = Note.parse(data)
    headings = parse_body(note.body, note.body_line).headings
    marks, _, title = heading.decode().partition(" ")
    for at, each in enumerate(headings):
        if each.level == len(marks) and each.text == title:
            return each.line, _end(headings[at + 1 :], each.level, data)
    return None


def _end(below: tuple[Heading, ...], level: int, data: bytes) -> int:
    return next((each.line - 1 for each in below if each.level <= level), data.count(b"\n") + 1)


_BAR = re.compile(r"(?<!\\)\|")


def format_row(at: datetime, cells: Iterable[str]) -> str:
    """A row without a line end; the cells have no bars of their own."""
    return f"| {' | '.join((at.replace(microsecond=0).isoformat(), *cells))} |"


def format_head(columns: str, count: int) -> str:
    """The two lines above the rows; `columns` is the first one, with the names."""
    return f"{columns}\n|{'|'.join(' --- ' for _ in range(count))}|\n"


def timed_rows(data: bytes) -> Iterator[tuple[datetime, list[str]]]:
    """The rows of a note, each with its moment and the cells behind it. Rows that a merge has doubled count once, and
    those without a moment that has an offset are left out."""
    for row in dict.fromkeys(Note.parse(data).body.splitlines()):
        cells = [cell.strip() for cell in _BAR.split(row.strip())[1:-1]] if row.startswith("|") else []
        try:
            at = datetime.fromisoformat(cells[0]) if cells else None
        except ValueError:
            continue
        if at is not None and at.tzinfo is not None:
            yield at, cells[1:]
