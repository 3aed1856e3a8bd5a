"""Notion: the archive of *Export as Markdown & CSV*: a page is a note, a database is a table.

Each name in it ends in an id of 32 digits, by which a page is known; large exports have their parts as archives inside.
"""

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from itertools import islice

from agent.attachments.html.charset import decode
from agent.importers.export import LARGEST_TEXT, Export, ExportFile
from agent.importers.html_text import markdown_table
from agent.importers.markdown_tree import Tree, note_of
from agent.importers.values import ImportedNote, Item

_ID = re.compile(r"[ _]([0-9a-f]{32})(_all)?(?=$|\.)")
_CREATED = re.compile(r"^Created(?: time)?: (.+)$", re.MULTILINE)
_FORMS = ("%B %d, %Y %I:%M %p", "%B %d, %Y", "%Y/%m/%d %H:%M", "%Y-%m-%d")
_MOST_ROWS = 5_000
_HEAD = 2_000


def _clean(part: str) -> str:
    return _ID.sub("", part).strip()


_TREE = Tree(_clean, has_times=False)


def fits(source: Export) -> bool:
    """True for an export of Notion."""
    return any(_ID.search(name) for name in source.files if name.casefold().endswith((".md", ".csv")))


def read(source: Export) -> Iterator[Item]:
    """The pages, the databases, and the files on the pages."""
    for name, file in source.files.items():
        if name.casefold().endswith(".md"):
            yield _page(file, source)
        elif name.casefold().endswith(".csv") and _ID.search(name):
            if f"{name[:-4]}_all.csv" not in source.files:  # the other has all rows of all views
                yield _database(file, source.top)
                yield replace(file.attachment, key=f"{name} itself", name=_clean(name.rpartition("/")[2]))
        else:
            yield file.attachment


def _page(file: ExportFile, source: Export) -> ImportedNote:
    note = note_of(file, source, _TREE)
    found = _ID.search(file.name.rpartition("/")[2])
    head = note.body[:_HEAD].split("\n", 1)
    title, rest = (head[0][2:].strip(), note.body.split("\n", 1)[-1]) if head[0].startswith("# ") else ("", note.body)
    body = rest.lstrip("\n") if title else note.body
    return replace(
        note, id=found[1] if found else note.id, title=title or note.title, body=body, created=_created(note.body)
    )


def _created(body: str) -> datetime | None:
    created = _CREATED.search(body[:_HEAD])
    for form in _FORMS if created else ():
        try:
            return datetime.strptime(created[1].strip(), form).astimezone() if created else None
        except (ValueError, OverflowError):
            continue
    return None


def _database(file: ExportFile, top: str) -> ImportedNote:
    words = decode(file.read()).removeprefix("\ufeff")
    csv.field_size_limit(LARGEST_TEXT)
    rows = list(islice(csv.reader(io.StringIO(words)), _MOST_ROWS))
    cells = [[" ".join(each.split()).replace("|", "\\|") for each in row] for row in rows]
    found, parts = _ID.search(file.name), file.name.removeprefix(top).split("/")
    folder = "/".join(map(_clean, parts[:-1]))
    id = f"{found[1]} table" if found else file.name
    return ImportedNote(id, _clean(parts[-1].removesuffix(".csv")), markdown_table(cells), folder=folder, key=file.name)
