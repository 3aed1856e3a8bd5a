"""The guard before every route: host, origin, rate, size, then token or cookie. Without all of them, nothing is routed.
The token of a paired app opens some routes only (`app_routes.py`).

A page on another site can make a browser send requests here, under a name that it has pointed at this machine; so the
`Host` and, where there is one, the `Origin` must be one of this listener's. A cookie counts for a change only when the
browser says that its own page asks.

Limits on requests: so many a second from all clients together, and so many wrong tokens.

Requests of a signed-in browser: one that lasts, such as a stream of events, ends when the browser is signed out.
"""

import asyncio
import threading
from collections.abc import Callable
from dataclasses import field
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from typing import Literal

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agent.clock import Clock
from agent.config.entrance import bearer_token
from agent.dataclass import dataclass
from agent.interfaces.http.door.app_routes import is_open_to_apps
from agent.interfaces.http.door.browsers import Browser
from agent.interfaces.http.door.port import Listener
from agent.interfaces.http.door.sign_in import SignIn
from agent.interfaces.http.problems import RequestRefused
from agent.interfaces.http.responses import refusal
from agent.texts import Language


@dataclass(slots=True)
class TokenBucket:
    """A bucket that fills with `per_second` and holds at most `most`. Thread-safe."""

    clock: Clock
    per_second: float
    most: float
    _left: float = field(init=False)
    _at: float = field(init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._left, self._at = self.most, self.clock.monotonic()

    def take(self) -> float:
        """Seconds until one more is allowed; 0 if it is allowed now, and is taken."""
        with self._lock:
            self._fill()
            if self._left >= 1:
                self._left -= 1
                return 0.0
            return (1 - self._left) / self.per_second

    def _fill(self) -> None:
        now = self.clock.monotonic()
        self._left = min(self.most, self._left + (now - self._at) * self.per_second)
        self._at = now


LOOK_SECONDS = 2.0
"""Seconds after which a request that lasts is looked after."""


@dataclass(slots=True)
class SignedIn:
    """An ASGI application for one request of a browser or an app, as long as it `is_known`."""

    app: ASGIApp
    is_known: Callable[[], bool]
    _begun: bool = field(default=False, init=False)
    _complete: bool = field(default=False, init=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        ended = False

        async def sent(message: Message) -> None:
            self._begun = True
            self._complete = message["type"] == "http.response.body" and not message.get("more_body", False)
            await send(message)

        async def received() -> Message:
            """What comes; after the sign-out, that the reader has left."""
            nonlocal ended
            coming = asyncio.ensure_future(receive())
            try:
                while not (await asyncio.wait([coming], timeout=LOOK_SECONDS))[0]:
                    if not self.is_known():
                        ended = True
                        return {"type": "http.disconnect"}
                return await coming
            finally:
                coming.cancel()

        await self.app(scope, received, sent)
        if ended and self._begun and not self._complete:
            await send({"type": "http.response.body", "body": b"", "more_body": False})


OPEN = "/open/"
"""The path without a token that signs a browser in: a link that counts once."""
PAIR = "/pair"
"""The path without a token that signs an app in: it takes a pairing code."""
OBSIDIAN = "app://obsidian.md"
"""The origin of Obsidian on the desktop. No page of the web has it."""
SHARE, KEEP, FORM = "/share", "/capture/keep", "/capture"
"""Where the browser itself sends, in no page's name, what the person shares with the installed page (it fills the form,
and no more), where it is kept, and the form. A link from another page to the form comes without the strict cookie: the
refusal leads on to the same address, which then is our own page's, and sends it."""
BROWSER = "vault-agent.browser"
"""The key of a request's scope under which the id of the browser or app stands that asks."""
_SAFE = {"GET", "HEAD", "OPTIONS"}
_TOO_MANY = {"requests": "there are too many requests", "wrong tokens": "there were too many wrong tokens"}


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """`all` requests that may enter, `wrong` tokens, and the most bytes of a body, and of one with files to keep
    (`shared`; 0: the same).

    Neither locks anyone out: a right token enters after any number of wrong ones, and what is refused counts for no
    one, as any page on the web can make a browser send it.
    """

    all: TokenBucket
    wrong: TokenBucket
    largest: int
    shared: int = 0

    def most(self, path: str) -> int:
        """The most bytes of a body that is sent to a path."""
        return max(self.largest, self.shared) if path in (SHARE, KEEP) else self.largest


@dataclass(frozen=True, slots=True)
class Guard:
    """An ASGI application that lets through what may enter `app`."""

    app: ASGIApp
    listener: Listener
    sign_in: SignIn
    limits: RequestLimits
    language: Language

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        if self.listener.is_secure:
            scope["scheme"] = "https"  # also behind a proxy
        try:
            browser = self._check(scope)
        except RequestRefused as refused:
            await refusal(refused, self.language, scope, onward=_onward(scope))(scope, receive, send)
            return
        bounded = _Bounded(receive, self.limits.most(scope["path"]))
        if browser is None:
            await self.app(scope, bounded, send)
            return
        scope[BROWSER] = browser.id
        await SignedIn(self.app, lambda: self._is_known(scope, browser))(scope, bounded, send)

    def _check(self, scope: Scope) -> Browser | None:
        """The browser or app that asks, None for a program with the token, a link and a pairing; raises
        `RequestRefused`."""
        headers = Headers(scope=scope)
        origins = [] if _is_shared_by_browser(scope, headers) else _origins(scope, headers)
        refused = self.listener.entrance.refuses(headers.getlist("host"), origins)
        if refused == "host":
            raise RequestRefused(HTTPStatus.MISDIRECTED_REQUEST, "this server does not answer for that host")
        if refused == "origin":
            raise RequestRefused(HTTPStatus.FORBIDDEN, "requests from other sites are not allowed")
        browser = None if _is_link(scope) or _is_pairing(scope) else self._authenticate(scope, headers)
        if seconds := self.limits.all.take():
            raise _too_many("requests", seconds)
        if "content-length" in headers and "transfer-encoding" in headers:
            raise RequestRefused(HTTPStatus.BAD_REQUEST, "the length of the body is given in two ways")
        if int(headers.get("content-length", "0")) > (most := self.limits.most(scope["path"])):
            raise too_large(most)
        return browser

    def _known(self, scope: Scope) -> Browser | None:
        """The browser whose cookie comes with a request."""
        port = self.listener.port
        return self.sign_in.browser(_cookie(Headers(scope=scope), self.sign_in.cookie_name(port)), port)

    def _is_known(self, scope: Scope, browser: Browser) -> bool:
        if browser.is_app:
            return self.sign_in.app(bearer_token(Headers(scope=scope).getlist("authorization"))) is not None
        return self._known(scope) is not None

    def _authenticate(self, scope: Scope, headers: Headers) -> Browser | None:
        credentials = headers.getlist("authorization")
        token = bearer_token(credentials)
        if self.sign_in.knows_token(token):
            return None
        if (app := self.sign_in.app(token)) is not None:
            if not is_open_to_apps(scope["method"], scope["path"]):
                raise RequestRefused(
                    HTTPStatus.FORBIDDEN,
                    "an app that was paired may not do this",
                    hint="the dashboard and the command line can",
                )
            return app
        browser = None if credentials else self._known(scope)
        if browser is not None:
            if not (_is_own_page(headers, scope["method"]) or _is_shared_by_browser(scope, headers)):
                raise RequestRefused(HTTPStatus.FORBIDDEN, "a page of this server has to ask for changes")
            return browser
        is_guess = bool(credentials or _cookie(headers, self.sign_in.cookie_name(self.listener.port)))
        if is_guess and (seconds := self.limits.wrong.take()):
            raise _too_many("wrong tokens", seconds)
        raise RequestRefused(
            HTTPStatus.UNAUTHORIZED,
            "a token is needed",
            hint="vault-agent serve --open signs a browser in; programs send Authorization: Bearer …",
            headers={"WWW-Authenticate": "Bearer"},
        )


@dataclass(slots=True)
class _Bounded:
    """Receives a body of at most `largest` bytes, whatever its header says."""

    receive: Receive
    largest: int
    _seen: int = field(default=0)

    async def __call__(self) -> dict[str, object]:
        message = await self.receive()
        self._seen += len(message.get("body", b""))
        if self._seen > self.largest:
            raise too_large(self.largest)
        return dict(message)


def too_large(largest: int) -> RequestRefused:
    """The refusal of a body with more bytes than that."""
    return RequestRefused(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        "the body is larger than {largest} bytes",
        hint="the setting http.largest_megabytes raises the limit",
        largest=largest,
    )


def _too_many(what: Literal["requests", "wrong tokens"], seconds: float) -> RequestRefused:
    wait = str(int(seconds) + 1)
    return RequestRefused(
        HTTPStatus.TOO_MANY_REQUESTS,
        _TOO_MANY[what],
        hint="try again in {seconds} s",
        headers={"Retry-After": wait},
        seconds=wait,
    )


def _is_link(scope: Scope) -> bool:
    """True if a link to sign in is opened."""
    path: str = scope["path"]
    return scope["method"] == "GET" and path.startswith(OPEN) and "/" not in path.removeprefix(OPEN)


def _is_pairing(scope: Scope) -> bool:
    """True if an app sends a pairing code."""
    return bool(scope["method"] == "POST" and scope["path"] == PAIR)


def _origins(scope: Scope, headers: Headers) -> list[str]:
    """The origins of a request that must be this server's own; not Obsidian's, where a token or a code is shown."""
    shows = "authorization" in headers or _is_pairing(scope)
    return [each for each in headers.getlist("origin") if not (shows and each == OBSIDIAN)]


def _onward(scope: Scope) -> str:
    """The address to which the refusal of a link from another page to the form leads on; empty for any other."""
    is_link = scope["method"] == "GET" and scope["path"] == FORM
    if not is_link or Headers(scope=scope).get("sec-fetch-site") != "cross-site":
        return ""
    query = bytes(scope.get("query_string", b"")).decode("ascii", "replace")
    return f"{FORM}?{query}" if query else FORM


def _is_shared_by_browser(scope: Scope, headers: Headers) -> bool:
    """True for what the browser itself sends as the person shares something: no page can make it say that none asks."""
    is_post = scope["method"] == "POST" and scope["path"] == SHARE
    return is_post and headers.get("sec-fetch-site") == "none" and headers.get("origin", "null") == "null"


def _cookie(headers: Headers, name: str) -> str:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return ""
    return found.value if found else ""


def _is_own_page(headers: Headers, method: str) -> bool:
    """True if the browser says that a page of this server asks, or that the person opens a page.

    A browser sends its cookies to every port of this machine, and from the pages of every port.
    """
    site = headers.get("sec-fetch-site")
    if method not in _SAFE:
        return site == "same-origin" if site else "origin" in headers
    return site in {None, "same-origin", "none"} or headers.get("sec-fetch-mode") == "navigate"
