"""A browser's sign-in: a link that works once, for a minute, becomes a cookie of one port. An app's: a pairing code
becomes a token of its own.

The token itself is in no URL and in no cookie.
"""

import secrets
import threading
from contextlib import suppress
from dataclasses import field
from hashlib import sha256

from agent.clock import Clock
from agent.config.entrance import is_token
from agent.dataclass import dataclass
from agent.errors import Unknown
from agent.interfaces.http.door.browsers import Browser, Browsers
from agent.interfaces.http.door.pairing import PairingCodes

LINK_SECONDS = 60
"""Seconds for which a link to sign in may be opened."""


@dataclass(slots=True)
class SignIn:
    """The links and codes to sign in that were made, and the check of cookies and tokens. Thread-safe."""

    token: str
    clock: Clock
    browsers: Browsers
    pairing: PairingCodes = field(init=False)
    _codes: dict[str, tuple[int, float]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.pairing = PairingCodes(self.clock)

    def cookie_name(self, port: int) -> str:
        """The name of the cookie of a port, a vault's own: browsers have one set of cookies for all ports of a
        machine."""
        return f"vault-agent-{sha256(self.token.encode()).hexdigest()[:8]}-{port}"

    def code(self, port: int) -> str:
        """A new code for a link to this port; it counts once, for a minute."""
        code = secrets.token_urlsafe(24)
        with self._lock:
            self._codes[code] = port, self.clock.monotonic() + LINK_SECONDS
        return code

    def redeem(self, code: str, port: int) -> bool:
        """True if the code was made for this port and still counts; it does not count again, wherever it was shown."""
        now = self.clock.monotonic()
        with self._lock:
            self._codes = {each: known for each, known in self._codes.items() if known[1] > now}
            found = self._codes.pop(code, None)
        return found is not None and found[0] == port

    def enter(self, port: int, agent: str, former: Browser | None = None) -> str:
        """Sign a browser in at a port, in place of its `former` sign-in; returns the value of its cookie."""
        with suppress(Unknown):  # another process may have ended it meanwhile
            self.browsers.end([former.id] if former is not None else [])
        return self.browsers.add(self.token, port, agent)

    def browser(self, cookie: str, port: int) -> Browser | None:
        """The browser that a cookie of this port belongs to; None if it is not signed in, or not any more."""
        return self.browsers.find(self.token, port, cookie) if cookie else None

    def pair(self, code: str, name: str) -> str | None:
        """The token of an app that shows the pairing code that counts; None for another code."""
        return self.browsers.add_app(self.token, name) if self.pairing.redeem(code) else None

    def app(self, token: str) -> Browser | None:
        """The app that this token belongs to; None if it is not paired, or not any more."""
        return self.browsers.find_app(self.token, token) if token else None

    def knows_token(self, token: str) -> bool:
        """True for the token itself; takes the same time for every wrong one."""
        return is_token(token, self.token)
