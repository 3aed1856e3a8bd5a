"""The reader of each kind of file; whatever it meets, it ends in a text or in a reason.

The text of a PDF, page by page, by PDFium: it knows columns, ligatures and the character maps of Chinese fonts.
"""

import re
from collections.abc import Callable
from importlib import import_module

import pypdfium2

from agent.attachments.limits import MOST_CHARACTERS, MOST_PARTS, Empty, Unreadable
from agent.markdown.paged_text import PagedText, TextPart

_HYPHEN = re.compile("\ufffe\r?\n?")
"""How PDFium gives a hyphen at the end of a line that only divides a word."""


def read_pdf(data: bytes) -> PagedText:
    """The pages of a PDF."""
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower():
            raise Unreadable("it is locked with a password") from error
        raise Unreadable("it is damaged, or no PDF") from error
    parts: list[TextPart] = []
    room, count = MOST_CHARACTERS, len(document)
    for number in range(min(count, MOST_PARTS)):
        text = _text_of(document, number)
        room -= len(text)
        if room < 0:
            break
        parts.append(TextPart(f"page {number + 1}", text))
    if not any(part.text for part in parts):
        raise Unreadable(f"its {count} pages are pictures, without text" if count else "it has no pages")
    left = count - len(parts)
    return PagedText(tuple(parts), "page", f"its last {left} pages are left out, as it is very long" if left else "")


def _text_of(document: pypdfium2.PdfDocument, number: int) -> str:
    """The text of one page; empty for a page that is damaged."""
    try:
        page = document[number].get_textpage()
        text = str(page.get_text_range())
    except pypdfium2.PdfiumError:
        return ""
    rows = _HYPHEN.sub("", text).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join(row.rstrip() for row in rows).strip("\n")


_READERS = {
    ".pdf": ("pdf", "read_pdf"),
    ".docx": ("documents", "read_docx"),
    ".pptx": ("documents", "read_pptx"),
    ".xlsx": ("sheets", "read_xlsx"),
    ".epub": ("books", "read_epub"),
    ".html": ("books", "read_html"),
    ".htm": ("books", "read_html"),
    ".xhtml": ("books", "read_html"),
    ".txt": ("books", "read_plain"),
    ".csv": ("tables", "read_separated"),
    ".tsv": ("tables", "read_tabbed"),
    ".canvas": ("boards", "read_canvas"),
    ".base": ("boards", "read_base"),
}
ENDINGS = frozenset(_READERS)
_UNPRINTABLE = {code: None for code in (*range(9), 11, 12, *range(14, 32), 127, 0xFFFE, 0xFFFF)}


def reader_for(ending: str) -> Callable[[bytes], PagedText]:
    """The reader for a file with this ending; loads the module that has it."""
    module, name = _READERS[ending]
    found: Callable[[bytes], PagedText] = getattr(import_module(f"agent.attachments.{module}"), name)
    return found


def read_attachment(read: Callable[[bytes], PagedText], data: bytes) -> PagedText:
    """The text that a reader finds, printable and not too long; without text, with the reason."""
    try:
        found = read(data)
    except Unreadable as error:
        return PagedText(problem=str(error))
    except Empty:
        return PagedText()
    except MemoryError:
        return PagedText(problem="reading it takes too much memory")
    except Exception as error:  # noqa: BLE001 - a reader may fail in any way at a file that is broken
        return PagedText(problem=f"it cannot be parsed ({type(error).__name__})")
    parts, problem, room = [], found.problem, MOST_CHARACTERS
    for part in found.parts:
        text = part.text.translate(_UNPRINTABLE)
        if len(text) > room:
            problem = problem or f"only its first {MOST_CHARACTERS} characters are read"
            text = text[:room]
        room -= len(text)
        parts.append(TextPart(part.label.translate(_UNPRINTABLE), text))
        if not room:
            break
    cleaned = PagedText(tuple(parts), found.unit, problem)
    return cleaned if cleaned.has_text or problem else PagedText(problem="it has no text")
