"""Records outside the vault: one small JSON file each, such as a question that was asked on this machine."""

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from agent.dataclass import dataclass
from agent.json_value import parse_json
from agent.vault import durable

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    _Record = TypeVar("_Record", bound=DataclassInstance)
else:
    _Record = TypeVar("_Record")


@dataclass(frozen=True, slots=True)
class RecordFolder(Generic[_Record]):
    """A folder outside the vault with one small JSON file for each record.

    `parse` converts a JSON document to a record; it raises `ValueError`, `KeyError` or `TypeError` for a damaged one.
    """

    folder: Path
    parse: Callable[[dict[str, object]], _Record]

    def get(self, key: str) -> _Record | None:
        """The record of this key; None if it is missing or cannot be read."""
        try:
            return self.parse(parse_json(self._file(key).read_text("utf-8")))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, key: str, record: _Record) -> None:
        """Write a record; durable when this returns."""
        durable.replace(self._file(key), json.dumps(asdict(record), indent=1, default=str))

    def drop(self, key: str) -> None:
        """Delete a record."""
        self._file(key).unlink(missing_ok=True)

    def all(self) -> Iterator[_Record]:
        """All readable records, in the order of their keys."""
        files = sorted(self.folder.glob("*.json")) if self.folder.is_dir() else ()
        return (record for file in files if (record := self.get(file.stem)) is not None)

    def _file(self, key: str) -> Path:
        return self.folder / f"{key}.json"
