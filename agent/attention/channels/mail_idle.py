"""Listens to a mail server that tells of new mail by itself (IMAP IDLE, RFC 2177)."""

import imaplib
import re
from contextlib import suppress

from agent.clock import Clock

_TAG = b"IDLE"
_NEWS = re.compile(rb"\* \d+ (?:EXISTS|RECENT)\b", re.ASCII | re.IGNORECASE)
_SOON = 0.1
"""The shortest time in seconds that is waited for a line."""


class Idle:
    """Listens on one connection that has a mailbox open, for `seconds` in all. `timeout` is the longest wait for an
    answer."""

    def __init__(self, imap: imaplib.IMAP4, clock: Clock, seconds: float, timeout: float) -> None:
        self._imap, self._clock, self._timeout = imap, clock, timeout
        self._until = clock.monotonic() + seconds
        kind, capabilities = imap.capability()  # what it can do may be more after the login
        first = capabilities[0] if kind == "OK" and capabilities else b""
        self._is_able = b"IDLE" in (first or b"").upper().split()

    @property
    def is_offered(self) -> bool:
        """True if the server tells of new mail, and has not refused to."""
        return self._is_able

    def has_news(self) -> bool:
        """Wait for news; False after the time, or when the server refuses. The connection may be used again only
        after True. Raises `OSError` and `imaplib.IMAP4.abort` when the
        connection is lost."""
        if self._has_news():
            return True
        self._imap.send(_TAG + b" IDLE\r\n")
        self._imap.sock.settimeout(self._timeout)
        is_new = False
        while not (line := self._line()).startswith(b"+"):
            if line.upper().startswith(_TAG + b" "):
                self._is_able = False
                return True  # look again: what came meanwhile was not told
            is_new = is_new or _NEWS.match(line) is not None
        while not is_new:
            self._imap.sock.settimeout(max(self._until - self._clock.monotonic(), _SOON))
            try:
                is_new = _NEWS.match(self._line()) is not None
            except TimeoutError:
                with suppress(OSError):
                    self._imap.send(b"DONE\r\n")
                return False
        self._imap.sock.settimeout(self._timeout)
        self._imap.send(b"DONE\r\n")
        while not self._line().upper().startswith(_TAG + b" "):
            pass
        return True

    def _has_news(self) -> bool:
        """True if the server has told of new mail in its answers to other commands."""
        return self._imap.response("EXISTS")[1] != [None]

    def _line(self) -> bytes:
        line = self._imap.readline()
        if not line.endswith(b"\n"):
            raise imaplib.IMAP4.abort("the connection has ended")
        if line.upper().startswith(b"* BYE"):
            raise imaplib.IMAP4.abort("the server has ended the connection")
        return line
