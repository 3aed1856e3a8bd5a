"""Notes that this program has written and not committed yet: the record of a run, committed once when the run ends.

Each write of such a note is as durable as any other, and what was written is held in a private file until a commit has
it. What a process left behind when it ended is committed by the next write. A person who changes the note meanwhile
loses nothing: the held text is committed as the program's, their change as theirs.
"""

import base64
import hashlib
import json
from dataclasses import asdict
from pathlib import Path

from agent.config import holder
from agent.dataclass import dataclass
from agent.json_value import parse_json
from agent.vault import durable
from agent.vault.change import Stamp


@dataclass(frozen=True, slots=True)
class HeldNote:
    """A note as it was written last, and its commit message until a better one is given.

    `base` is the blob id of the note in HEAD when it was first held, empty if it was not there. `by` is the process
    that wrote it (`holder.Holder` as text).
    """

    path: str
    base: str
    data: bytes
    subject: str
    stamp: Stamp
    by: str

    @property
    def is_left_behind(self) -> bool:
        """True unless the process that wrote it is known to run: a commit too many does no harm."""
        process = holder.parse(self.by)
        return process is None or not process.shares_processes_with(holder.current()) or process.is_gone()


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

    def _file(self, path: str) -> Path:
        name = hashlib.sha256(path.encode("utf-8", "surrogateescape")).hexdigest()[:32]
        return self.folder / f"{name}.json"


def _load(file: Path) -> HeldNote | None:
    """The note in a file; None for none, and for a damaged file: the note itself is in the vault, uncommitted."""
    try:
        found = parse_json(file.read_bytes())
        stamp = Stamp(**{**found["stamp"], "undoes": tuple(found["stamp"]["undoes"])})
        data = base64.b64decode(found["data"], validate=True)
        return HeldNote(str(found["path"]), str(found["base"]), data, str(found["subject"]), stamp, str(found["by"]))
    except (OSError, ValueError, LookupError, TypeError):
        return None
