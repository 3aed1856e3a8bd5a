"""Notes that are written and not committed yet: those of a run that goes on, and what waits for the evening's commit.

What a run does is one commit: its changes are held until it ends or waits for a person. Each held note is a file
outside the vault. Nothing is lost with a damaged one: the note itself is in the vault.
"""

import base64
import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from agent.config import durable, private
from agent.config.masking import KnownSecrets
from agent.dataclass import dataclass
from agent.json_value import parse_json
from agent.vault.change import CAPTURE, EVENING, Stamp, ToolWork, parse_stamp
from agent.vault.message import compose

LONGEST_WAIT = 26 * 3_600.0
"""Seconds after which what waits for the evening is committed with the next write: a day, and a late evening."""
_LISTED = 40
"""The most subjects in the message of what has waited."""


@dataclass(frozen=True, slots=True)
class HeldNote:
    """A note as it was written last, and its commit message until a better one is given.

    `base` is the blob id of the note in HEAD when it was first held, empty if it was not there; `data` is None for a
    note that was deleted. `by` is the process that wrote it (`holder.Holder` as text). `changes` are the subjects of
    what was written in it unasked or by tools, the oldest first, `work` is that of tools. While it `waits`, only what
    nobody has asked for is in it, and it waits for the evening, whichever process wrote it; `since` is when that began,
    in seconds since 1970.
    """

    path: str
    base: str
    data: bytes | None
    subject: str
    stamp: Stamp
    by: str
    changes: tuple[str, ...] = ()
    waits: bool = False
    since: float = 0.0
    work: tuple[ToolWork, ...] = ()

    def is_orphaned(self, now: float) -> bool:
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
        data = None if note.data is None else base64.b64encode(note.data).decode("ascii")
        document = {**asdict(note), "data": data}
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
        data = None if found["data"] is None else base64.b64decode(found["data"], validate=True)
        return HeldNote(
            str(found["path"]),
            str(found["base"]),
            data,
            str(found["subject"]),
            parse_stamp(found["stamp"]),
            str(found["by"]),
            tuple(map(str, found.get("changes", found.get("unasked", ())))),  # as an earlier version called them
            found.get("waits") is True,
            float(found.get("since", 0.0)),
            tuple(ToolWork(**each) for each in found.get("work", ())),
        )
    except (OSError, ValueError, LookupError, TypeError):
        return None


def message_of_held(notes: Sequence[HeldNote], known: KnownSecrets) -> str:
    """The message of a commit of held notes, with what was written in them."""
    last, waiting = notes[-1], [note for note in notes if note.waits]
    changes = changes_in(waiting)
    if len(last.work) == 1 and len({(note.stamp, len(note.work)) for note in notes}) == 1:  # of one call
        return compose(last.subject, last.stamp, listed_changes(notes, last.subject), known=known)
    if len(waiting) < len(notes) or len(changes) < 2:
        stamp, body = stamp_with(last.stamp, notes), listed_changes(notes, last.subject)
        return compose(last.subject, stamp, body, work_in(notes), known=known)
    stamps = {note.stamp for note in waiting}
    untrusted = max(each.untrusted for each in stamps)  # who knows the last claim knows the others
    stamp = last.stamp if len(stamps) == 1 else Stamp("agent", tool=EVENING, untrusted=untrusted)
    return compose(f"evening: {len(changes)}", stamp, listed_changes(waiting), work_in(waiting), known=known)


def changes_in(notes: Iterable[HeldNote]) -> tuple[str, ...]:
    """The subjects of what was written in held notes unasked or by tools, each once."""
    return tuple(dict.fromkeys(change for note in notes for change in note.changes))


def listed_changes(notes: Iterable[HeldNote], subject: str = "") -> str:
    """The changes in held notes, a line for each, but for what the `subject` of their commit says."""
    changes = tuple(change for change in changes_in(notes) if change != subject)
    lines = [f"- {change}" for change in changes[:_LISTED]]
    return "\n".join([*lines, *([f"- +{len(changes) - _LISTED}"] if len(changes) > _LISTED else [])])


def work_in(notes: Iterable[HeldNote]) -> tuple[ToolWork, ...]:
    """What tools have changed in held notes."""
    return tuple(each for note in notes for each in note.work)


def stamp_with(stamp: Stamp, notes: Iterable[HeldNote]) -> Stamp:
    """The stamp of a commit that takes held notes along: with the work of tools, it is the record of their run."""
    work = [note.stamp for note in notes if note.work]
    if not work:
        return stamp
    run, untrusted = stamp.run or work[-1].run, max((stamp.untrusted, *(each.untrusted for each in work)))
    tool = CAPTURE if stamp.call or not stamp.tool else stamp.tool
    return replace(stamp, run=run, tool=tool, call="", untrusted=untrusted)
