"""An attachment in the form that is indexed: the text of a file that is no note, by its pages.

It is no Markdown of the person's: nothing in it is a header, a tag or a link, whatever it looks like.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import PurePosixPath

from agent.index.analysis import terms, title_terms
from agent.index.document import WINDOW, Document, DocumentUnit, day_terms, up_to_limit
from agent.markdown.paged_text import PagedText, parse_paged_text
from agent.times.named_days import day_of_text

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
    units = (first, *up_to_limit(_units(text, lines)))
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


def _units(text: PagedText, lines: Sequence[str]) -> Iterator[DocumentUnit]:
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
