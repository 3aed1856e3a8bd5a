"""Notes that are written and not committed yet: those of a run that goes on, and what waits for the evening's commit.

Each is a file outside the vault. Nothing is lost with a damaged one: the note itself is in the vault.
"""

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from agent.config import durable, private
from agent.config.masking import KnownSecrets
from agent.dataclass import dataclass
from agent.json_value import parse_json
from agent.vault.change import EVENING, Stamp
from agent.vault.message import compose

LONGEST_WAIT = 26 * 3_600.0
"""Seconds after which what waits for the evening is committed with the next write: a day, and a late evening."""
_LISTED = 40
"""The most subjects in the message of what has waited."""


@dataclass(frozen=True, slots=True)
class HeldNote:
    """A note as it was written last, and its commit message until a better one is given.

    `base` is the blob id of the note in HEAD when it was first held, empty if it was not there. `by` is the process
    that wrote it (`holder.Holder` as text). `unasked` are the subjects of what was written in it that nobody has asked
    for, the oldest first. While it `waits`, nothing else is in it, and it waits for the evening, whichever process
    wrote it; `since` is when that began, in seconds since 1970.
    """

    path: str
    base: str
    data: bytes
    subject: str
    stamp: Stamp
    by: str
    unasked: tuple[str, ...] = ()
    waits: bool = False
    since: float = 0.0

    def is_left_behind(self, now: float) -> bool:
        """True if nobody will commit it by themselves any more: a commit too many does no harm.

        Not while the process that wrote it is known to run; what waits for the evening is left behind after
        `LONGEST_WAIT`, where no daemon has committed it.
        """
        if self.waits:
            return not 0 <= now - self.since < LONGEST_WAIT
        process = private.parse(self.by)
        return process is None or not process.shares_processes_with(private.current()) or process.is_gone()


@dataclass(frozen=True, slots=True)
class HeldNotes:
    """The held notes of one vault; changed under the writer lock only."""

    folder: Path

    def put(self, note: HeldNote) -> None:
        """Hold a note; durable when this returns."""
        document = {**asdict(note), "data": base64.b64encode(note.data).decode("ascii")}
        durable.replace(self._file(note.path), json.dumps(document))

    def get(self, path: str) -> HeldNote | None:
        """The note that is held for this path; None if there is none."""
        return _load(self._file(path))

    def all(self) -> list[HeldNote]:
        """All held notes."""
        return [note for file in sorted(self.folder.glob("*.json")) if (note := _load(file)) is not None]

    def drop(self, path: str) -> None:
        """Hold the note of this path no longer."""
        self._file(path).unlink(missing_ok=True)

    def unreadable(self) -> list[Path]:
        """The files of held notes that cannot be read."""
        return [file for file in sorted(self.folder.glob("*.json")) if _load(file) is None]

    def _file(self, path: str) -> Path:
        name = hashlib.sha256(path.encode("utf-8", "surrogateescape")).hexdigest()[:32]
        return self.folder / f"{name}.json"


def _load(file: Path) -> HeldNote | None:
    """The note in a file; None for none, and for a damaged file: the note itself is in the vault, uncommitted."""
    try:
        found = parse_json(file.read_bytes())
        stamp = Stamp(**{**found["stamp"], "undoes": tuple(found["stamp"]["undoes"])})
        data = base64.b64decode(found["data"], validate=True)
        return HeldNote(
            str(found["path"]),
            str(found["base"]),
            data,
            str(found["subject"]),
            stamp,
            str(found["by"]),
            tuple(map(str, found.get("unasked", ()))),
            found.get("waits") is True,
            float(found.get("since", 0.0)),
        )
    except (OSError, ValueError, LookupError, TypeError):
        return None


def message_of_held(notes: Sequence[HeldNote], known: KnownSecrets) -> str:
    """The message of a commit of held notes: of what waits for the evening, with all that was written."""
    last = notes[-1]
    waiting = [note for note in notes if note.waits]
    subjects = list(dict.fromkeys(subject for note in waiting for subject in note.unasked))
    if len(waiting) < len(notes) or len(subjects) < 2:
        return compose(last.subject, last.stamp, known=known)
    stamps = {note.stamp for note in waiting}
    untrusted = max(each.untrusted for each in stamps)  # who knows the last claim knows the others
    stamp = last.stamp if len(stamps) == 1 else Stamp("agent", tool=EVENING, untrusted=untrusted)
    lines = [f"- {subject}" for subject in subjects[:_LISTED]]
    lines += [f"- +{len(subjects) - _LISTED}"] if len(subjects) > _LISTED else []
    return compose(f"evening: {len(subjects)}", stamp, "\n".join(lines), known=known)
