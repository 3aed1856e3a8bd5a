"""Basic Memory: its folder of Markdown notes, each with a `permalink` in its header."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from agent.importers.export import Export
from agent.importers.markdown_tree import Tree, notes_and_files
from agent.importers.values import ImportedNote, Item
from agent.markdown.note import Note

_LOOKED_AT = 20


def fits(source: Export) -> bool:
    """True for a project of Basic Memory."""
    looked_at = islice(source.ending(".md"), _LOOKED_AT)
    return any({"permalink", "type"} <= Note.parse(each.read()).header.keys() for each in looked_at)


def read(source: Export) -> Iterator[Item]:
    """The notes, known by their permalinks."""
    for each in notes_and_files(source, Tree()):
        yield _named(each) if isinstance(each, ImportedNote) else each


def _named(note: ImportedNote) -> ImportedNote:
    permalink, title = note.header.get("permalink"), note.header.get("title")
    title = title if isinstance(title, str) and title else note.title
    return replace(note, id=permalink if isinstance(permalink, str) and permalink else note.id, title=title)
