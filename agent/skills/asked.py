"""What was asked about skills that nobody has looked at: the records of it, and what a person has said in the notes.

Read also by those who only count what waits; asking, trusting and settling is `review_note`'s.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from agent.markdown.checkbox_decision import parse_decision, question_part
from agent.markdown.note import Note
from agent.skills.reviewed import Pin, Pins
from agent.vault.store import Vault


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked about a skill (`key`) on this machine: in which note, about what content."""

    key: str
    path: str
    digest: str

    def is_answered_by(self, pin: Pin | None) -> bool:
        """Whether exactly what was asked about is trusted, whatever the skill has become since."""
        return pin is not None and pin.digest == self.digest

    def keep(self, pins: Pins) -> None:
        """Write the question down; durable when this returns."""
        pins.asked(self.key, json.dumps({name: each for name, each in asdict(self).items() if name != "key"}))


def all_asked(pins: Pins) -> Iterator[Asked]:
    """Every question of this machine that is not settled by a yes."""
    return (asked for key in pins.questions() if (asked := asked_about(pins, key)) is not None)


def asked_about(pins: Pins, key: str) -> Asked | None:
    """The question about one skill; None where there is none, or none that can be read."""
    try:
        raw = json.loads(pins.was_asked(key) or "null")
        return Asked(key, str(raw["path"]), str(raw["digest"]))
    except (ValueError, KeyError, TypeError):
        return None


def waiting(vault: Vault, pins: Pins) -> tuple[str, ...]:
    """The notes in which this machine has asked and nobody has answered; no skill is loaded for it."""
    return tuple(asked.path for asked in all_asked(pins) if is_open(vault.own_version(asked.path)))


def is_open(data: bytes | None) -> bool:
    """Whether there is a note in which nothing was decided yet."""
    return data is not None and is_pending(data) and answer_in(data) is None


def is_pending(data: bytes) -> bool:
    """Whether a note does not say itself that its question is settled."""
    return Note.parse(data).string("status") in {None, "pending"}


def answer_in(data: bytes) -> bool | None:
    """True for a tick at approve, False for one at reject (also with both), None for neither."""
    return parse_decision(question_part(Note.parse(data).body.replace("\r\n", "\n")))
