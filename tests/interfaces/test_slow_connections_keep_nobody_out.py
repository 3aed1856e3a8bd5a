"""Whoever has no token may open as many connections as they like, and be as slow: the person's requests are answered.

`full` is the number of open files at which a process usually has no more.
"""

import resource
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest

from agent.clock import SystemClock
from agent.config.directories import directories
from agent.config.load import load_settings
from agent.config.node_settings import load_node_token
from agent.interfaces import connection as connection_module
from agent.interfaces.node.server import NodeHost
from tests.interfaces.http.test_who_may_enter import bare_server

Ask = Callable[[], httpx.Response]
BEGUN = ("", "G", "GET / HTTP/1.1\r\nX-Slow: ", "POST / HTTP/1.1\r\nHost: {host}\r\nContent-Length: 9\r\n\r\n")


@contextmanager
def http_server(folder: Path) -> Iterator[tuple[int, str]]:
    with bare_server() as bare:
        yield bare.open(), "right"


@contextmanager
def node_host(folder: Path) -> Iterator[tuple[int, str]]:
    settings = load_settings().settings.node
    host = NodeHost(settings, directories(), SystemClock(), 0)
    host.start()
    try:
        yield host.port, load_node_token(settings, directories())
    finally:
        host.stop()


@pytest.fixture(params=[http_server, node_host])
def server(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[int, str]]:
    monkeypatch.setenv("VAULT_AGENT_HOME", str(tmp_path / "home"))
    with request.param(tmp_path) as found:
        yield found


def is_open(connection: socket.socket) -> bool:
    connection.setblocking(False)
    try:
        while connection.recv(65_536):
            pass
    except BlockingIOError:
        return True
    except ConnectionError:
        return False
    return False


@pytest.mark.parametrize("count", [100, pytest.param(2_000, marks=pytest.mark.chaos)])
def test_the_person_is_answered_beside_them(
    server: tuple[int, str], count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_module, "_CHANCE", -1.0)
    monkeypatch.setattr(connection_module, "_WAITING", 20)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, count * 2 + 1_000), hard))
    port, token = server
    own = {"Authorization": f"Bearer {token}"}
    with ExitStack() as opened, httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=own) as known:
        first = known.get("/").status_code
        slow = []
        for number in range(count):
            begun = BEGUN[number % len(BEGUN)].format(host=f"127.0.0.1:{port}")
            slow.append(opened.enter_context(socket.create_connection(("127.0.0.1", port), 30)))
            slow[-1].sendall(begun.encode())
            if number % 20 == 0:
                new = httpx.get(f"http://127.0.0.1:{port}/", headers=own, timeout=60)
                assert new.status_code == known.get("/").status_code == first
        assert sum(map(is_open, slow)) <= 45, "they end each other, and nobody else"
        assert known.get("/").status_code == first
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_one_that_asks_nothing_in_time_is_closed(server: tuple[int, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_module, "_ENTERING", 0.2)
    port, _ = server
    for begun in BEGUN:
        with socket.create_connection(("127.0.0.1", port), 30) as slow:
            slow.sendall(begun.format(host=f"127.0.0.1:{port}").encode())
            with pytest.raises((ConnectionError, EOFError)):
                while slow.recv(65_536):
                    pass
                raise EOFError


def test_a_refused_request_earns_no_time(server: tuple[int, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Asking again and again without the token keeps no connection open."""
    monkeypatch.setattr(connection_module, "_ENTERING", 0.3)
    port, _ = server
    clock, asked = SystemClock(), f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()
    until = clock.monotonic() + 30
    with socket.create_connection(("127.0.0.1", port), 30) as slow, pytest.raises((ConnectionError, EOFError)):
        while clock.monotonic() < until:
            slow.sendall(asked)
            if not slow.recv(65_536):
                raise EOFError
