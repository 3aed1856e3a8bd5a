"""A note in the form that is indexed: terms by field, units with their lines, and facets for filters.

A unit is a line of text (a fence or a table is one unit), the smallest part that a search can return. Converting units
into numbers is left to `encode`.

An attachment in the form that is indexed: the text of a file that is no note, by its pages.

It is no Markdown of the person's: nothing in it is a header, a tag or a link, whatever it looks like.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from io import StringIO
from itertools import islice, pairwise
from pathlib import PurePosixPath

from agent.dataclass import dataclass
from agent.index.analysis import terms, title_terms
from agent.markdown import contents, passages
from agent.markdown import contents as tags
from agent.markdown.links import Link
from agent.markdown.note import UTF16, Note
from agent.markdown.paged_text import PagedText, parse_paged_text
from agent.markdown.passages import Sizes
from agent.markdown.placeholders import has_placeholders
from agent.markdown.yaml_write import Value, is_list
from agent.times.named_days import MONTHS, day_of_text

UNITS = Sizes(lines=1, least=0)
LARGEST = 8 * 1024 * 1024
"""Bytes of the largest note that is parsed; a larger file is data, not a note."""
WHOLE = 1024 * 1024
"""Bytes of the largest note that is indexed line by line. Of a larger one, the header, headings, tags and links in this
many bytes are indexed, and its text is split into windows: a list of 750,000 links would take 3.8 GB line by line."""
WINDOW = 1200
"""Characters after which a window of a large note ends; a longer line is split into several windows."""
MOST_UNITS = 10_000
"""A note with more lines has units of several lines."""
MOST_TERMS = 250_000
"""Terms of a large note that are kept: 2 to 4 MB of text; each identifier of a list gives three."""
MOST_NAMES = 1_000
"""Tags whose meaning is compared with a question; a text of 100,000 tags took the tokenizer 1 GB. Filters know all."""
LONGEST_FACET = 200


_SAMPLE = 64 * 1024
_CONTROLS = bytes({*range(32), 127} - set(b"\b\t\n\v\f\r\x1b"))
_MOST_CONTROLS = 0.02
"""The share of control characters above which a file is no text. In random bytes it is a tenth."""


@dataclass(frozen=True, slots=True)
class DocumentUnit:
    """Lines `first` to `last` of the file, the headings above them, and their text.

    The first unit of a note is its title with aliases, keywords and tags; it has no lines (both are 0).
    """

    first: int
    last: int
    headings: tuple[str, ...]
    text: str
    terms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """The indexed parts of one note; `problem` names the part that could not be parsed."""

    path: str
    title: str
    id: str | None
    day: str
    fields: Mapping[str, tuple[str, ...]]
    """Terms by field, for each of `weights.FIELDS`."""
    units: tuple[DocumentUnit, ...]
    facets: tuple[tuple[str, str], ...]
    text: str
    problem: str = ""


def is_binary(data: bytes) -> bool:
    """True if the file is no text, whatever its name: a picture, or a text in an encoding that is not announced."""
    sample = data[:_SAMPLE]
    controls = len(sample) - len(sample.translate(None, _CONTROLS))
    return not data.startswith(UTF16) and controls > _MOST_CONTROLS * len(sample)


def parse_document(path: str, data: bytes) -> Document:
    """The document of a note; never fails, whatever its bytes. Only a part of a large note is indexed: see `WHOLE`."""
    is_large = len(data) > WHOLE
    note = Note.parse(data[: data.rfind(b"\n", 0, WHOLE) + 1 or WHOLE] if is_large else data)
    text = Note.parse(data).text if is_large else note.text
    found = contents.parse_contents(note)
    title = note.title(path)
    day = note_day(path, note, title, found.headings[0].text if found.headings else "")
    headings = tuple(term for heading in found.headings for term in terms(heading.text))
    names = dict.fromkeys(name for tag in found.tags for name in tags.parents(tag.casefold()))
    keywords = islice(note.strings("keywords"), MOST_NAMES)
    names_text = " · ".join((title, *note.aliases, *keywords, *islice(names, MOST_NAMES)))
    first = DocumentUnit(0, 0, (), names_text, tuple(terms(names_text)))
    if is_large:
        units = (first, *up_to_limit(_windows(text, note.body_line if note.problem is None else 1)))
    else:
        units = (first, *_units(note, found if note.problem is None else None))
    fields = {
        "title": tuple(term for text in (title, *note.aliases) for term in title_terms(text)),
        "path": tuple(terms(path.rpartition("/")[0])),
        "tags": tuple(term for name in names for term in (f"#{name}", *terms(name))),
        "headings": headings,
        "links": tuple(term for link in found.links if _says_something(link) for term in terms(link.target)),
        "dates": day_terms(day),
        "body": tuple(term for unit in units for term in unit.terms),
    }
    facets = dict.fromkeys((*(("tag", name) for name in names), *_facets(note.header)))
    problem = note.problem.message if note.problem and not has_placeholders(data) else ""
    if is_large:
        large = (
            f"larger than {WHOLE >> 20} MB: its text is found up to line {units[-1].last}, its links in the first MB"
        )
        problem = f"{problem}; {large}" if problem else large
    return Document(path, title, note.id, day, fields, units, tuple(facets), text, problem)


def note_day(path: str, note: Note, title: str, first_heading: str = "") -> str:
    """The day of a note, as an ISO date: that of its header, name, title or first heading; empty if none names one."""
    dates = (str(note.header.get(key, "")) for key in ("date", "created", "日期"))
    return passages.day(note, path) or _named_day(*dates, path, title, first_heading)


def _named_day(*names: str) -> str:
    """The day that one of these names, the first that does: of a header, a path, a title, a heading."""
    stems = (name.rpartition("/")[2].removesuffix(".md") for name in names)
    return next(filter(None, map(day_of_text, stems)), "")


def _says_something(link: Link) -> bool:
    """True for a link whose target is a part of what the note says. Under `evidence` stands where it comes from: of a
    memory that is a conversation, named after its first question, which may be about anything."""
    return not link.external and link.key.casefold() != "evidence"


def up_to_limit(units: Iterator[DocumentUnit]) -> Iterator[DocumentUnit]:
    """The units up to `MOST_TERMS`."""
    count = 0
    for unit in units:
        count += len(unit.terms)
        if count > MOST_TERMS:
            return
        yield unit


def _windows(text: str, body_line: int) -> Iterator[DocumentUnit]:
    """The units of a large note: lines joined up to `WINDOW` characters, and longer lines in pieces."""
    held: list[str] = []
    size = 0
    first = body_line
    number = 0
    for number, line in enumerate(StringIO(text, newline="\n"), 1):
        if number < body_line:
            continue
        if size and size + len(line) > WINDOW:
            yield _window(first, number - 1, "".join(held))
            held, size, first = [], 0, number
        for start in range(0, len(line) - WINDOW, WINDOW):
            yield _window(number, number, line[start : start + WINDOW])
        rest = line[(len(line) - 1) // WINDOW * WINDOW :]
        held.append(rest)
        size += len(rest)
    if size:
        yield _window(first, number, "".join(held))


def _window(first: int, last: int, text: str) -> DocumentUnit:
    text = text.removesuffix("\n")
    return DocumentUnit(first, last, (), text, tuple(terms(text)))


def _units(note: Note, found: contents.Contents | None) -> Iterator[DocumentUnit]:
    first_heading = found.headings[0].text if found and found.headings else ""
    above: tuple[str, ...] = ()
    lines = note.data.count(b"\n")
    sizes = UNITS if lines < MOST_UNITS else replace(UNITS, lines=1 + lines // MOST_UNITS, least=UNITS.words)
    for passage in passages.split_passages(note, sizes, found.body if found else None):
        own = terms(passage.text)
        if passage.headings == above and above and above[-1] != first_heading:
            own.extend(terms(above[-1]))  # a section's first unit already contains its heading
        above = passage.headings
        yield DocumentUnit(passage.first, passage.last, passage.headings, passage.text, tuple(own))


def day_terms(day: str) -> tuple[str, ...]:
    """The terms by which a day is found."""
    if not day:
        return ()
    year, month, number = day.split("-")
    name = MONTHS[int(month) - 1] if month.isdigit() and 1 <= int(month) <= 12 else ""
    return (day, year, *terms(name), str(int(number)))


def _facets(header: Mapping[str, Value]) -> Iterator[tuple[str, str]]:
    for key, value in header.items():
        if key.casefold() in ("tag", "tags"):
            continue
        for each in value if is_list(value) else (value,):
            text = _plain(each)
            if text and len(text) <= LONGEST_FACET:
                yield key.casefold(), text


def _plain(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, date | datetime):
        return value.isoformat()
    return str(value).casefold() if isinstance(value, str | int | float) else ""


KIND = ("kind", "attachment")
"""The facet of every attachment: `kind:attachment` finds them alone."""
_UNIT = 400
"""Characters after which a unit ends: a line of a page is half a sentence. A blank line ends it, too."""


def parse_attachment(path: str, data: bytes) -> Document:
    """The document of a file; `data` is its `PagedText`, as its `to_bytes` wrote it. Never fails."""
    try:
        text = parse_paged_text(data)
    except ValueError:
        text = PagedText(problem="its text is damaged")
    title = PurePosixPath(path).stem
    day = day_of_text(title)
    lines = text.lines()
    first = DocumentUnit(0, 0, (), title, tuple(terms(title)))
    units = (first, *up_to_limit(_page_units(text, lines)))
    labels = () if text.unit else tuple(part.label for part in text.parts)
    fields = {
        "title": tuple(title_terms(title)),
        "path": tuple(terms(path.rpartition("/")[0])),
        "tags": (),
        "headings": tuple(term for label in labels for term in terms(label)),
        "links": (),
        "dates": day_terms(day),
        "body": tuple(term for unit in units for term in unit.terms),
    }
    facets = (KIND, ("type", PurePosixPath(path).suffix.lower().removeprefix(".")))
    return Document(path, title, None, day, fields, units, facets, "\n".join(lines), text.problem)


def _page_units(text: PagedText, lines: Sequence[str]) -> Iterator[DocumentUnit]:
    """Runs of lines of one part; a very long line in several pieces."""
    for part, (begin, end) in zip(text.parts, pairwise([*text.starts(), len(lines) + 1]), strict=True):
        headings = (part.label,) if part.label else ()
        first = begin + 1 if text.unit and part.label else begin
        held: list[str] = []
        for number in range(first, end):
            line = lines[number - 1]
            if held and (not line.strip() or sum(map(len, held)) + len(line) > _UNIT):
                yield _unit(number - len(held), number - 1, headings, "\n".join(held))
                held = []
            if len(line) > WINDOW:
                for start in range(0, len(line), WINDOW):
                    yield _unit(number, number, headings, line[start : start + WINDOW])
            elif line.strip():
                held.append(line)
        if held:
            yield _unit(end - len(held), end - 1, headings, "\n".join(held))


def _unit(first: int, last: int, headings: tuple[str, ...], text: str) -> DocumentUnit:
    return DocumentUnit(first, last, headings, text, tuple(terms(text)))
