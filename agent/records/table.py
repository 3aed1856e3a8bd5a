"""Typed rows of a database: a table of values by their keys, and lines that are only added."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from typing import Generic, TypeVar

from agent.dataclass import dataclass
from agent.records.database import Records, Value
from agent.records.takeover import parse_value, write_value

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Table(Generic[T]):
    """The values of one type that are kept under a name, by key; one that is alone has the empty key.

    `is_flushed`: a write is on disk when it returns; without, a crash of the machine may undo it.
    """

    database: Records
    name: str
    kind: type[T]
    is_flushed: bool = True

    def get(self, key: str = "") -> T | None:
        """The value under a key; None if there is none that can be parsed."""
        found = self.database.rows("SELECT value FROM record WHERE name = ? AND key = ?", self.name, _key(key))
        return self._parsed(found[0][0]) if found else None

    def has(self, key: str = "") -> bool:
        """True if there is a value under a key, also one that cannot be parsed."""
        query = "SELECT 1 FROM record WHERE name = ? AND key = ?"
        return bool(self.database.rows(query, self.name, _key(key)))

    def put(self, value: T, key: str = "") -> None:
        """Store a value in place of the one under its key."""
        row = (self.name, _key(key), write_value(value))
        self.database.rows("INSERT OR REPLACE INTO record VALUES (?, ?, ?)", *row, flush=self.is_flushed)

    def drop(self, key: str = "") -> None:
        """Delete the value under a key, if there is one."""
        query = "DELETE FROM record WHERE name = ? AND key = ?"
        self.database.rows(query, self.name, _key(key), flush=self.is_flushed)

    def items(self) -> Iterator[tuple[str, T]]:
        """The keys and the values that can be parsed, in the order of the keys."""
        for key, text in self.database.rows("SELECT key, value FROM record WHERE name = ? ORDER BY key", self.name):
            if (value := self._parsed(text)) is not None:
                yield str(key), value

    def all(self) -> Sequence[T]:
        """The values that can be parsed, in the order of their keys."""
        return [value for _, value in self.items()]

    def _parsed(self, text: object) -> T | None:
        try:
            return parse_value(self.kind, str(text))
        except ValueError:
            return None


def _key(key: str) -> str:
    """The key as SQLite can store it: a byte of a path that is no UTF-8 is written out."""
    return key if key.isascii() else key.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


@dataclass(slots=True)
class Lines:
    """The lines that are kept under a name. The caller keeps threads apart. `count` is the number of those read."""

    records: Records
    name: str
    count: int = field(default=0, init=False)
    _last: int = field(default=0, init=False)

    def news(self) -> tuple[bool, Sequence[str]]:
        """The lines that were added since the last call; True before them if the others were replaced, so that what
        was known of them counts no more."""
        found = self._from(self._last)
        is_other = bool(self._last) and (not found or found[0][0] != self._last)
        if is_other:
            self.count, self._last, found = 0, 0, self._from(0)
        elif self._last:
            found = found[1:]
        self.count += len(found)
        self._last = int(str(found[-1][0])) if found else self._last
        return is_other, [str(text) for _, text in found]

    def append(self, line: str) -> None:
        """Add a line; it is on disk when this returns."""
        self.records.rows("INSERT INTO line (name, value) VALUES (?, ?)", self.name, _stored(line))

    def all(self) -> Sequence[str]:
        """All lines."""
        return [str(text) for _, text in self._from(0)]

    def replace(self, lines: Iterable[str]) -> None:
        """Put these in place of all lines."""
        with self.records.transaction():
            self.records.rows("DELETE FROM line WHERE name = ?", self.name)
            for each in lines:
                self.append(each)

    @property
    def mark(self) -> int:
        """Another number after each change; 0 without a line."""
        return int(str(self.records.rows("SELECT max(id) FROM line WHERE name = ?", self.name)[0][0] or 0))

    def _from(self, first: int) -> Sequence[tuple[Value, ...]]:
        query = "SELECT id, value FROM line WHERE name = ? AND id >= ? ORDER BY id"
        return self.records.rows(query, self.name, first)


def _stored(line: str) -> str:
    return line.encode("utf-8", "replace").decode()
