"""A vault with a daemon at work in this process, and its doors open: real files, real git, a real port."""

import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from agent.app.open import open_workspace
from agent.clock import SystemClock
from agent.daemon import Daemon, Live
from agent.interfaces.http.door.browsers import load_token
from agent.interfaces.http.door.port import OpenPort, PortRequest
from agent.interfaces.http.serving import doors_of
from agent.workspace.workspace import Workspace
from tests.index.fakes import FAKE
from tests.stories.agents import NOTES, script, settings
from tests.vaults import make_vault

BRISK = {
    "VAULT_AGENT_GIT__QUIET_SECONDS": "0.2",
    "VAULT_AGENT_WATCH__QUIET_SECONDS": "0.05",
    "VAULT_AGENT_HTTP__PER_SECOND": "10000",
}
PATIENCE = 120.0


@dataclass
class OpenHouse:
    """One vault, its daemon and a client with the token. `said` is the script of the model."""

    live: Live
    client: httpx.Client
    url: str
    said: Path

    @property
    def workspace(self) -> Workspace:
        return self.live.workspace

    @property
    def root(self) -> Path:
        return self.workspace.vault.place.root

    def get(self, path: str, code: int = 200, /, **params: str | int | bool) -> Any:
        """The document at a path; `code` is the status that it must have."""
        return self._checked(self.client.get(path, params=params), code)

    def send(self, method: str, path: str, body: object = None, code: int = 200, **headers: str) -> Any:
        """The document that a request with a JSON body gets."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self._checked(self.client.request(method, path, json=body, headers=named), code)

    def put(self, path: str, text: str, code: int = 200, **headers: str) -> httpx.Response:
        """The response to a note that is sent."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        response = self.client.put(f"/api/v1/notes/{path}", json={"text": text}, headers=named)
        self._checked(response, code)
        return response

    def until(self, holds: Callable[[], bool], what: str) -> None:
        """Wait until something is so."""
        wait_until(holds, what)

    @staticmethod
    def _checked(response: httpx.Response, code: int) -> Any:
        assert response.status_code == code, f"{response.request.url}: {response.status_code} {response.text[:2000]}"
        return response.json() if "json" in response.headers.get("content-type", "") else response.text


NO_STORE = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""For a client that speaks without TLS: to read the certificates takes 20 ms for each."""


@contextmanager
def open_house(folder: Path, notes: Mapping[str, str] = NOTES, *replies: object) -> Iterator[OpenHouse]:
    """A daemon at work on a vault with these notes, whose model speaks from a script, until the end of the block."""
    with at_work(folder, notes, *replies) as (live, port):
        headers = {"Authorization": f"Bearer {load_token(live.workspace)}"}
        with httpx.Client(base_url=port.url, headers=headers, timeout=60, verify=NO_STORE) as client:
            yield OpenHouse(live, client, port.url, folder / "said.json")


@contextmanager
def at_work(folder: Path, notes: Mapping[str, str], *replies: object) -> Iterator[tuple[Live, OpenPort]]:
    """The daemon of such a vault, and its port."""
    with pytest.MonkeyPatch.context() as patch:
        for key, value in {**settings(folder, script(folder / "said.json", *replies)), **BRISK}.items():
            patch.setenv(key, value)
        workspace = open_workspace(make_vault(folder, notes).place.root)
        with Daemon(workspace).live(FAKE) as live, doors_of(live) as doors, _turning(live):
            yield live, doors.open(PortRequest(0))


def wait_until(holds: Callable[[], bool], what: str) -> None:
    """Wait until something is so; fails after `PATIENCE`."""
    clock = SystemClock()
    deadline = clock.monotonic() + PATIENCE
    while not holds():
        assert clock.monotonic() < deadline, f"after {PATIENCE:g} s it is not so that {what}"
        clock.sleep(0.05)


@contextmanager
def _turning(live: Live) -> Iterator[None]:
    """The daemon's turns in a thread of their own, as its process takes them."""
    over = threading.Event()

    def turns() -> None:
        while not over.is_set():
            live.turn(0.1)

    thread = threading.Thread(target=turns, name="turns")
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
