"""Apple Notes: a folder or an archive of notes as text, Markdown or HTML with their files beside them: what Notes
itself exports as Markdown, what privacy.apple.com gives (`iCloud Notes/Notes/TITLE/TITLE.txt`), what exporters write.
"""

from collections.abc import Iterator
from dataclasses import replace
from posixpath import basename, dirname

from agent.attachments.html.charset import decode
from agent.importers.export import Export, ExportFile
from agent.importers.html_text import markdown_of
from agent.importers.markdown_tree import NOTES, Tree, linked, note_of
from agent.importers.values import ImportedNote, Item

_PAGES = (".html", ".htm")


def fits(source: Export) -> bool:
    """True for an export that says of itself that it is one of Apple Notes."""
    names = [*source.files, source.path.name]
    return any("icloud notes" in name.casefold() or "apple notes" in name.casefold() for name in names)


def read(source: Export) -> Iterator[Item]:
    """The notes and their files."""
    for name, file in source.files.items():
        if name.casefold().endswith(NOTES):
            yield _in_own_folder(note_of(file, source, Tree()))
        elif name.casefold().endswith(_PAGES):
            yield _page(file, source)
        else:
            yield file.attachment


def _in_own_folder(note: ImportedNote) -> ImportedNote:
    """The note without a folder that is only its own."""
    if basename(note.folder) != note.title:
        return note
    return replace(note, folder=dirname(note.folder))


def _page(file: ExportFile, source: Export) -> ImportedNote:
    title = basename(file.name).rpartition(".")[0]
    body = linked(markdown_of(decode(file.read())), file.name, source)
    folder = dirname(file.name.removeprefix(source.top))
    return ImportedNote(file.name, title, body, file.modified, folder=folder, key=file.name)
