"""The guard before every route: host, origin, rate, size, then token or cookie. Without all of them, nothing is routed.

A page on another site can make a browser send requests here, under a name that it has pointed at this machine; so the
`Host` and, where there is one, the `Origin` must be one of this listener's. A cookie counts for a change only when the
browser says that its own page asks.
"""

from dataclasses import dataclass, field
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from typing import Literal

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from agent.interfaces.http.door.limits import Allowance
from agent.interfaces.http.door.sign_in import COOKIE, SignIn
from agent.interfaces.http.problems import Refused
from agent.interfaces.http.responses import refusal
from agent.texts import Language

OPEN = "/open/"
"""The one path without a token: a link that signs a browser in, and counts once."""
_SAFE = {"GET", "HEAD", "OPTIONS"}
_TOO_MANY = {"requests": "there are too many requests", "wrong tokens": "there were too many wrong tokens"}


@dataclass(frozen=True, slots=True)
class Listener:
    """Where requests come in: the `Host` headers and the origins that are this server's own there."""

    hosts: frozenset[str]
    origins: frozenset[str]


@dataclass(frozen=True, slots=True)
class Limits:
    """`all` requests of all clients together, `wrong` tokens, and the most bytes of a body."""

    all: Allowance
    wrong: Allowance
    largest: int


@dataclass(frozen=True, slots=True)
class Guard:
    """An ASGI application that lets through what may enter `app`."""

    app: ASGIApp
    listener: Listener
    sign_in: SignIn
    limits: Limits
    language: Language

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        try:
            self._check(scope)
        except Refused as refused:
            await refusal(refused, self.language, scope)(scope, receive, send)
            return
        await self.app(scope, _Bounded(receive, self.limits.largest), send)

    def _check(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0].lower() not in self.listener.hosts:
            raise Refused(HTTPStatus.MISDIRECTED_REQUEST, "this server does not answer for that host")
        origin = headers.get("origin")
        if origin is not None and origin not in self.listener.origins:
            raise Refused(HTTPStatus.FORBIDDEN, "requests from other sites are not allowed")
        if seconds := self.limits.all.take():
            raise _too_many("requests", seconds)
        if int(headers.get("content-length", "0") or "0") > self.limits.largest:
            raise too_large(self.limits.largest)
        if scope["path"].startswith(OPEN) and scope["method"] in _SAFE:
            return
        self._authenticate(scope, headers, origin)

    def _authenticate(self, scope: Scope, headers: Headers, origin: str | None) -> None:
        if seconds := self.limits.wrong.wait():
            raise _too_many("wrong tokens", seconds)
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and self.sign_in.knows_token(token.strip()):
            return
        if not scheme and self.sign_in.knows(_cookie(headers)):
            if scope["method"] not in _SAFE and not _is_own_page(headers, origin):
                raise Refused(HTTPStatus.FORBIDDEN, "a page of this server has to ask for changes")
            return
        self.limits.wrong.take()
        raise Refused(
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


def too_large(largest: int) -> Refused:
    """The refusal of a body with more bytes than that."""
    return Refused(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        "the body is larger than {largest} bytes",
        hint="the setting http.largest_megabytes raises the limit",
        largest=largest,
    )


def _too_many(what: Literal["requests", "wrong tokens"], seconds: float) -> Refused:
    wait = str(int(seconds) + 1)
    return Refused(
        HTTPStatus.TOO_MANY_REQUESTS,
        _TOO_MANY[what],
        hint="try again in {seconds} s",
        headers={"Retry-After": wait},
        seconds=wait,
    )


def _cookie(headers: Headers) -> str:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return ""
    return found.value if found else ""


def _is_own_page(headers: Headers, origin: str | None) -> bool:
    """True if the browser says that a page of this server asks: by its origin, compared before, or `Sec-Fetch-Site`."""
    return origin is not None or headers.get("sec-fetch-site") == "same-origin"
