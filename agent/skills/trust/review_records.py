"""Records of the review notes written on this machine.

A note from a pull has no record here, so its ticks do not count. Records are stored beside the pins. `status` counts
waiting reviews with this module; asking and settling are left to `review_note`.
"""

import json
from collections.abc import Iterator
from pathlib import Path

from agent.asking.answers import answer_in
from agent.dataclass import dataclass
from agent.json_value import parse_json
from agent.markdown.note import Note
from agent.skills.loading.pins import Pin, ReviewPins
from agent.vault import durable
from agent.vault.store import Vault


@dataclass(frozen=True, slots=True)
class ReviewRecord:
    """One question: the skill's `key`, the `path` of its note, the `digest` of the files in question."""

    key: str
    path: str
    digest: str

    def is_answered_by(self, pin: Pin | None) -> bool:
        """True if the pin is for the files in question, even if the skill has changed since."""
        return pin is not None and pin.digest == self.digest


def save_record(pins: ReviewPins, record: ReviewRecord) -> None:
    """Write a record; durable when this returns."""
    durable.replace(_file(pins, record.key), json.dumps({"path": record.path, "digest": record.digest}))


def load_record(pins: ReviewPins, key: str) -> ReviewRecord | None:
    """The record of one skill; None if it is missing or cannot be parsed."""
    try:
        raw = parse_json(_file(pins, key).read_text("utf-8"))
        return ReviewRecord(key, str(raw["path"]), str(raw["digest"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def load_records(pins: ReviewPins) -> Iterator[ReviewRecord]:
    """The records of all questions that are not approved yet, by key."""
    for key in sorted(file.stem for file in (pins.folder / "asked").glob("*.json")):
        if (record := load_record(pins, key)) is not None:
            yield record


def delete_record(pins: ReviewPins, key: str) -> None:
    """Delete the record of a skill whose question is settled."""
    _file(pins, key).unlink(missing_ok=True)


def _file(pins: ReviewPins, key: str) -> Path:
    return pins.folder / "asked" / f"{key}.json"


def waiting_reviews(vault: Vault, pins: ReviewPins) -> tuple[str, ...]:
    """The paths of the notes written on this machine that have no answer yet."""
    return tuple(record.path for record in load_records(pins) if is_open(vault.own_version(record.path)))


def is_open(data: bytes | None) -> bool:
    """True if the note exists and has no decision yet."""
    return data is not None and is_pending(data) and answer_in(data) is None


def is_pending(data: bytes) -> bool:
    """True if the note's own `status` leaves its question open."""
    return Note.parse(data).string("status") in {None, "pending"}
