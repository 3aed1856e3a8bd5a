"""The sections of a note by their headings: found by name, and added to without a change to any other line."""

from agent.dataclass import dataclass
from agent.markdown.appending import between, closing_lines
from agent.markdown.blocks import Heading, parse_body
from agent.markdown.note import Note


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
