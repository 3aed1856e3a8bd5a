"""What stands between a person's request in a note and its answer, and the file that keeps it over a restart.

One entry for each note: waiting for the note to lie still, submitted to the pool, being worked on, waiting for the
person's decision, waiting to be written, written and to be looked at once more. The file keeps what was answered
lately, too. It lies outside the vault, so that no note that came from elsewhere is ever taken for asked here.
"""

import json
import threading
from collections.abc import Iterable
from concurrent.futures import Future
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Literal, TypeAlias

from agent.background.inbox.answer_log import Answered
from agent.config.masking import HIDDEN
from agent.config.private import replace as write_whole
from agent.loop.outcome import Ended
from agent.markdown import requests
from agent.markdown.requests import NoteRequest, RequestStatus
from agent.vault.store import Vault

Phase: TypeAlias = Literal["still", "submitted", "running", "interrupted", "waits", "ended", "queued", "told"]
ALL = "*"
"""In `keys`: every task that asks, as nobody can tell which ones the person has touched."""


@dataclass(slots=True)
class PendingRequest:
    """The request of one note. `due` is when it is looked at next, on the monotonic clock; `blob` the content that a
    person gave it last; `keys` the tasks in it that they wrote or unticked, with the content that showed it; `again`:
    they have changed it since; `mixed`: nobody knows whether it was they alone."""

    path: str
    due: float
    blob: str = ""
    keys: dict[str, str] = field(default_factory=dict)
    phase: Phase = "still"
    request: NoteRequest | None = None
    session: str = ""
    ended: Ended | None = None
    refusal: tuple[RequestStatus, str] | None = None
    again: bool = False
    mixed: bool = False
    missing: float | None = None
    cancelled: threading.Event = field(default_factory=threading.Event)
    work: "Future[None] | None" = None

    @property
    def is_running(self) -> bool:
        """Whether the pool still has its work."""
        return self.work is not None and not self.work.done()


@dataclass(slots=True)
class RequestQueue:
    """Where the entries of one vault are kept. A request with a known secret is kept without it, and read from its note
    again when it is loaded; where the note has changed meanwhile, it stays as it was kept."""

    path: Path
    vault: Vault
    _last: str = ""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def save(self, entries: Iterable[PendingRequest], given: tuple[Answered, ...]) -> None:
        """Write the entries and what was answered, if anything has changed; raises OSError."""
        kept = [
            {
                "path": each.path,
                "blob": each.blob,
                "keys": each.keys,
                "phase": each.phase,
                "session": each.session,
                "request": asdict(self._without_secrets(each.request)) if each.request else None,
            }
            for each in entries
        ]
        text = json.dumps({"entries": kept, "answers": [asdict(each) for each in given]})
        with self._lock:
            if text == self._last or (not kept and not given and not self.path.exists()):
                return
            write_whole(self.path, text)
            self._last = text

    def load(self) -> tuple[list[PendingRequest], tuple[Answered, ...]]:
        """The entries that were kept and what was answered; nothing where the file cannot be read."""
        try:
            said = json.loads(self.path.read_text("utf-8"))
            entries = [
                PendingRequest(
                    str(each["path"]),
                    0.0,
                    str(each["blob"]),
                    {str(key): str(digest) for key, digest in each["keys"].items()},
                    "still" if each["phase"] == "submitted" else each["phase"],
                    self._as_in_note(str(each["path"]), NoteRequest(**each["request"])) if each["request"] else None,
                    str(each["session"]),
                )
                for each in said["entries"]
            ]
            answers = ({name: each[name] for name in Answered.__slots__ if name in each} for each in said["answers"])
            return entries, tuple(Answered(**each) for each in answers)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return [], ()

    def _without_secrets(self, request: NoteRequest) -> NoteRequest:
        mask = self.vault.known.mask
        return replace(request, text=mask(request.text), base=mask(request.base))

    def _as_in_note(self, path: str, request: NoteRequest) -> NoteRequest:
        if HIDDEN not in request.text + request.base:
            return request
        data = self.vault.read(path) or b""
        asked = (each for whole in (False, True) for each in requests.open_requests(data, whole=whole))
        return next((each for each in asked if self._without_secrets(each) == request), request)


def request_queue(vault: Vault) -> RequestQueue:
    """The file of a vault."""
    return RequestQueue(vault.private_folder / "inbox.json", vault)
