"""The browsers and apps that are signed in, in a private file: each with a secret of its own, until it is ended; a
browser for one port, an app (Obsidian, by a pairing code) for some routes of every port. And the token of a vault's
server, in a file that only its owner may read, made at the first start.

The file of the browsers has no secret, only a digest that is made with the token: with another token no browser is
known. The command line and the server both read and change it, so every change is made under a lock.
"""

import hmac
import json
import secrets
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, field, replace
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path

from agent.clock import Clock
from agent.config import durable
from agent.config.durable import process_lock
from agent.config.private import make_folder
from agent.config.private import replace as replace_file
from agent.dataclass import dataclass
from agent.deeds.result import ResultValue
from agent.errors import LockHeld, Unknown
from agent.json_value import parse_json
from agent.workspace.workspace import Workspace

DAYS = 30
"""Days after which a browser has to sign in again; for an app, days without a request of it."""
MOST = 100
"""Browsers that are kept; one more ends the one that was seen longest ago."""
_NAME = "browsers.json"
_PATIENCE = 5.0
_STALE = timedelta(minutes=1)
"""The age at which the last time that a browser was seen is written again."""
_BROWSERS = (("Edg/", "Edge"), ("OPR/", "Opera"), ("Firefox/", "Firefox"), ("Chrome/", "Chrome"), ("Safari/", "Safari"))
_SYSTEMS = (("iPhone", "iPhone"), ("iPad", "iPad"), ("Android", "Android"), ("CrOS", "ChromeOS"),
            ("Windows", "Windows"), ("Mac OS X", "macOS"), ("Linux", "Linux"))  # fmt: skip


class BrowserInfo(ResultValue, frozen=True):
    """A browser that is signed in at `port`; `name` is what it says it is, null for one that is not known. `is_app`: an
    app that was paired, without a port of its own (0)."""

    id: str
    name: str | None
    port: int
    since: str
    seen: str
    is_app: bool


@dataclass(frozen=True, slots=True)
class Browser:
    """A browser that is signed in at `port`, by what it says it is (`name`, empty for one that is not known); or an
    app, at every port."""

    id: str
    digest: str
    port: int
    name: str
    since: datetime
    seen: datetime
    is_app: bool = False


@dataclass(slots=True)
class Browsers:
    """The signed-in browsers of one vault on this machine. Thread-safe, and safe beside other processes."""

    folder: Path
    clock: Clock
    _found: tuple[Browser, ...] = ()
    _read: tuple[int, ...] = ()
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def _file(self) -> Path:
        return self.folder / _NAME

    def all(self) -> tuple[Browser, ...]:
        """Those whose time is not over, the last one seen first."""
        with self._lock:
            self._load()
            found = self._found
        now = self.clock.now()
        return tuple(sorted((each for each in found if _counts(each, now)), key=lambda each: each.seen, reverse=True))

    def add(self, token: str, port: int, agent: str) -> str:
        """Sign one more in, which calls itself `agent`; returns the value of its cookie."""
        return self._add(token, port, browser_name(agent))

    def add_app(self, token: str, name: str) -> str:
        """Sign an app of this name in at every port; returns its own token."""
        return self._add(token, 0, name, is_app=True)

    def _add(self, token: str, port: int, name: str, *, is_app: bool = False) -> str:
        value, now = secrets.token_urlsafe(32), self.clock.now()
        made = Browser(secrets.token_hex(4), _digest(token, port, value), port, name, now, now, is_app)
        self._change(lambda found: [made, *sorted(found, key=lambda each: each.seen, reverse=True)[: MOST - 1]])
        return value

    def find(self, token: str, port: int, value: str) -> Browser | None:
        """The browser with this cookie, if it is signed in at this port; it is noted as seen."""
        return self._find(_digest(token, port, value), is_app=False)

    def find_app(self, token: str, value: str) -> Browser | None:
        """The app with this token; it is noted as seen."""
        return self._find(_digest(token, 0, value), is_app=True)

    def _find(self, digest: str, *, is_app: bool) -> Browser | None:
        known = (each for each in self.all() if each.is_app == is_app)
        found = next((each for each in known if hmac.compare_digest(each.digest, digest)), None)
        if found is not None and self.clock.now() - found.seen > _STALE:
            self._see(found)
        return found

    def end(self, ids: Iterable[str]) -> None:
        """Sign these out; raises `Unknown` if one of them is not signed in, and then ends none."""
        ended, known = set(ids), {each.id for each in self.all()}
        for each in sorted(ended - known):
            raise Unknown("there is no browser {id} that is signed in", hint="vault-agent serve browsers", id=each)
        self._change(lambda found: [each for each in found if each.id not in ended])

    def end_port(self, port: int) -> None:
        """Sign out all browsers of a port."""
        if any(each.port == port for each in self.all()):
            self._change(lambda found: [each for each in found if each.port != port])

    def _see(self, browser: Browser) -> None:
        seen = replace(browser, seen=self.clock.now())
        with suppress(LockHeld):  # the next request notes it
            self._change(lambda found: [seen if each.id == seen.id else each for each in found], patience=0)

    def _change(self, change: Callable[[tuple[Browser, ...]], list[Browser]], patience: float = _PATIENCE) -> None:
        make_folder(self.folder)
        lock, taken = self.folder / "browsers.lock", "another process is changing the list of browsers"
        with self._lock, process_lock(lock, self.clock, patience, taken):
            self._load()
            now = self.clock.now()
            self._found = tuple(each for each in change(self._found) if _counts(each, now))
            durable.replace(self._file, json.dumps([asdict(each) for each in self._found], default=str))
            self._read = self._state()

    def _load(self) -> None:
        """Read the file if it has changed; a missing or damaged one has no browser."""
        state = self._state()
        if state == self._read:
            return
        try:
            self._found = tuple(_parsed(parse_json(self._file.read_text("utf-8"))))
        except (OSError, ValueError, TypeError, KeyError):
            self._found = ()
        self._read = state

    def _state(self) -> tuple[int, ...]:
        try:
            found = self._file.stat()
        except OSError:
            return ()
        return found.st_ino, found.st_size, found.st_mtime_ns


def browser_name(agent: str) -> str:
    """A browser and its system by the header `User-Agent`, such as `Firefox, Linux`; empty for one that is not known.

    Only names that are known here are returned, as a program may write anything into the header.
    """
    program = next((name for mark, name in _BROWSERS if mark in agent), "")
    system = next((name for mark, name in _SYSTEMS if mark in agent), "")
    return ", ".join(filter(None, [program, system]))


def _parsed(rows: list[dict[str, str | int]]) -> Iterator[Browser]:
    for row in rows:
        times = {name: datetime.fromisoformat(str(row[name])) for name in ("since", "seen")}
        if any(each.tzinfo is None for each in times.values()):
            raise ValueError("a time without a zone")
        is_app = row.get("is_app") is True
        yield Browser(str(row["id"]), str(row["digest"]), int(row["port"]), str(row["name"]), **times, is_app=is_app)


def _counts(browser: Browser, now: datetime) -> bool:
    """True while a browser's time is not over; a clock that was set back ends it, too, once it is a day behind."""
    begun = browser.seen if browser.is_app else browser.since
    return -timedelta(days=1) < now - begun < timedelta(days=DAYS)


def _digest(token: str, port: int, value: str) -> str:
    return hmac.new(token.encode(), f"browser {port} {value}".encode("utf-8", "replace"), sha256).hexdigest()


_BYTES = 32
"""Seconds to wait for another process that is making the token."""


def token_file(workspace: Workspace) -> Path:
    """The file with the token, in the vault's private folder."""
    return workspace.vault.private_folder / "http" / "token"


def browsers_of(workspace: Workspace) -> Browsers:
    """The browsers that are signed in to the vault's server."""
    return Browsers(token_file(workspace).parent, workspace.vault.clock)


def load_token(workspace: Workspace) -> str:
    """The token; a new one is made if the file is missing, damaged, or could be read by others."""
    file = token_file(workspace)
    if token := _read(file):
        return token
    make_folder(file.parent)
    lock = file.with_name("token.lock")
    with process_lock(lock, workspace.vault.clock, _PATIENCE, "another process is making the server's token"):
        token = _read(file)
        if not token:
            token = secrets.token_urlsafe(_BYTES)
            replace_file(file, token)
    return token


def _read(file: Path) -> str:
    """The token in the file, empty if there is none to be trusted."""
    try:
        return "" if file.stat().st_mode & 0o077 else file.read_text("ascii").strip()
    except (FileNotFoundError, IsADirectoryError, UnicodeDecodeError):
        return ""
