"""Notes with two boxes that ask the person for a yes or no, and the records that make such a note valid.

A note is valid only with the record of its question, which is kept on this machine outside the vault. So a note that
arrives by sync, or that a tool writes, decides nothing, even if a box is ticked. The caller chooses the question and
acts on the answer. Notes and records are written in an order that distinguishes a crash from a changed decision.
"""

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import asdict
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Generic, Literal, TypeAlias, TypeVar

from agent.dataclass import dataclass
from agent.errors import BadNote
from agent.json_value import parse_json
from agent.markdown.checkbox_decision import parse_decision, question_part, settled_note
from agent.markdown.note import Note
from agent.vault import durable
from agent.vault.change import Stamp
from agent.vault.folders import APPROVALS
from agent.vault.store import Vault

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    _Record = TypeVar("_Record", bound=DataclassInstance)
else:
    _Record = TypeVar("_Record")

NoteDecision: TypeAlias = Literal["approved", "rejected", "outdated"]
"""What became of a question: a yes, a no, or neither, since what it asked about is no longer so."""


def free_path(vault: Vault, name: str, taken: Collection[str]) -> str:
    """A path in `approvals/` for a new note of this name, with a number if it has to be another one.

    `taken` are the paths of earlier questions: the note of one may wait to be written.
    """
    numbered = (name if number == 1 else f"{name}-{number}" for number in count(1))
    paths = (vault.home.at(f"{APPROVALS}{each}.md") for each in numbered)
    return next(path for path in paths if path not in taken and vault.read(path) is None)


@dataclass(frozen=True, slots=True)
class RecordFolder(Generic[_Record]):
    """A folder outside the vault with one small JSON file for each question.

    `parse` converts a JSON document to a record; it raises `ValueError`, `KeyError` or `TypeError` for a damaged one.
    """

    folder: Path
    parse: Callable[[dict[str, object]], _Record]

    def get(self, key: str) -> _Record | None:
        """The record of this key; None if it is missing or cannot be read (its note then decides nothing)."""
        try:
            return self.parse(parse_json(self._file(key).read_text("utf-8")))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, key: str, record: _Record) -> None:
        """Write a record; durable when this returns."""
        durable.replace(self._file(key), json.dumps(asdict(record), indent=1, default=str))

    def drop(self, key: str) -> None:
        """Delete a record; its note then decides nothing."""
        self._file(key).unlink(missing_ok=True)

    def all(self) -> Iterator[_Record]:
        """All readable records, in the order of their keys."""
        files = sorted(self.folder.glob("*.json")) if self.folder.is_dir() else ()
        return (record for file in files if (record := self.get(file.stem)) is not None)

    def _file(self, key: str) -> Path:
        return self.folder / f"{key}.json"


def post(vault: Vault, notes: Mapping[str, bytes], subject: str, stamp: Stamp) -> None:
    """Write the notes, given by path, in one commit; existing ones are replaced."""
    with vault.transaction(subject, stamp) as change:
        for path, data in notes.items():
            change.write(path, vault.read(path), data)


def answer_in(data: bytes) -> bool | None:
    """True for a tick at approve, False for a tick at reject (or at both), None for no tick.

    Only the boxes above the first second-level heading count: below it stands the text that the question is about.
    """
    return parse_decision(question_part(Note.parse(data).body.replace("\r\n", "\n")))


def close(vault: Vault, statuses: Mapping[str, NoteDecision], subject: str, stamp: Stamp) -> tuple[str, ...]:
    """Write the decision into the notes, given by path, in one commit; returns the paths of the changed notes.

    A note that is gone or cannot be changed is skipped: its record is what counts.
    """
    found = {path: vault.read(path) for path in statuses}
    now = vault.clock.now()
    closed = {path: (data, _closed(data, statuses[path], now)) for path, data in found.items() if data is not None}
    changed = {path: pair for path, pair in closed.items() if pair[0] != pair[1]}
    if changed:
        with vault.transaction(subject, stamp) as change:
            for path, (before, after) in changed.items():
                change.edit(path, before, after)
    return tuple(changed)


def _closed(data: bytes, status: NoteDecision, now: datetime) -> bytes:
    """The note with the decision; after a yes, which approves its text, without `untrusted`."""
    try:
        note = settled_note(data, None if status == "outdated" else status == "approved", status, now)
        return (note.without_key("untrusted") if status == "approved" else note).data
    except BadNote:
        return data
