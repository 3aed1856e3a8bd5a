"""The answers to requests with an `Idempotency-Key`, for a day: a request that is sent again is not carried out again.

They lie in the vault's private folder, so a client that asks again after the daemon was started anew gets its answer,
too. Only what was done is kept; a request that was refused may be repeated.
"""

import base64
import json
import os
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import field
from hashlib import sha256
from http import HTTPStatus
from pathlib import Path

from agent.config.private import make_folder, replace
from agent.dataclass import dataclass
from agent.interfaces.http.problems import RequestRefused
from agent.json_value import parse_json
from agent.workspace.workspace import Workspace

SECONDS = 86_400
_LONGEST = 200
_MOST = 10_000
_LOOK = 600.0
"""Seconds between two looks for answers that are too old."""


@dataclass(frozen=True, slots=True)
class StoredResponse:
    """A response: its status, its body and the headers of its own."""

    status: int
    body: bytes
    headers: Mapping[str, str]


@dataclass(slots=True)
class StoredAnswers:
    """The answers by key, in files. Thread-safe; a second request with a key waits for the first."""

    workspace: Workspace
    _next_look: float = 0.0
    _locks: dict[str, threading.Lock] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def once(
        self, key: str, asked: tuple[str, str, str, bytes], perform: Callable[[], StoredResponse]
    ) -> StoredResponse:
        """The answer of `perform`, or the one that it had the first time; `asked` tells one request from another.

        Raises `RequestRefused` for a key of another request.
        """
        if len(key) > _LONGEST:
            raise RequestRefused(
                HTTPStatus.BAD_REQUEST, "the Idempotency-Key is longer than {most} characters", most=_LONGEST
            )
        name = sha256(key.encode("utf-8", "surrogateescape")).hexdigest()
        digest = sha256(repr(asked).encode("utf-8", "surrogateescape")).hexdigest()
        with self._lock_of(name):
            known = self._load(name)
            if known is not None:
                given, answer = known
                if given != digest:
                    raise RequestRefused(
                        HTTPStatus.UNPROCESSABLE_ENTITY,
                        "this Idempotency-Key came with another request",
                        hint="make a new key for each new request",
                    )
                return answer
            answer = perform()
            if answer.status < HTTPStatus.BAD_REQUEST:
                self._save(name, digest, answer)
            return answer

    @property
    def _folder(self) -> Path:
        return self.workspace.vault.private_folder / "http" / "answers"

    def _lock_of(self, name: str) -> threading.Lock:
        with self._lock:
            if len(self._locks) > _MOST:
                self._locks = {each: lock for each, lock in self._locks.items() if lock.locked()}
            return self._locks.setdefault(name, threading.Lock())

    def _load(self, name: str) -> tuple[str, StoredResponse] | None:
        try:
            found = parse_json((self._folder / name).read_bytes())
            answer = StoredResponse(found["status"], base64.b64decode(found["body"]), found["headers"])
            is_recent = self._now - float(found["at"]) < SECONDS
            return (found["asked"], answer) if is_recent else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _save(self, name: str, digest: str, answer: StoredResponse) -> None:
        make_folder(self._folder)
        body = base64.b64encode(answer.body).decode()
        found = {"asked": digest, "at": self._now, "status": answer.status, "headers": dict(answer.headers)}
        replace(self._folder / name, json.dumps({**found, "body": body}))
        os.utime(self._folder / name, (self._now, self._now))
        self._drop_old()

    def _drop_old(self) -> None:
        with self._lock:
            if self._now < self._next_look:
                return
            self._next_look = self._now + _LOOK
        for file in self._folder.iterdir():
            with suppress(FileNotFoundError):
                if self._now - file.stat().st_mtime > SECONDS:
                    file.unlink()

    @property
    def _now(self) -> float:
        return self.workspace.clock.now().timestamp()
