"""Lookup tables in the passage store that detect a lost row: a key that is not found really does not exist.

SQLite finds a row by comparing keys, so one flipped bit can make it miss a row without an error. Here the keys of each
table are spread by their checksum over a fixed number of buckets. A bucket is one row: a JSON object with a checksum.
All buckets are created with the store, so a missing one is damage like a wrong checksum.
"""

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import field
from enum import Enum
from typing import TypeAlias
from zlib import crc32

from agent.dataclass import dataclass
from agent.index.files import Damaged

StoredValue: TypeAlias = str | int | list["StoredValue"]
Bucket: TypeAlias = dict[str, StoredValue]
AMONG = "(select value from json_each(?))"
"""What stands after `in` for a JSON list of values: one statement for lists of every length, where each length with as
many question marks would be one more that the connection keeps."""
SCHEMA = "create table bucket (id integer primary key, data text not null, crc integer not null)"


class LookupTable(Enum):
    """Each table with the number of its first bucket, and its number of buckets."""

    META = (0, 1)
    """Facts about the index, by name."""
    KEYS = (1, 1)
    """The number of facets for each header key."""
    DAYS = (2, 64)
    """By month: the day, path and number of each dated note."""
    INCOMPLETE = (66, 1)
    """By path: status and reason of each note that is not found, or not whole."""
    NOTES = (256, 256)
    """By path: number, content hash, status, reason."""
    FACETS = (512, 256)
    """By header key and value: the numbers of the notes with that value."""
    TERMS = (1024, 1024)
    """By term number: the numbers of notes and of units with the term."""

    @property
    def first(self) -> int:
        return self.value[0]

    @property
    def count(self) -> int:
        return self.value[1]

    def place(self, key: str) -> int:
        """The bucket of a key."""
        return self.first + crc32(key.encode("utf-8", "surrogatepass")) % self.count


@dataclass(slots=True)
class Buckets:
    """The tables of one open store. `flush` writes the buckets that `change` returned; `forget` drops unwritten
    changes."""

    connection: sqlite3.Connection
    _held: dict[int, Bucket] = field(default_factory=dict)
    _changed: set[int] = field(default_factory=set)

    def make(self) -> None:
        """Create all tables, empty."""
        self.connection.execute(SCHEMA)
        places = (place for table in LookupTable for place in range(table.first, table.first + table.count))
        self.connection.executemany("insert into bucket values (?, '{}', ?)", ((at, _crc(at, "{}")) for at in places))

    def get(self, table: LookupTable, key: str) -> StoredValue | None:
        """The value of a key; None if the key does not exist. Raises `Damaged`."""
        return self._bucket(table.place(key)).get(key)

    def all(self, table: LookupTable) -> Iterator[tuple[str, StoredValue]]:
        """Every key of a table with its value; raises `Damaged`."""
        for bucket in self.each(table):
            yield from bucket.items()

    def each(self, table: LookupTable) -> Iterator[Bucket]:
        """Every bucket of a table; raises `Damaged`."""
        select = "select id, data, crc from bucket where id >= ? and id < ?"
        rows = self.connection.execute(select, (table.first, table.first + table.count)).fetchall()
        if [row[0] for row in rows] != [*range(table.first, table.first + table.count)]:
            raise Damaged("notes.db is damaged: a bucket is missing")
        for place, data, checksum in rows:
            yield self._held[place] if place in self._held else _checked(place, data, checksum)

    def change(self, table: LookupTable, key: str) -> Bucket:
        """The bucket of a key, which `flush` will write; raises `Damaged`."""
        place = table.place(key)
        self._changed.add(place)
        return self._bucket(place)

    def flush(self) -> None:
        """Write the changed buckets."""
        rows = [(place, json.dumps(self._held[place], separators=(",", ":"))) for place in sorted(self._changed)]
        write = "update bucket set data = ?, crc = ? where id = ?"
        done = self.connection.executemany(write, [(data, _crc(place, data), place) for place, data in rows])
        if rows and done.rowcount != len(rows):
            raise Damaged("notes.db is damaged: a bucket is missing")
        self._changed.clear()

    def forget(self) -> None:
        """Drop all buckets in memory, so that they are loaded again."""
        self._held.clear()
        self._changed.clear()

    def _bucket(self, place: int) -> Bucket:
        if place not in self._held:
            row = self.connection.execute("select data, crc from bucket where id = ?", (place,)).fetchone()
            if row is None:
                raise Damaged("notes.db is damaged: a bucket is missing")
            self._held[place] = _checked(place, *row)
        return self._held[place]


def _checked(place: int, data: str, checksum: int) -> Bucket:
    if _crc(place, data) != checksum:
        raise Damaged("notes.db is damaged: a wrong checksum in a bucket")
    found: Bucket = json.loads(data)
    return found


def _crc(place: int, data: str) -> int:
    return crc32(data.encode("utf-8", "surrogatepass"), place)
