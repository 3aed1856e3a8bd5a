"""Promise 10: no route of the server, whatever it is, lets anybody in without the token, the host and the origin.

The routes are those that the server has, so a new one is covered by itself.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from agent.app.open import open_workspace
from agent.daemon import Daemon
from agent.interfaces.http.door.port import PortRequest
from agent.interfaces.http.serving import Doors, doors_of
from tests.daemon.house import furnish
from tests.index.fakes import FAKE
from tests.trust.door_attacks import REFUSALS, answered, attacks, cookies_at, status, targets
from tests.vaults import make_vault


@dataclass
class House:
    doors: Doors
    port: int

    def get(self, path: str, *headers: str, method: str = "GET") -> bytes:
        lines = [f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{self.port}", *headers, "Connection: close", "", ""]
        return answered(self.port, "\r\n".join(lines).encode())

    @property
    def bearer(self) -> str:
        return f"Authorization: Bearer {self.doors.server.sign_in.token}"


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    folder = tmp_path_factory.mktemp("closed")
    with pytest.MonkeyPatch.context() as patch:
        furnish(folder / "home", patch.setenv)
        patch.setenv("VAULT_AGENT_HTTP__PER_SECOND", "100000")
        root = make_vault(folder, {"green.md": "# Green tea\n"}).place.root
        with Daemon(open_workspace(root)).live(FAKE) as live, doors_of(live) as doors:
            yield House(doors, int(doors.open(PortRequest(0)).url.rstrip("/").rpartition(":")[2]))


@pytest.mark.parametrize("share", [3, pytest.param(1, marks=pytest.mark.chaos)])
def test_nothing_comes_in(house: House, share: int) -> None:
    """One guard stands before all routes: in each check a route gets the first attack and every third of the others,
    its neighbours the rest."""
    app = house.doors.with_pages()
    assert isinstance(app, Starlette)
    tried, passed, sign_in = 0, [], house.doors.server.sign_in
    cookies = cookies_at(house.port, sign_in)
    for number, target in enumerate(targets(app.routes)):
        ways = list(attacks(target, house.port, sign_in, cookies))
        for attack in [ways[0], *ways[1 + number % share :: share]]:
            code = status(answered(house.port, attack.request))
            tried += 1
            if code not in REFUSALS:
                passed.append((target, attack.name, code))
    assert passed == []
    assert tried > 300
    assert status(house.get("/api/v1/health", house.bearer)) == 200, "wrong tokens lock the right one out"


def test_a_route_that_lets_in_is_noticed(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """The attacks are real ones: what is not guarded answers them all."""
    bare = Starlette(routes=[Route("/x", lambda _: PlainTextResponse("in"), methods=["GET"])])
    opened = house.doors.server.open_port(PortRequest(0))
    try:
        guard = opened.server.config.loaded_app
        monkeypatch.setattr(opened.server.config, "loaded_app", bare)
        target = next(iter(targets(list(bare.routes))))
        cookies = cookies_at(opened.port, guard.sign_in)
        ways = attacks(target, opened.port, guard.sign_in, cookies)
        codes = [status(answered(opened.port, each.request)) for each in ways]
        assert codes.count(200) > 30
    finally:
        opened.close()


def test_a_stranger_learns_no_route(house: House) -> None:
    """What exists and what does not are refused alike."""
    assert house.get("/api/v1/health") == house.get("/api/v1/nothing")
    assert house.get("/api/v1/health", method="DELETE").splitlines()[0] == b"HTTP/1.1 401 Unauthorized"
