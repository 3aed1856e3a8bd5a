"""Requests in notes that are not settled yet, and the file that keeps them over a restart.

One request for each note: its note is still being edited, it is submitted to the pool, running, waiting for a decision
or for the model's key, ended and to be written, or written and to be checked once more. The file keeps the last
answers, too. It lies outside the vault, so that a note from elsewhere is never taken for a request that was made here.
"""

import json
import threading
from collections.abc import Iterable
from concurrent.futures import Future
from dataclasses import asdict, field, replace
from pathlib import Path
from typing import Literal, TypeAlias

from agent.background.inbox.answer_log import LoggedAnswer
from agent.channel_names import IN_NOTES
from agent.config.masking import HIDDEN
from agent.config.private import replace as write_whole
from agent.dataclass import dataclass
from agent.json_value import parse_json
from agent.loop.outcome import Ended
from agent.markdown import requests
from agent.markdown.requests import NoteRequest, RequestStatus
from agent.vault.store import Vault
from agent.vault.sync.turns import Turn

Phase: TypeAlias = Literal[
    "still", "submitted", "running", "interrupted", "unsure", "waits", "ended", "queued", "told", "keyless"
]
ALL = "*"
"""In `keys`: every task that asks, as nobody can tell which ones the person has touched."""


@dataclass(slots=True)
class PendingRequest:
    """The request of one note.

    `due` is the monotonic time of the next look at it, `blob` the id of the content that a person saved last. `keys`
    are the tasks that the person wrote or unticked, each with the id of the content that showed it. `notice`: what the
    note says while the model's key is missing. `again`: the person has changed the note since the work began. `mixed`:
    the note may hold changes that are not the person's.
    `channel`: where it was asked, by which the policy says what its run may do.
    `turn`: this machine's among those that have the note; `turn_lost`: another one answers it. `waits_for_turn` is why
    the work has not begun, since `turns_missed` tries.
    """

    path: str
    due: float
    blob: str = ""
    keys: dict[str, str] = field(default_factory=dict)
    phase: Phase = "still"
    request: NoteRequest | None = None
    session: str = ""
    ended: Ended | None = None
    refusal: tuple[RequestStatus, str] | None = None
    notice: str = ""
    again: bool = False
    mixed: bool = False
    channel: str = IN_NOTES
    missing: float | None = None
    turn: Turn | None = None
    turn_lost: bool = False
    waits_for_turn: str = ""
    turns_missed: int = 0
    cancelled: threading.Event = field(default_factory=threading.Event)
    work: "Future[None] | None" = None

    @property
    def is_running(self) -> bool:
        """True while the pool has its work."""
        return self.work is not None and not self.work.done()


@dataclass(slots=True)
class RequestQueue:
    """The file with the requests of one vault.

    Known secrets in a request are masked in the file; when it is loaded, the request's words are read from its note
    again, and stay masked if the note has changed.
    """

    path: Path
    vault: Vault
    _last: str = ""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def save(self, entries: Iterable[PendingRequest], given: tuple[LoggedAnswer, ...]) -> None:
        """Write the entries and what was answered, if anything has changed; raises OSError."""
        kept = [
            {
                "path": each.path,
                "blob": each.blob,
                "keys": each.keys,
                "phase": each.phase,
                "session": each.session,
                "channel": each.channel,
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

    def load(self) -> tuple[list[PendingRequest], tuple[LoggedAnswer, ...]]:
        """The entries that were kept and what was answered; nothing where the file cannot be read."""
        try:
            said = parse_json(self.path.read_text("utf-8"))
            entries = [
                PendingRequest(
                    str(each["path"]),
                    0.0,
                    str(each["blob"]),
                    {str(key): str(digest) for key, digest in each["keys"].items()},
                    "still" if each["phase"] == "submitted" else each["phase"],
                    self._as_in_note(str(each["path"]), NoteRequest(**each["request"])) if each["request"] else None,
                    str(each["session"]),
                    channel=str(each.get("channel", IN_NOTES)),
                )
                for each in said["entries"]
            ]
            answers = (
                {name: each[name] for name in LoggedAnswer.__slots__ if name in each} for each in said["answers"]
            )
            return entries, tuple(LoggedAnswer(**each) for each in answers)
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
