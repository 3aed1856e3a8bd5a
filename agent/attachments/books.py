"""The text of electronic books (epub), of saved web pages, and of plain text in any encoding."""

import posixpath
from collections.abc import Iterator
from urllib.parse import unquote

from agent.attachments.html.charset import decode
from agent.attachments.html.page import LONGEST, read_page
from agent.attachments.limits import MOST_CHARACTERS, MOST_PARTS, Unreadable
from agent.attachments.package import Package, children, descendants, open_package
from agent.markdown.paged_text import PagedText, TextPart, in_sections

_OF_FONTS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
"""The ways in which fonts are hidden in books that can be read."""
_NEARLY = 2_000


def read_epub(data: bytes) -> PagedText:
    """The chapters of a book, in the order of reading, by their headings."""
    package = open_package(data)
    container = package.xml("META-INF/container.xml")
    opf = next((each.get("full-path", "") for each in descendants(container, "rootfile")), "")
    root = package.xml(opf)
    if root is None:
        raise Unreadable("its book is missing or damaged")
    algorithms = [
        each.get("Algorithm", "") for each in descendants(package.xml("META-INF/encryption.xml"), "EncryptionMethod")
    ]
    if any(way not in _OF_FONTS for way in algorithms):
        raise Unreadable("it is locked by its publisher")
    parts: list[TextPart] = []
    room = MOST_CHARACTERS
    for number, name in enumerate(_chapters(root, posixpath.dirname(opf)), 1):
        for part in in_sections(_page(package, name)):
            room -= len(part.text)
            if room < 0 or len(parts) == MOST_PARTS:
                return PagedText(tuple(parts), problem="its last chapters are left out, as it is very long")
            parts.append(TextPart(part.label or f"chapter {number}", part.text))
    return PagedText(tuple(parts))


def _chapters(root: object, folder: str) -> Iterator[str]:
    """The names of the files with the chapters of a book."""
    items = {each.get("id", ""): each.get("href", "") for each in descendants(root, "item")}  # type: ignore[arg-type]
    for spine in descendants(root, "spine"):  # type: ignore[arg-type]
        for each in children(spine, "itemref"):
            if href := items.get(each.get("idref", ""), ""):
                yield posixpath.normpath(posixpath.join(folder, unquote(href)))


def _page(package: Package, name: str) -> str:
    return read_page(decode(package.data(name) or b""), "").text


def read_html(data: bytes) -> PagedText:
    """The own text of a saved page, in sections."""
    text = read_page(decode(data), "").text
    problem = f"only its first {LONGEST} characters are read" if len(text) >= LONGEST - _NEARLY else ""
    return PagedText(in_sections(text)[:MOST_PARTS], problem=problem)


def read_plain(data: bytes) -> PagedText:
    """A text in whatever encoding."""
    if b"\0" in data[:8000] and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise Unreadable("it is no text")
    text = decode(data).replace("\r\n", "\n").replace("\r", "\n")
    problem = f"only its first {MOST_CHARACTERS} characters are read" if len(text) > MOST_CHARACTERS else ""
    return PagedText((TextPart("", text[:MOST_CHARACTERS].rstrip("\n")),), problem=problem)
