"""The text of word processors' documents (docx) and of slides (pptx)."""

from collections.abc import Iterator

from lxml import etree

from agent.attachments.limits import MOST_PARTS
from agent.attachments.package import Package, attribute, children, descendants, name_of, open_package, relation
from agent.attachments.sheets import markdown_table
from agent.markdown.paged_text import PagedText, TextPart, in_sections

_INSIDE = ("sdt", "sdtContent", "ins", "moveTo", "smartTag", "customXml", "AlternateContent", "Choice")
"""Elements around blocks that are shown."""
_UNSEEN = frozenset({"del", "moveFrom", "Fallback", "instrText", "pPr", "rPr", "delText"})
_DEEPEST = 9


def read_docx(data: bytes) -> PagedText:
    """The text of a document as Markdown, in sections; with its tables and footnotes, without what was deleted."""
    package = open_package(data)
    root, relations = package.document("word/document.xml", "its document is missing or damaged")
    related = dict(relations.values())
    levels = _heading_levels(package.xml(related.get("styles", "word/styles.xml")))
    body = next(children(root, "body"), root)
    text = "\n\n".join(_blocks(body, levels))
    notes = [
        f"[^{attribute(note, 'id')}]: {written}"
        for kind in ("footnotes", "endnotes")
        for note in children(package.xml(related.get(kind, "")))
        if (written := " ".join(_blocks(note, levels)))
    ]
    return PagedText(in_sections("\n\n".join(filter(None, [text, *notes])))[:MOST_PARTS])


def _heading_levels(styles: etree._Element | None) -> dict[str, int]:
    """The level of the heading that each style is."""
    found = {}
    for style in children(styles, "style"):
        name = attribute(next(children(style, "name"), None), "val").casefold()
        outline = attribute(next(descendants(style, "outlineLvl"), None), "val")
        level = name.removeprefix("heading ") if name.startswith("heading ") else ""
        if name == "title":
            found[attribute(style, "styleId")] = 1
        elif level.isdigit() or (outline.isdigit() and int(outline) < _DEEPEST):
            found[attribute(style, "styleId")] = min(int(level) if level.isdigit() else int(outline) + 1, 6)
    return found


def _blocks(parent: etree._Element, levels: dict[str, int]) -> Iterator[str]:
    """The paragraphs and tables in an element."""
    for each in children(parent, "p", "tbl", *_INSIDE):
        match name_of(each):
            case "p":
                if text := "".join(_runs(each)).strip():
                    yield _mark(each, levels) + text
            case "tbl":
                rows = [[" ".join(_blocks(cell, {})) for cell in _within(row, "tc")] for row in _within(each, "tr")]
                yield markdown_table(rows)[0]
            case _:
                yield from _blocks(each, levels)


def _within(parent: etree._Element, name: str) -> Iterator[etree._Element]:
    """The rows of a table, or the cells of a row, also those in a control."""
    for each in children(parent, name, *_INSIDE):
        if name_of(each) == name:
            yield each
        else:
            yield from _within(each, name)


def _mark(paragraph: etree._Element, levels: dict[str, int]) -> str:
    """The Markdown in front of a paragraph: of a heading, or of an item of a list."""
    properties = next(children(paragraph, "pPr"), None)
    level = levels.get(attribute(next(children(properties, "pStyle"), None), "val"), 0)
    if level:
        return "#" * level + " "
    numbered = next(children(properties, "numPr"), None)
    if numbered is None:
        return ""
    depth = attribute(next(children(numbered, "ilvl"), None), "val")
    return "  " * (min(int(depth), _DEEPEST) if depth.isdigit() else 0) + "- "


def _runs(element: etree._Element) -> Iterator[str]:
    """The text in a paragraph, in its pieces."""
    for each in children(element):
        match name_of(each):
            case "t":
                yield each.text or ""
            case "tab":
                yield "\t"
            case "br" | "cr":
                yield "\n"
            case "noBreakHyphen":
                yield "-"
            case "footnoteReference" | "endnoteReference":
                yield f"[^{attribute(each, 'id')}]"
            case name if name not in _UNSEEN:
                yield from _runs(each)


def read_pptx(data: bytes) -> PagedText:
    """The slides of a presentation, each with its tables and the notes for its speaker."""
    package = open_package(data)
    root, related = package.document("ppt/presentation.xml", "its slides are missing or damaged")
    relations = map(relation, descendants(root, "sldId"))
    names = [related[each][1] for each in relations if each in related]
    parts = [TextPart(f"slide {at}", _slide(package, name)) for at, name in enumerate(names[:MOST_PARTS], 1)]
    return PagedText(tuple(parts), "slide")


def _slide(package: Package, name: str) -> str:
    """The text of a slide, with its notes."""
    written = list(_shapes(package.xml(name)))
    spoken = next((target for kind, target in package.related(name).values() if kind == "notesSlide"), "")
    notes = [text for text in _shapes(package.xml(spoken)) if not text.isdigit()] if spoken else []
    return "\n\n".join([*written, *(["Notes: " + "\n".join(notes)] if notes else [])])


def _shapes(root: etree._Element | None) -> Iterator[str]:
    """The texts and tables of the shapes of a slide, in order."""
    for each in descendants(root, "txBody", "tbl"):
        if name_of(each) == "tbl":
            rows = [[" ".join(_paragraphs(cell)) for cell in children(row, "tc")] for row in children(each, "tr")]
            yield markdown_table(rows)[0]
        elif name_of(each.getparent()) != "tc":
            text = "\n".join(_paragraphs(each))
            if text.strip():
                yield text


def _paragraphs(root: etree._Element) -> Iterator[str]:
    for paragraph in descendants(root, "p"):
        yield "".join("\n" if name_of(each) == "br" else each.text or "" for each in descendants(paragraph, "t", "br"))
