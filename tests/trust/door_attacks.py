"""Ways to come in without being allowed to: raw requests, each as a client or a hostile page could send it."""

import socket
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass

from starlette.routing import BaseRoute, Mount, Route

from agent.interfaces.http.door.browsers import Browser
from agent.interfaces.http.door.guard import OPEN
from agent.interfaces.http.door.sign_in import SignIn

REFUSALS = {400, 401, 403, 421, 429}


@dataclass(frozen=True)
class Target:
    """A route as a request names it."""

    method: str
    path: str


@dataclass(frozen=True)
class Attack:
    """One request: what is tried, and its bytes."""

    name: str
    request: bytes


def targets(routes: list[BaseRoute], below: str = "") -> Iterator[Target]:
    """Every method of every route, but the links that sign a browser in."""
    for each in routes:
        if isinstance(each, Mount):
            yield from targets(list(each.routes), below + each.path) if each.routes else [Target("GET", each.path)]
        elif isinstance(each, Route) and not each.path.startswith(OPEN):
            filled = "/".join("x" if "{" in part else part for part in each.path.split("/"))
            yield from (Target(method, below + filled) for method in sorted({*(each.methods or ()), "OPTIONS"}))


@dataclass(frozen=True)
class Cookies:
    """Values of cookies for a port: the right one, and those of another port, of another token, and of a browser that
    was signed out, with what its list has of that."""

    right: str
    elsewhere: str
    another: str
    ended: str
    gone: Browser


def cookies_at(port: int, sign_in: SignIn) -> Cookies:
    """New cookies for a port."""
    right, elsewhere, ended = sign_in.enter(port, ""), sign_in.enter(port + 1, ""), sign_in.enter(port, "")
    gone = sign_in.browser(ended, port)
    assert gone is not None
    sign_in.browsers.end([gone.id])
    return Cookies(right, elsewhere, sign_in.browsers.add("x" * 43, port, ""), ended, gone)


def attacks(target: Target, port: int, sign_in: SignIn, cookies: Cookies) -> Iterator[Attack]:
    """All ways to ask for one target that are not allowed."""
    own, token, path = f"127.0.0.1:{port}", sign_in.token, target.path
    bearer, cookie = f"Authorization: Bearer {token}", f"Cookie: {sign_in.cookie_name(port)}="
    right, elsewhere, ended, gone = cookies.right, cookies.elsewhere, cookies.ended, cookies.gone

    def made(name: str, *headers: str, host: str = f"Host: {own}", path: str = path, version: str = "1.1") -> Attack:
        lines = [f"{target.method} {path} HTTP/{version}", *filter(None, [host]), *headers, "Content-Length: 0"]
        return Attack(name, "\r\n".join([*lines, "Connection: close", "", ""]).encode("latin-1"))

    yield made("no token")
    yield made("no token, from the host in capitals", host=f"HOST: LOCALHOST:{port}")
    for wrong in ("", "x", token[:-1], f"{token}x", token.swapcase(), "x" * 5_000, "é"):
        yield made("a wrong token", f"Authorization: Bearer {wrong}")
    yield made("another scheme", f"Authorization: Basic {token}")
    yield made("the token alone", f"Authorization: {token}")
    yield made("the token as a cookie", f"{cookie}{token}")
    yield made("the token in the address", path=f"{path}?token={token}&access_token={token}")
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", f"localhost.:{port}", f"127.0.0.1.:{port}",
                 f"127.0.0.1:{port + 1}", f"127.1:{port}", f"[::1]:{port}", f"[::ffff:127.0.0.1]:{port}", "vault-agent",
                 f"{own}.evil.example", f"evil@{own}", f"{own}/", f"2130706433:{port}"):  # fmt: skip
        yield made(f"the host {host}", bearer, host=f"Host: {host}")
    yield made("no host", bearer, host="", version="1.0")
    yield made("two hosts", bearer, f"Host: {own}")
    yield made("two hosts, one of them evil", bearer, "Host: evil.example")
    yield made("another host forwarded", bearer, f"X-Forwarded-Host: {own}", host="Host: evil.example")
    yield made("a whole address of another host", path=f"http://evil.example{path}")
    yield made("a whole address of its own", path=f"http://{own}{path}")
    for origin in ("https://evil.example", "null", "", f"http://127.0.0.1:{port + 1}", f"https://{own}", "http://127.0.0.1",
                   f"http://{own}.evil.example", f"http://{own}/", f"HTTP://{own}"):  # fmt: skip
        yield made(f"the origin {origin}", bearer, f"Origin: {origin}")
    yield made("two origins", bearer, f"Origin: http://{own}", "Origin: https://evil.example")
    for forged in (ended, elsewhere, cookies.another, "", ".", "x", f"{right}x", right[:-1], right.swapcase(), gone.id,
                   gone.digest, "9" * 5_000):  # fmt: skip
        yield made("a forged, an ended or another port's cookie", f"{cookie}{forged}")
    yield made("the cookie under another name", f"Cookie: vault-agent={right}")
    yield made("the cookie under another port's name", f"Cookie: {sign_in.cookie_name(port + 1)}={right}")
    yield made("another port's cookie under its own name", f"Cookie: {sign_in.cookie_name(port + 1)}={elsewhere}")
    yield made("the right cookie beside a wrong token", f"{cookie}{right}", "Authorization: Bearer x")
    yield made("the cookie, from another site", f"{cookie}{right}", "Origin: https://evil.example")
    yield made("the cookie, loaded by a page of another port", f"{cookie}{right}", "Sec-Fetch-Site: same-site")
    yield made("the cookie, loaded by another site", f"{cookie}{right}", "Sec-Fetch-Site: cross-site",
               "Sec-Fetch-Mode: no-cors")  # fmt: skip
    if target.method not in {"GET", "HEAD", "OPTIONS"}:
        yield made("the cookie, and nobody says from where", f"{cookie}{right}")
        yield made("the cookie, sent by a form of another site", f"{cookie}{right}", "Sec-Fetch-Site: cross-site",
                   "Sec-Fetch-Mode: navigate")  # fmt: skip
    for spelled in (f"/{path}", f"/.{path}", f"{OPEN}..{path}", f"/open/%2e%2e{path}", f"{OPEN}x{path}",
                    path.replace("/", "/%2f", 1), path.upper(), f"{path}/", f"{path}%00", f"{OPEN}%2e%2e%2f{path[1:]}",
                    f"{OPEN}x;{path}", f"\\{path}"):  # fmt: skip
        yield made(f"the path {spelled}", path=spelled)


def answered(port: int, request: bytes, *, timeout: float = 10.0) -> bytes:
    """What the server says to these bytes, until it closes the connection."""
    with closing(socket.create_connection(("127.0.0.1", port), timeout)) as connection:
        connection.sendall(request)
        found = b""
        try:
            while piece := connection.recv(65_536):
                found += piece
        except ConnectionResetError:
            pass
        return found


def status(answer: bytes) -> int:
    """The status of an answer; 0 if the connection was closed without one."""
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.1 ") else 0
