"""Typed rows of a database: a table of values by their keys, and lines that are only added."""

from collections.abc import Iterator, Sequence
from typing import Generic, TypeVar

from agent.dataclass import dataclass
from agent.records.database import Records
from agent.records.values import parse_value, write_value

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
