"""Lines that are only added, by several processes, and what was added since the last look."""

from collections.abc import Iterable, Sequence
from dataclasses import field

from agent.dataclass import dataclass
from agent.records.database import Records, Value


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
