"""Evernote: files of notes (`.enex`): XML with the text of each note as XML inside, and its files in base64.

A note has no id there: it is known by its title and the time at which it was made, and where others have the same two,
by its text, too.
"""

import base64
import binascii
import hashlib
import mimetypes
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from urllib.parse import quote

from lxml import etree

from agent.errors import UserError
from agent.importers.export import Export
from agent.importers.html_text import markdown_of
from agent.importers.values import LINK, ImportedFile, ImportedNote, Item, LeftItem, LeftReason

_DECLARATION = re.compile(r"\A\s*<\?xml[^>]*\?>\s*")
_DOCTYPE = re.compile(r"<!DOCTYPE[^>\[]*(?:\[[^\]]*\])?\s*>")


def fits(source: Export) -> bool:
    """True for notes of Evernote."""
    return bool(source.ending(".enex"))


def read(source: Export) -> Iterator[Item]:
    """The notes, each with its files. Raises `UserError` for XML that is broken, also in its middle."""
    seen = set[str]()
    for file in source.ending(".enex"):
        notebook = file.name.rpartition("/")[2].removesuffix(".enex")
        try:
            with file.open() as stream:
                events = etree.iterparse(
                    stream, tag="note", resolve_entities=False, load_dtd=False, no_network=True, huge_tree=True
                )
                for _, element in events:
                    yield from _distinct(_note(element, notebook), seen)
                    element.clear()
                    while element.getprevious() is not None:
                        del element.getparent()[0]
        except etree.XMLSyntaxError as error:
            hint = "the file is damaged: export it again"
            raise UserError("{name} is no whole XML; nothing is imported", hint=hint, name=file.name) from error


def _distinct(items: Iterator[Item], seen: set[str]) -> Iterator[Item]:
    for each in items:
        if isinstance(each, ImportedNote):
            if each.id in seen:
                each = replace(each, id=f"{each.id} {hashlib.sha256(each.body.encode('utf-8', 'replace')).hexdigest()}")
            seen.add(each.id)
        yield each


def _note(element: "etree._Element", notebook: str) -> Iterator[Item]:
    title, created = _word(element, "title"), _time(_word(element, "created"))
    found = [list(_file(resource, title)) for resource in element.iterfind("resource")]
    files = {digest: each for pairs in found for digest, each in pairs}

    def media(attributes: Mapping[str, str]) -> str:
        file = files.get(attributes.get("hash", ""))
        if file is None:
            return ""
        sign = "!" if attributes.get("type", "").startswith("image/") else ""
        return f"{sign}[{'' if sign else file.name}]({LINK}{quote(file.key)})"

    content = _DOCTYPE.sub("", _DECLARATION.sub("", _word(element, "content")), count=1)
    body = markdown_of(content, media)
    unnamed = [each for each in files.values() if quote(each.key) not in body]
    body += "".join(f"\n\n[{each.name}]({LINK}{quote(each.key)})" for each in unnamed)
    yield ImportedNote(
        f"{title} {_word(element, 'created')}",
        title,
        body,
        created,
        _time(_word(element, "updated")),
        folder=notebook,
        tags=tuple(tag for each in element.iterfind("tag") if (tag := (each.text or "").strip())),
        address=_word(element, "note-attributes/source-url"),
        files=tuple(files.values()),
    )
    yield from (LeftItem(title, LeftReason.BROKEN) for pairs in found if not pairs)


def _word(element: "etree._Element", path: str) -> str:
    return (element.findtext(path) or "").strip()


def _time(value: str) -> datetime | None:
    try:
        return datetime.strptime(value, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    except ValueError:
        return None


def _file(resource: "etree._Element", title: str) -> Iterator[tuple[str, ImportedFile]]:
    """The file of a resource, by the hash with which the text names it."""
    try:
        data = base64.b64decode("".join(_word(resource, "data").split()), validate=True)
    except (binascii.Error, ValueError):
        return
    if not data:
        return
    digest = hashlib.md5(data, usedforsecurity=False).hexdigest()
    name = _word(resource, "resource-attributes/file-name")
    name = name or f"{title or 'file'}{mimetypes.guess_extension(_word(resource, 'mime')) or '.bin'}"
    yield digest, ImportedFile(f"{digest}/{name}", name, lambda: data, len(data))
