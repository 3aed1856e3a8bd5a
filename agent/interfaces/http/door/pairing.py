"""Pairing codes: eight characters that a person types into an app, which gets a token of its own for one of them.

A code is kept in this process only. One counts at a time, once, for some minutes, and no more after some wrong tries.
"""

import hmac
import secrets
import threading
from dataclasses import field
from typing import Literal, TypeAlias

from agent.clock import Clock
from agent.dataclass import dataclass

SECONDS = 300
"""Seconds for which a code counts: long enough to change to the other window and type it."""
TRIES = 5
"""Wrong codes after which the one that counts is withdrawn: of 8 * 10^11 codes, five are guessed by chance."""
_LETTERS = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"
"""Characters that no one takes for another."""
_LENGTH = 8
State: TypeAlias = Literal["waits", "paired", "over"]


@dataclass(slots=True)
class PairingCodes:
    """The code that counts. Thread-safe."""

    clock: Clock
    _code: str = ""
    _until: float = 0.0
    _tries: int = 0
    _redeemed: str = ""
    _paired: str = ""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def make(self) -> str:
        """A new code, such as `K7QM-2XWD`; the one before counts no more."""
        found = "".join(secrets.choice(_LETTERS) for _ in range(_LENGTH))
        with self._lock:
            self._code, self._until = found, self.clock.monotonic() + SECONDS
            self._tries = TRIES
        return _with_spaces(found)

    def current(self) -> str:
        """The code that counts, as it is shown; empty if none does."""
        with self._lock:
            return _with_spaces(self._code) if self._counts() else ""

    def state_of(self, code: str) -> State:
        """What became of a code that was made."""
        with self._lock:
            if self._paired == _plain(code):
                return "paired"
            is_open = self._redeemed == _plain(code) or self._counts() and self._code == _plain(code)
            return "waits" if is_open else "over"

    def redeem(self, code: str) -> bool:
        """True for the code that counts, which counts no more after that, and `waits` until `settle`. A wrong one is a
        try."""
        code_typed = _plain(code)
        with self._lock:
            if not self._counts():
                return False
            if hmac.compare_digest(code_typed.encode("utf-8", "replace"), self._code.encode()):
                self._code, self._redeemed = "", code_typed
                return True
            self._tries -= 1
            return False

    def settle(self, code: str, *, paired: bool) -> None:
        """Say whether the app of a redeemed code has its token."""
        with self._lock:
            self._redeemed = ""
            self._paired = _plain(code) if paired else self._paired

    def _counts(self) -> bool:
        return bool(self._code) and self._tries > 0 and self.clock.monotonic() < self._until


def _plain(code: str) -> str:
    return code.replace("-", "").replace(" ", "").upper()


def _with_spaces(code: str) -> str:
    return f"{code[:4]}-{code[4:]}"
