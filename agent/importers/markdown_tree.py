"""A folder of notes as Markdown, as several programs export it: each note with its own header, links between the notes
and to the files beside them.
"""

import re
from collections.abc import Callable, Iterator
from datetime import date, datetime
from posixpath import dirname, join, normpath
from urllib.parse import quote, unquote

from agent.attachments.html.charset import decode
from agent.dataclass import dataclass
from agent.importers.export import Export, ExportFile
from agent.importers.values import LINK, ImportedNote, Item, moment
from agent.markdown.note import Note

NOTES = (".md", ".markdown", ".txt")
_TARGET = re.compile(r"(\]\()<?([^)\s<>]+(?: [^)\s<>\"']+)*)>?(?=(?:\s+[\"'][^)]*)?\))")
_IS_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*:|#|//", re.IGNORECASE)
_DAY = re.compile(r"(\d{4})[_-](\d\d)[_-](\d\d)")
_DATES = ("created", "created_at", "date", "date created", "creation_date")
_CHANGES = ("modified", "updated", "updated_at", "modified_at", "date modified")


@dataclass(frozen=True, slots=True)
class Tree:
    """How the notes of one program lie in their folder: `clean` gives a part of a path the name that it has here;
    `is_persons` is False for what is not a person's; with `has_times` the times of the files are those of the notes."""

    clean: Callable[[str], str] = str
    is_persons: Callable[[str], bool] = bool
    has_times: bool = True


def notes_and_files(source: Export, tree: Tree) -> Iterator[Item]:
    """Every note, then every other file."""
    files = [each for name, each in source.files.items() if tree.is_persons(name)]
    for each in files:
        if each.name.casefold().endswith(NOTES):
            yield note_of(each, source, tree)
    yield from (each.attachment for each in files if not each.name.casefold().endswith(NOTES))


def note_of(file: ExportFile, source: Export, tree: Tree) -> ImportedNote:
    """The note that a file is."""
    note = Note.parse(decode(file.read()).encode("utf-8", "replace"))
    body = note.body if note.problem is None else note.text
    folder = "/".join(filter(None, map(tree.clean, dirname(file.name.removeprefix(source.top)).split("/"))))
    stem = tree.clean(file.name.rpartition("/")[2].rpartition(".")[0])
    created = next(filter(None, (_time(note, key) for key in _DATES)), None) or day_of(stem)
    changed = next(filter(None, (_time(note, key) for key in _CHANGES)), None)
    times = (created or (file.modified if tree.has_times else None), changed)
    body = linked(body, file.name, source)
    return ImportedNote(file.name, stem, body, *times, folder, file.name, header=note.header)


def linked(body: str, name: str, source: Export) -> str:
    """The text with its links to other files of the export marked, so that they hold wherever those come to lie."""

    def target(found: re.Match[str]) -> str:
        address, mark, part = found[2].partition("#")
        if not address or _IS_ADDRESS.match(address):
            return found[0]
        path = normpath(join(dirname(name), unquote(address)))
        return f"{found[1]}{LINK}{quote(path)}{mark}{part}" if path in source.files else found[0]

    return _TARGET.sub(target, body)


def day_of(name: str) -> datetime | None:
    """The day that a note is named by, as those of days are."""
    found = _DAY.fullmatch(name)
    try:
        return datetime(int(found[1]), int(found[2]), int(found[3])).astimezone() if found else None
    except (ValueError, OverflowError):
        return None


def _time(note: Note, key: str) -> datetime | None:
    value = note.header.get(key)
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    try:
        return (value if value.tzinfo else value.astimezone()) if isinstance(value, datetime) else moment(value)
    except (ValueError, OverflowError):
        return None
