"""Requests in notes that are not settled yet, and what keeps them over a restart.

One request for each note: its note is still being edited, it is submitted to the pool, running, waiting for a decision
or for the model's key, ended and to be written, or written and to be checked once more. The last answers are
kept, too, all outside the vault, so that a note from elsewhere is never taken for a request that was made here.
"""

import threading
from collections.abc import Iterable
from concurrent.futures import Future
from dataclasses import field, replace
from typing import Literal, TypeAlias

from agent.background.inbox.answer_log import LoggedAnswer
from agent.channel_names import IN_NOTES
from agent.config.masking import HIDDEN
from agent.dataclass import dataclass
from agent.loop.outcome import Ended
from agent.markdown import requests
from agent.markdown.requests import NoteRequest, RequestStatus
from agent.records.table import Table
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


@dataclass(frozen=True, slots=True)
class StoredRequest:
    """The stored part of a request; the fields are those of `PendingRequest`."""

    path: str
    blob: str
    keys: dict[str, str]
    phase: Phase
    session: str
    channel: str = IN_NOTES
    request: NoteRequest | None = None


@dataclass(frozen=True, slots=True)
class StoredRequests:
    """The requests that are not settled, and the last answers."""

    entries: tuple[StoredRequest, ...] = ()
    answers: tuple[LoggedAnswer, ...] = ()


@dataclass(slots=True)
class RequestQueue:
    """The stored requests of one vault.

    Known secrets in a request are masked there; when it is loaded, the request's words are read from its note again,
    and stay masked if the note has changed.
    """

    table: Table[StoredRequests]
    vault: Vault
    _last: StoredRequests = field(default_factory=StoredRequests)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def save(self, entries: Iterable[PendingRequest], answers: tuple[LoggedAnswer, ...]) -> None:
        """Keep the entries and what was answered, if anything has changed."""
        stored = StoredRequests(tuple(map(self._stored, entries)), answers)
        with self._lock:
            if stored != self._last:
                self.table.put(stored)
                self._last = stored

    def load(self) -> tuple[list[PendingRequest], tuple[LoggedAnswer, ...]]:
        """The entries that were kept and what was answered; nothing where that is damaged."""
        stored = self._last = self.table.get() or StoredRequests()
        return [self._pending(each) for each in stored.entries], stored.answers

    def _stored(self, entry: PendingRequest) -> StoredRequest:
        request = self._without_secrets(entry.request) if entry.request else None
        return StoredRequest(
            entry.path, entry.blob, dict(entry.keys), entry.phase, entry.session, entry.channel, request
        )

    def _pending(self, stored: StoredRequest) -> PendingRequest:
        phase: Phase = "still" if stored.phase == "submitted" else stored.phase
        request = self._as_in_note(stored.path, stored.request) if stored.request else None
        return PendingRequest(
            stored.path, 0.0, stored.blob, stored.keys, phase, request, stored.session, channel=stored.channel
        )

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
    """The stored requests of a vault."""
    return RequestQueue(Table(vault.records, "inbox", StoredRequests, is_flushed=False), vault)
