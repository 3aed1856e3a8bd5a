"""Answers in notes with two boxes: where such a note is written, what was ticked in it, and how it is closed.

A note is valid only with the record of its question, which is kept on this machine outside the vault. So a note that
arrives by sync, or that a tool writes, decides nothing, even if a box is ticked. The caller chooses the question and
acts on the answer. Notes and records are written in an order that distinguishes a crash from a changed decision.
"""

from collections.abc import Collection, Mapping
from datetime import datetime
from itertools import count
from typing import Literal, TypeAlias

from agent.errors import BadNote
from agent.markdown.checkbox_decision import parse_decision, question_part, settled_note
from agent.markdown.note import Note
from agent.vault.change import Stamp
from agent.vault.folders import APPROVALS
from agent.vault.store import Vault

NoteDecision: TypeAlias = Literal["approved", "rejected", "outdated"]
"""What became of a question: a yes, a no, or neither, since what it asked about is no longer so."""


def free_path(vault: Vault, name: str, taken: Collection[str]) -> str:
    """A path in `approvals/` for a new note of this name, with a number if it has to be another one.

    `taken` are the paths of earlier questions: the note of one may wait to be written.
    """
    numbered = (name if number == 1 else f"{name}-{number}" for number in count(1))
    paths = (vault.home.at(f"{APPROVALS}{each}.md") for each in numbered)
    return next(path for path in paths if path not in taken and vault.read(path) is None)


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
