"""What stands between a person's request in a note and its answer, and the file that keeps it over a restart.

One entry for each note: waiting for the note to lie still, being worked on, waiting for the person's decision, waiting
to be written. The file lies outside the vault, so that no note that came from elsewhere is ever taken for asked here.
"""

import json
import threading
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from agent.loop.outcome import Ended
from agent.markdown.requests import Request, Status
from agent.vault.store import Vault

Phase: TypeAlias = Literal["still", "running", "interrupted", "waits", "ended", "queued"]
ALL = "*"
"""In `keys`: every task that asks, as nobody can tell which ones the person has touched."""


@dataclass(slots=True)
class Entry:
    """The request of one note. `due` is when it is looked at next, on the monotonic clock; `blob` the content that a
    person gave it last; `keys` the tasks in it that they wrote or unticked; `again`: they have changed it since."""

    path: str
    due: float
    blob: str = ""
    keys: set[str] = field(default_factory=set)
    phase: Phase = "still"
    request: Request | None = None
    session: str = ""
    ended: Ended | None = None
    refusal: tuple[Status, str] | None = None
    again: bool = False
    missing: float | None = None
    cancelled: threading.Event = field(default_factory=threading.Event)
    thread: threading.Thread | None = None

    @property
    def is_running(self) -> bool:
        """Whether its thread is at work."""
        return self.thread is not None and self.thread.is_alive()


@dataclass(slots=True)
class PendingFile:
    """Where the entries of one vault are kept."""

    path: Path
    _last: str = ""

    def save(self, entries: Iterable[Entry]) -> None:
        """Write the entries, if anything of them has changed; raises OSError."""
        kept = [
            {
                "path": each.path,
                "blob": each.blob,
                "keys": sorted(each.keys),
                "phase": each.phase,
                "session": each.session,
                "request": asdict(each.request) if each.request else None,
            }
            for each in entries
        ]
        text = json.dumps(kept)
        if text == self._last or (not kept and not self.path.exists()):
            return
        draft = self.path.with_suffix(".new")
        draft.write_text(text, "utf-8")
        draft.replace(self.path)
        self._last = text

    def load(self) -> list[Entry]:
        """The entries that were kept; none where the file cannot be read."""
        try:
            said = json.loads(self.path.read_text("utf-8"))
            return [
                Entry(
                    str(each["path"]),
                    0.0,
                    str(each["blob"]),
                    set(each["keys"]),
                    each["phase"],
                    Request(**each["request"]) if each["request"] else None,
                    str(each["session"]),
                )
                for each in said
            ]
        except (OSError, ValueError, KeyError, TypeError):
            return []


def pending_file(vault: Vault) -> PendingFile:
    """The file of a vault."""
    return PendingFile(vault.writer.layout.folder / "inbox.json")
