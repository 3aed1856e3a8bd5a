"""The token, a browser's sign-in, and the bounds of a request; what is refused is in `tests/trust`."""

import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
import pytest
import trustme
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from agent.app.open import open_workspace
from agent.errors import UserError
from agent.interfaces import connection as connection_module
from agent.interfaces.cli.serve import stream_from_daemon
from agent.interfaces.http.door.browsers import DAYS, Browsers, load_token, token_file
from agent.interfaces.http.door.guard import RequestLimits, TokenBucket
from agent.interfaces.http.door.port import PortRequest, Tls
from agent.interfaces.http.door.sign_in import SignIn
from agent.interfaces.http.server import HttpServer
from tests.fakes import FakeClock
from tests.interfaces.http.doors import OpenHouse, open_house
from tests.trust.door_attacks import answered, status
from tests.vaults import make_vault

LARGEST = 100_000


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenHouse]:
    with open_house(tmp_path_factory.mktemp("door")) as found:
        yield found


@dataclass
class Bare:
    """A server with one route that tells how many bytes came, or their scheme."""

    server: HttpServer
    clock: FakeClock
    folder: Path

    def open(self, wanted: PortRequest | None = None) -> int:
        return self.server.open_port(wanted or PortRequest(0)).port

    def cookie(self, port: int, agent: str = "") -> dict[str, str]:
        """The header of a browser that is signed in at a port."""
        return {"Cookie": f"{self.server.sign_in.cookie_name(port)}={self.server.sign_in.enter(port, agent)}"}

    @property
    def bearer(self) -> str:
        return f"Authorization: Bearer {self.server.sign_in.token}"


async def _count(request: Request) -> Response:
    return PlainTextResponse(f"{len(await request.body())} {request.url.scheme}")


@contextmanager
def bare_server(wrong: float = 300, rate: float = 1e9) -> Iterator[Bare]:
    clock = FakeClock()
    limits = RequestLimits(TokenBucket(clock, rate, rate), TokenBucket(clock, 1, wrong), LARGEST)
    with TemporaryDirectory() as folder:
        server = HttpServer(SignIn("right", clock, Browsers(Path(folder), clock)), limits, "en")
        server.start(Starlette(routes=[Route("/", _count, methods=["GET", "POST"])]))
        try:
            yield Bare(server, clock, Path(folder))
        finally:
            server.close()


def test_a_link_signs_one_browser_in_once(house: OpenHouse) -> None:
    link = _link(house)
    with httpx.Client(base_url=house.url) as browser:
        assert browser.head(link).status_code == 401, "only opening it counts"
        opened = browser.get(link)
        assert opened.status_code == 200
        words = opened.headers["set-cookie"]
        assert "HttpOnly" in words and "SameSite=strict" in words and "Secure" not in words
        assert load_token(house.workspace) not in words, "the token stays where it is"
        assert browser.get("/api/v1/health").status_code == 200
    with httpx.Client(base_url=house.url, headers={"Accept": "text/html"}) as other:
        again = other.get(link)
        assert again.status_code == 403 and "each works once" in again.text
        assert other.get("/api/v1/health").status_code == 401


def _link(house: OpenHouse) -> str:
    """A new link to the port that is open, as `serve` asks for one on the socket."""
    events = stream_from_daemon(house.workspace, "/api/v1/ports", {"port": httpx.URL(house.url).port or 0})
    _, data = next(iter(events))
    return httpx.URL(str(data["open"])).path


def test_a_form_goes_back_to_a_page_of_this_server_only(house: OpenHouse) -> None:
    for page, back in (
        ("/today?day=2026-11-20", "/today?day=2026-11-20"),
        ("//evil.example/", "/evil.example/"),
        ("", "/"),
    ):
        headers = {"Referer": house.url.rstrip("/") + page}
        sent = house.client.post("/look", data={"theme": "dark"}, headers=headers)
        assert (sent.status_code, sent.headers["location"]) == (303, back)


def test_what_is_for_the_program_itself_is_on_its_socket_only(house: OpenHouse) -> None:
    assert house.client.post("/api/v1/ports", params={"port": 0}).status_code == 404
    assert house.client.post("/api/v1/command", json={}).status_code == 404


def test_a_port_is_open_as_long_as_it_is_asked_for(house: OpenHouse) -> None:
    events = stream_from_daemon(house.workspace, "/api/v1/ports", {"port": 0})
    _, data = next(iter(events))
    assert httpx.get(str(data["url"])).status_code == 401
    events.close()  # type: ignore[attr-defined]  # it is a generator

    def is_closed() -> bool:
        try:
            return httpx.get(str(data["url"])).status_code == 0
        except httpx.TransportError:
            return True

    house.until(is_closed, "the port is closed")


def test_a_link_ends_after_a_minute_and_a_cookie_after_its_days(tmp_path: Path) -> None:
    clock = FakeClock()
    sign_in = SignIn("right", clock, Browsers(tmp_path, clock))
    early, code, cookie = sign_in.code(1), sign_in.code(1), sign_in.enter(1, "")
    assert sign_in.browser(cookie, 1)
    clock.advance(59)
    assert sign_in.redeem(early, 1)
    clock.advance(2)
    assert not sign_in.redeem(code, 1)
    clock.advance(timedelta(days=DAYS).total_seconds())
    assert sign_in.browser(cookie, 1) is None


def test_a_page_of_the_server_may_change_things_and_no_other_may() -> None:
    with bare_server() as bare:
        port = bare.open()
        cookie = bare.cookie(port)
        url = f"http://127.0.0.1:{port}/"

        def post(**headers: str) -> int:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            return httpx.post(url, headers={**cookie, **named}).status_code

        assert post(Origin=f"http://127.0.0.1:{port}") == 200
        assert post(Origin=f"http://127.0.0.1:{port}", Sec_Fetch_Site="same-origin") == 200
        assert post(Sec_Fetch_Site="same-origin") == 200
        assert post(Sec_Fetch_Site="same-site") == post(Sec_Fetch_Site="none") == post() == 403
        assert httpx.get(url, headers={**cookie, "Sec-Fetch-Site": "none"}).status_code == 200


def test_the_token_is_the_owners_alone_and_a_known_one_is_replaced(tmp_path: Path) -> None:
    workspace = open_workspace(make_vault(tmp_path).place.root)
    first = load_token(workspace)
    file = token_file(workspace)
    assert len(first) >= 43 and file.stat().st_mode & 0o777 == 0o600 and load_token(workspace) == first
    file.chmod(0o640)
    second = load_token(workspace)
    assert second != first and file.stat().st_mode & 0o777 == 0o600
    for damage in (b"", b"\n", b"\xff\xfe"):
        file.write_bytes(damage)
        assert load_token(workspace) not in ("", first, second)


def test_all_who_start_at_once_have_one_token(tmp_path: Path) -> None:
    workspace = open_workspace(make_vault(tmp_path).place.root)
    found: list[str] = []
    threads = [threading.Thread(target=lambda: found.append(load_token(workspace))) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(found) == 8 and len({*found, token_file(workspace).read_text()}) == 1


def test_wrong_tokens_are_told_to_wait_and_the_right_one_is_not() -> None:
    with bare_server(wrong=3) as bare:
        url = f"http://127.0.0.1:{bare.open()}/"
        codes = [httpx.get(url, headers={"Authorization": "Bearer x"}).status_code for _ in range(5)]
        assert codes == [401, 401, 401, 429, 429]
        assert httpx.get(url).status_code == 401, "who shows no token has guessed none"
        assert httpx.get(url, headers={"Authorization": "Bearer right"}).status_code == 200
        bare.clock.advance(1)
        assert httpx.get(url, headers={"Authorization": "Bearer x"}).status_code == 401


def test_too_many_requests_are_told_when_to_come_back() -> None:
    with bare_server(rate=2) as bare:
        url, right = f"http://127.0.0.1:{bare.open()}/", {"Authorization": "Bearer right"}
        assert httpx.get(url).status_code == 401, "what is refused takes nobody's place"
        answers = [httpx.get(url, headers=right) for _ in range(3)]
        assert [each.status_code for each in answers] == [200, 200, 429]
        assert answers[2].headers["Retry-After"] == "1" and "try again" in answers[2].json()["hint"]


def test_a_body_is_bounded_whatever_its_header_says() -> None:
    with bare_server() as bare:
        port = bare.open()
        head = f"POST / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{bare.bearer}\r\nConnection: close\r\n"
        chunk = b"%x\r\n%s\r\n" % (50_000, b"x" * 50_000)
        chunked = f"{head}Transfer-Encoding: chunked\r\n\r\n".encode()
        assert status(answered(port, chunked + chunk + b"0\r\n\r\n")) == 200
        assert status(answered(port, chunked + chunk * 3 + b"0\r\n\r\n")) in {413, 500}
        assert status(answered(port, f"{head}Content-Length: {LARGEST + 1}\r\n\r\n".encode())) == 413
        for wrong in ("-1", "x", "1, 2", "5\r\nContent-Length: 6", "5\r\nTransfer-Encoding: chunked", "9" * 40):
            assert status(answered(port, f"{head}Content-Length: {wrong}\r\n\r\n".encode() + b"0\r\n\r\n")) in {
                400,
                413,
            }
        assert status(answered(port, f"GET / HTTP/1.1\r\nX: {'x' * 100_000}\r\n\r\n".encode())) == 400
        assert status(answered(port, b"\x16\x03\x01\x02\x00\x01\x00")) in {0, 400}


def test_a_body_that_grows_too_large_is_told_so(house: OpenHouse) -> None:
    def pieces() -> Iterator[bytes]:
        for _ in range(60):
            yield b"x" * 100_000

    headers = {"Content-Type": "application/json", "If-None-Match": "*"}
    answer = house.client.put("/api/v1/notes/large.md", content=pieces(), headers=headers)
    assert answer.status_code == 413 and "largest_megabytes" in answer.json()["hint"]
    assert not (house.root / "large.md").exists()


def test_every_answer_has_the_headers_that_keep_a_browser_safe(house: OpenHouse) -> None:
    for method, path in (
        ("GET", "/api/v1/health"),
        ("GET", "/nothing"),
        ("DELETE", "/api/v1/health"),
        ("HEAD", "/api/v1/events"),
    ):
        answer = house.client.request(method, path)
        assert answer.headers["X-Content-Type-Options"] == "nosniff" and answer.headers["Cache-Control"] == "no-store"
        assert "server" not in answer.headers
    assert house.client.head("/api/v1/events").status_code == 405
    assert "GET" in house.client.delete("/api/v1/health").headers["Allow"]
    assert httpx.get(f"{house.url}api/v1/health").headers["X-Frame-Options"] == "DENY"


def test_who_is_slow_to_ask_is_sent_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_module, "ARRIVING", 0.3)
    monkeypatch.setattr(connection_module, "_ENTERING", 0.3)
    with bare_server() as bare:
        port = bare.open()
        head = f"POST / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{bare.bearer}\r\n"
        for begun in ("", "GET / HTT", head, f"{head}Content-Length: 9\r\n\r\nabc"):
            assert answered(port, begun.encode(), timeout=5) in {b"", b"200"}
        assert status(answered(port, f"{head}Content-Length: 3\r\nConnection: close\r\n\r\nabc".encode())) == 200


def test_more_connections_than_the_machine_can_bear_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_module, "_CONNECTIONS", 4)
    with bare_server() as bare:
        port = bare.open()
        right = {"Authorization": "Bearer right"}
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=right) as first:
            assert first.get("/").status_code == 200
            others = [httpx.Client(base_url=first.base_url, headers=right) for _ in range(3)]
            assert [each.get("/").status_code for each in others] == [200] * 3
            with pytest.raises(httpx.TransportError):
                httpx.get(f"http://127.0.0.1:{port}/", headers=right)
            assert first.get("/").status_code == 200
            for each in others:
                each.close()


def test_other_machines_come_in_by_tls(tmp_path: Path) -> None:
    authority = trustme.CA()
    certificate = authority.issue_cert("127.0.0.1", "localhost")
    certificate.cert_chain_pems[0].write_to_path(tmp_path / "certificate.pem")
    certificate.private_key_pem.write_to_path(tmp_path / "key.pem")
    context = ssl.create_default_context()
    authority.configure_trust(context)
    tls = Tls(tmp_path / "certificate.pem", tmp_path / "key.pem")
    with bare_server() as bare:
        port = bare.open(PortRequest(0, tls=tls))
        right = {"Authorization": "Bearer right"}
        answer = httpx.get(f"https://localhost:{port}/", headers=right, verify=context)
        assert answer.text == "0 https"
        assert status(answered(port, b"GET / HTTP/1.1\r\n\r\n")) == 0, "nothing is said without TLS"
        with pytest.raises(UserError, match="certificate cannot be used"):
            bare.open(PortRequest(0, tls=replace(tls, key=tls.certificate)))
        assert httpx.get(f"https://localhost:{port}/", headers=right, verify=context).status_code == 200


def test_a_proxys_readers_are_known_by_its_origin() -> None:
    with bare_server() as bare:
        port = bare.open(PortRequest(0, origin="https://vault.example.org"))
        own = {"Host": "vault.example.org", "Authorization": "Bearer right"}
        answer = httpx.post(f"http://127.0.0.1:{port}/", headers={**own, "Origin": "https://vault.example.org"})
        assert answer.text == "0 https", "a cookie is for TLS only"
        assert httpx.get(f"http://127.0.0.1:{port}/", headers={"Authorization": "Bearer right"}).status_code == 421
        wrong = httpx.post(f"http://127.0.0.1:{port}/", headers={**own, "Origin": f"http://127.0.0.1:{port}"})
        assert wrong.status_code == 403


@pytest.mark.parametrize(
    "wanted",
    [
        PortRequest(0, "0.0.0.0"),
        PortRequest(0, "192.0.2.1"),
        PortRequest(0, "0.0.0.0", tls=Tls(Path("certificate"), Path("key"))),
        *(
            PortRequest(0, "0.0.0.0", origin)
            for origin in ("http://vault.example.org", "vault.example.org", "https://", "https://a.example/path", "ftp://a",
                           "https://me@a.example", "https://a.example:port")
        ),
    ],
)  # fmt: skip
def test_nothing_is_open_to_other_machines_unencrypted_or_unnamed(wanted: PortRequest) -> None:
    with bare_server() as bare, pytest.raises(UserError):
        bare.open(wanted)


def test_another_address_of_this_machine_has_its_own_name() -> None:
    with bare_server() as bare:
        port = bare.open(PortRequest(0, "::1"))
        assert httpx.get(f"http://[::1]:{port}/", headers={"Authorization": "Bearer right"}).status_code == 200
