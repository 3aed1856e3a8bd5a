"""Notes that ask the person for a yes or no, with two boxes, and the records that make such a note count.

A note counts only together with the record of its question, which this machine keeps outside the vault: a note that
arrives, or that a tool writes, may look decided and decides nothing. What is asked, and what follows from a yes, is
left to whoever asks; notes and records are written in the order that lets a crash be told from a change of mind.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

from agent.errors import BadNote
from agent.markdown.checkbox_decision import parse_decision, question_part, with_decision
from agent.markdown.note import Note
from agent.vault import durable
from agent.vault.change import Stamp
from agent.vault.store import Vault

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    _Record = TypeVar("_Record", bound=DataclassInstance)
else:
    _Record = TypeVar("_Record")


@dataclass(frozen=True, slots=True)
class RecordFolder(Generic[_Record]):
    """A folder outside the vault with one small JSON file for each question.

    `parse` makes a record of a file's document; it raises `ValueError`, `KeyError` or `TypeError` for a damaged one.
    """

    folder: Path
    parse: Callable[[dict[str, object]], _Record]

    def get(self, key: str) -> _Record | None:
        """Return the record of this key; None where there is none, or where it cannot be read: it decides nothing."""
        try:
            return self.parse(json.loads(self._file(key).read_text("utf-8")))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, key: str, record: _Record) -> None:
        """Write a record; durable when this returns."""
        durable.replace(self._file(key), json.dumps(asdict(record), indent=1, default=str))

    def drop(self, key: str) -> None:
        """Delete a record: its note then decides nothing any more."""
        self._file(key).unlink(missing_ok=True)

    def all(self) -> Iterator[_Record]:
        """Yield every record that can be read, in the order of the keys."""
        files = sorted(self.folder.glob("*.json")) if self.folder.is_dir() else ()
        return (record for file in files if (record := self.get(file.stem)) is not None)

    def _file(self, key: str) -> Path:
        return self.folder / f"{key}.json"


def post(vault: Vault, notes: Mapping[str, bytes], subject: str, stamp: Stamp) -> None:
    """Write the notes that ask, by path, in one commit; one that is there already is replaced."""
    with vault.transaction(subject, stamp) as change:
        for path, data in notes.items():
            before = vault.read(path)
            if before is None:
                change.create(path, data)
            else:
                change.edit(path, before, data)


def answer_in(data: bytes) -> bool | None:
    """Return True for a tick at approve, False for one at reject (also with both), None for neither.

    Only the boxes above the first second-level heading count: what is asked about stands below it.
    """
    return parse_decision(question_part(Note.parse(data).body.replace("\r\n", "\n")))


def close(
    vault: Vault, statuses: Mapping[str, Literal["approved", "rejected", "outdated"]], subject: str, stamp: Stamp
) -> tuple[str, ...]:
    """Write into the notes, by path, what was decided, in one commit; returns the paths of those that changed.

    A note that is gone or cannot be changed is left: its record counts.
    """
    found = {path: vault.read(path) for path in statuses}
    closed = {path: (data, _closed(data, statuses[path])) for path, data in found.items() if data is not None}
    changed = {path: pair for path, pair in closed.items() if pair[0] != pair[1]}
    if changed:
        with vault.transaction(subject, stamp) as change:
            for path, (before, after) in changed.items():
                change.edit(path, before, after)
    return tuple(changed)


def _closed(data: bytes, status: Literal["approved", "rejected", "outdated"]) -> bytes:
    """Return the note with its status and the box that was chosen; after a yes its text is nobody else's any more."""
    try:
        note = Note.parse(data if status == "outdated" else with_decision(data, status == "approved"))
        note = note.with_key("status", status)
        return (note.without_key("untrusted") if status == "approved" else note).data
    except BadNote:
        return data
