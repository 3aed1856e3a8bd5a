"""How a note's row in the passage store is written and read again: its columns, and their two checksums.

One checksum is over what is shown, the other over what scoring reads, so that neither need read the other's columns.
"""

import json
from collections.abc import Iterator, Sequence
from zlib import crc32

from agent.index.buckets import LookupTable, StoredValue
from agent.index.files import Damaged
from agent.index.records import StoredNote
from agent.json_value import parse_json

SCHEMA = """
create table note (
  id integer primary key, path text not null, hash text not null, status text not null, reason text not null,
  title text not null, name text, day text not null, headings text not null, facets text not null,
  data blob not null, text text not null, crc integer not null, data_crc integer not null)
"""


def facet(key: str, value: str) -> str:
    """The key under which the notes with a value in their header are found."""
    return f"{key}\0{value}"


def entries_of(record: StoredNote) -> Iterator[tuple[LookupTable, str, StoredValue]]:
    """The table, key and value of each lookup entry of a note."""
    for key, value in dict.fromkeys(record.facets):
        yield LookupTable.FACETS, facet(key, value), record.id
    if record.day and record.status == "indexed":
        yield LookupTable.DAYS, record.day[:7], [record.day, record.path, record.id]


def row_of(record: StoredNote) -> tuple[object, ...]:
    """A note's row, in the order of the columns."""
    headings, facets = json.dumps(record.headings), json.dumps(record.facets)
    identity = (record.path, record.hash, record.status, record.reason)
    display = (*identity, record.title, record.name, record.day, headings, facets)
    checksum = data_checksum(record.id, record.path, record.day, record.status, record.data)
    return (record.id, *display, record.data, record.text, _checksum(*display, record.text), checksum)


def record_of(row: Sequence[object]) -> StoredNote:
    """The note of a row; raises `Damaged` when what is shown is not what was written."""
    note, *display, data, text, checksum, _ = row
    if _checksum(*display, text) != checksum:
        raise Damaged("notes.db is damaged: a wrong checksum at {path}", path=display[0])
    headings = tuple((int(at), tuple(path)) for at, path in parse_json(str(display[7])))
    facets = tuple((str(key), str(value)) for key, value in parse_json(str(display[8])))
    path, digest, status, reason, title, name, day = display[:7]
    return StoredNote(note, path, digest, status, reason, title, name, day, headings, facets, data, text)  # type: ignore[arg-type]


def data_checksum(note: object, path: object, day: object, status: object, data: bytes) -> int:
    """The checksum of the columns that scoring reads."""
    return crc32(data, crc32(f"{note}\0{path}\0{day}\0{status}".encode("utf-8", "surrogatepass")))


def _checksum(*values: object) -> int:
    return crc32("\0".join(map(str, values)).encode("utf-8", "surrogatepass"))
