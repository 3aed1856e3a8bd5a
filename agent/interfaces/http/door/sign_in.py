"""A browser's sign-in: a link that works once becomes a cookie. The token itself is in no URL and in no cookie."""

import hmac
import secrets
import threading
from dataclasses import field
from hashlib import sha256

from agent.clock import Clock
from agent.config.entrance import is_token
from agent.dataclass import dataclass

DAYS = 30
"""Days after which a browser has to sign in again."""
_MINUTES = 10
"""Minutes for which a link to sign in may be opened."""


@dataclass(slots=True)
class SignIn:
    """The links to sign in that were made, and the check of cookies. Thread-safe."""

    token: str
    clock: Clock
    _codes: dict[str, float] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def cookie_name(self) -> str:
        """The name of the cookie, a vault's own: browsers have one set of cookies for all ports of a machine."""
        return f"vault-agent-{sha256(self.token.encode()).hexdigest()[:8]}"

    def code(self) -> str:
        """A new code for a link; it counts once, for ten minutes."""
        code = secrets.token_urlsafe(24)
        with self._lock:
            self._codes[code] = self.clock.monotonic() + _MINUTES * 60
        return code

    def redeem(self, code: str) -> bool:
        """True if the code is known and still counts; it does not count again."""
        now = self.clock.monotonic()
        with self._lock:
            self._codes = {each: until for each, until in self._codes.items() if until > now}
            return self._codes.pop(code, None) is not None

    def cookie(self) -> str:
        """The value of a cookie: when it ends, and a signature that only this vault's token makes."""
        until = int(self.clock.now().timestamp()) + DAYS * 86_400
        return f"{until}.{self._signature(str(until))}"

    def knows(self, cookie: str) -> bool:
        """True for a cookie that was made here with the present token and has not ended."""
        until, _, signature = cookie.partition(".")
        if not hmac.compare_digest(signature.encode(), self._signature(until).encode()):
            return False
        return int(until) > self.clock.now().timestamp()

    def knows_token(self, token: str) -> bool:
        """True for the token itself; takes the same time for every wrong one."""
        return is_token(token, self.token)

    def _signature(self, until: str) -> str:
        return hmac.new(self.token.encode(), f"cookie {until}".encode(), sha256).hexdigest()
