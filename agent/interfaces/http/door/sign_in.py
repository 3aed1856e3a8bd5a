"""A browser's sign-in: a link that works once, for a minute, becomes a cookie of one port. An app's: a pairing code
becomes a token of its own.

The token itself is in no URL and in no cookie. `--open` starts a browser with a private file that leads to the link: a
link as an argument of the browser would be seen by everybody who lists the processes of this machine.
"""

import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import field
from hashlib import sha256
from pathlib import Path
from threading import Timer

from agent.clock import Clock
from agent.config.entrance import is_token
from agent.config.private import own_folder, replace
from agent.dataclass import dataclass
from agent.errors import Unknown
from agent.interfaces.http.door.browsers import Browser, Browsers
from agent.interfaces.http.door.pairing import PairingCodes
from agent.interfaces.http.responses import page_text
from agent.texts import Language, text

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
        """The token of an app that shows the pairing code that counts; None for another code. Raises `LockHeld` and
        `OSError` where it cannot be kept."""
        if not self.pairing.redeem(code):
            return None
        token = ""
        try:
            token = self.browsers.add_app(self.token, name)
            return token
        finally:
            self.pairing.settle(code, paired=bool(token))

    def app(self, token: str) -> Browser | None:
        """The app that this token belongs to; None if it is not paired, or not any more."""
        return self.browsers.find_app(self.token, token) if token else None

    def knows_token(self, token: str) -> bool:
        """True for the token itself; takes the same time for every wrong one."""
        return is_token(token, self.token)


_FOLDER = "open"


@contextmanager
def opening_page(folder: Path, link: str, language: Language) -> Iterator[Path]:
    """The file for a link, in the server's private folder; it is removed when the link is used, after its minute, and
    at the end of the block."""
    file = _file(folder, link.rpartition("/")[2])
    own_folder(file.parent)
    replace(file, page_text(text("pages.needs", language), (), language, onward=link))
    removal = Timer(LINK_SECONDS, lambda: file.unlink(missing_ok=True))
    removal.daemon = True
    removal.start()
    try:
        yield file
    finally:
        removal.cancel()
        file.unlink(missing_ok=True)


def remove_opening(folder: Path, code: str) -> None:
    """Remove the file of a link that was opened."""
    _file(folder, code).unlink(missing_ok=True)


def remove_openings(folder: Path) -> None:
    """Remove all such files, of which the links end with their server: one that was killed leaves them."""
    for file in (folder / _FOLDER).glob("*.html"):
        file.unlink(missing_ok=True)


def _file(folder: Path, code: str) -> Path:
    return folder / _FOLDER / f"{sha256(code.encode('utf-8', 'replace')).hexdigest()[:16]}.html"
