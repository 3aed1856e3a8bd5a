"""HTML of notes as Markdown: all of its words, in their order. Scripts, styles and the layout are left out."""

import re
from collections.abc import Callable, Iterator, Mapping

from lxml import etree

_BLANKS = re.compile(r"[ \t\r\n\f]+")
_ENDS = re.compile(r"[ \t]*\n(?: (?=[^ ]))?")
"""The end of a line, with the blanks that only separated elements."""
_EMPTY = re.compile(r"\n{2,}")
_MANY = re.compile(r"\n{3,}")
_UNSEEN = frozenset({"script", "style", "head", "template", "object", "iframe", "noscript"})
_BLOCKS = frozenset(
    {"address", "article", "aside", "body", "center", "dl", "en-note", "figure", "footer", "form", "header", "html"}
    | {"main", "nav", "ol", "p", "section", "ul"}
)
_MARKS = {
    **dict.fromkeys(("b", "strong"), "**"),
    **dict.fromkeys(("i", "em"), "*"),
    **dict.fromkeys(("s", "strike", "del"), "~~"),
    **dict.fromkeys(("code", "tt"), "`"),
}
_BOXES = ("[x] ", "[ ] ")
_DEEPEST = 200
"""Elements in each other; what is deeper is read as plain text."""

Media = Callable[[Mapping[str, str]], str]
"""Returns what stands for an element with a file, such as a link; empty for nothing."""


def no_media(attributes: Mapping[str, str]) -> str:
    """Nothing for any file."""
    return ""


def markdown_of(html: str, media: Media = no_media) -> str:
    """The text of a piece of HTML, with headings, lists, links, emphasis, code and boxes; `media` shows `en-media`."""
    if "<" not in html and "&" not in html:
        return html
    parser = etree.HTMLParser(encoding="utf-8", huge_tree=True, recover=True, no_network=True, remove_comments=True)
    root = etree.fromstring(f"<html><body>{html}</body></html>".encode("utf-8", "replace"), parser)
    if root is None:
        return ""
    lines = _ENDS.sub("\n", "".join(_text(root, media, "", 0)).replace("\xa0", " "))
    return _MANY.sub("\n\n", lines).strip("\n ")


def _text(element: "etree._Element", media: Media, indent: str, depth: int) -> Iterator[str]:
    tag = element.tag if isinstance(element.tag, str) else ""
    if not tag or tag in _UNSEEN:
        return
    if depth > _DEEPEST:
        yield "".join(map(str, element.itertext()))
        return
    attributes = {str(name): str(value) for name, value in element.attrib.items()}
    if tag == "pre":
        yield f"\n\n```\n{''.join(map(str, element.itertext())).strip(chr(10))}\n```\n\n"
        return
    if tag == "table":
        yield f"\n\n{_table(element, media, depth)}\n\n"
        return
    inside = "".join(_inside(element, media, indent + "  " if tag in ("ul", "ol") else indent, depth))
    parent = element.getparent()
    yield _framed(tag, attributes, inside, indent, parent is not None and parent.tag == "ol", media)


def _inside(element: "etree._Element", media: Media, indent: str, depth: int) -> Iterator[str]:
    yield _BLANKS.sub(" ", element.text or "")
    for child in element:
        yield from _text(child, media, indent, depth + 1)
        yield _BLANKS.sub(" ", child.tail or "")


def _framed(tag: str, attributes: Mapping[str, str], inside: str, indent: str, is_counted: bool, media: Media) -> str:
    """An element's text with what its tag means around it."""
    words = inside.strip(" ")
    if tag in _MARKS:
        mark = _MARKS[tag]
        return f"{mark}{words}{mark}{' ' if inside.endswith(' ') else ''}" if words and "\n" not in words else inside
    if len(tag) == 2 and tag[0] == "h" and tag[1].isdigit():
        return f"\n\n{'#' * int(tag[1])} {' '.join(words.split())}\n\n"
    if tag in _BLOCKS:
        return f"\n\n{words}\n\n"
    if tag == "li":
        return f"\n{indent[2:]}{'1.' if is_counted else '-'} {_EMPTY.sub(chr(10), inside.strip())}"
    if tag == "blockquote":
        lines = _MANY.sub("\n\n", inside).strip("\n ").split("\n")
        return "\n\n" + "\n".join(f"> {line}" for line in lines) + "\n\n"
    return _single(tag, attributes, inside, media)


def _single(tag: str, attributes: Mapping[str, str], inside: str, media: Media) -> str:
    words = inside.strip(" ")
    match tag:
        case "div" | "tr" | "dt" | "dd":
            return f"\n{'- ' if words.startswith(_BOXES) else ''}{words}\n" if words else "\n"
        case "br":
            return "\n"
        case "hr":
            return "\n\n---\n\n"
        case "en-media":
            return media(attributes)
        case "en-todo":
            return f"[{'x' if attributes.get('checked') == 'true' else ' '}] {inside}"
        case "img":
            source = attributes.get("src", "")
            return f"![{_BLANKS.sub(' ', attributes.get('alt', ''))}]({source})" if source else ""
        case "a":
            target = attributes.get("href", "")
            return f"[{words}]({target})" if words and target and words != target else words or target
    return inside


def _table(table: "etree._Element", media: Media, depth: int) -> str:
    rows = [[_cell(cell, media, depth) for cell in _within(row, "td", "th")] for row in _within(table, "tr")]
    return markdown_table([row for row in rows if row])


def _within(element: "etree._Element", *tags: str) -> Iterator["etree._Element"]:
    """The elements with these tags that belong to no table inside: pages are laid out by tables in tables."""
    for child in element:
        if child.tag in tags:
            yield child
        elif child.tag != "table":
            yield from _within(child, *tags)


def _cell(cell: "etree._Element", media: Media, depth: int) -> str:
    return " ".join("".join(_inside(cell, media, "", depth + 1)).split()).replace("|", "\\|")


def markdown_table(rows: list[list[str]]) -> str:
    """Rows of cells as a table, whose first row is its head."""
    width = max(map(len, rows), default=0)
    lines = ["| " + " | ".join((*row, *[""] * (width - len(row)))) + " |" for row in rows]
    return "\n".join([*lines[:1], "|" + " --- |" * width, *lines[1:]]) if lines else ""
