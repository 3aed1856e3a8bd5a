"""Logseq: its folder of `pages/`, `journals/` and `assets/`. The properties at a page's top become its header."""

import re
from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import unquote

from agent.importers.export import Export
from agent.importers.markdown_tree import Tree, day_of, notes_and_files
from agent.importers.values import ImportedNote, Item
from agent.markdown.yaml_write import Value

_PROPERTY = re.compile(r"^([A-Za-z][\w-]{0,60})::[ \t]*(.*)$")
_PLACES = ("pages/", "journals/", "assets/")
_LISTS = frozenset({"tags", "alias", "aliases"})


def fits(source: Export) -> bool:
    """True for a graph of Logseq."""
    names = [f"/{name}" for name in source.files]
    return any("/logseq/config.edn" in name for name in names) or (
        any("/journals/" in name for name in names) and any("/pages/" in name for name in names)
    )


def read(source: Export) -> Iterator[Item]:
    """The pages, the journals, and the files on them."""
    for each in notes_and_files(source, Tree(_clean, _is_persons)):
        yield _page(each) if isinstance(each, ImportedNote) else each


def _clean(part: str) -> str:
    return unquote(part.replace("___", "/")).replace("/", " - ")


def _is_persons(name: str) -> bool:
    return any(f"/{place}" in f"/{name}" for place in _PLACES) and "/bak/" not in f"/{name}"


def _page(note: ImportedNote) -> ImportedNote:
    rows, properties = note.body.split("\n"), dict[str, Value](note.header)
    while rows and (found := _PROPERTY.match(rows[0].removeprefix("- "))):
        key, value = found[1].casefold(), found[2].strip()
        parts = [each.strip().strip("#[]") for each in value.split(",")]
        properties["aliases" if key == "alias" else key] = tuple(filter(None, parts)) if key in _LISTS else value
        rows = rows[1:]
    title, day = properties.pop("title", "") or note.title, day_of(note.title)
    name = f"{day:%Y-%m-%d}" if day else str(title)
    return replace(note, title=name, body="\n".join(rows), created=day or note.created, header=properties)
