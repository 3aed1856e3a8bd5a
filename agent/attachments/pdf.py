"""The text of a PDF, page by page, by PDFium: it knows columns, ligatures and the character maps of Chinese fonts."""

import re

import pypdfium2

from agent.attachments.limits import MOST_CHARACTERS, MOST_PARTS, Unreadable
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
