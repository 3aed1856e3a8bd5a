"""The contract of a node host, for any program that claims to keep it; `agent/interfaces/node/README.md` has the words.

`pytest tests/contracts/node_host.py --base-url http://127.0.0.1:19820 --token TOKEN`. Without an
address it starts our own host. It runs harmless commands only, changes no file, and skips what is switched off.
"""

import secrets
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from agent.clock import SystemClock
from agent.config.directories import Directories
from agent.config.load import load_settings
from agent.config.node_settings import load_node_token
from agent.interfaces.node.server import NodeHost

EVERY = (
    *("system_run", "screen_capture", "audio_record", "ui_automation"),
    *("fs_read", "fs_write", "open_app", "clipboard"),
)
PERMISSIONS = ("screen_recording", "microphone", "accessibility", "full_disk_access")
ROUTES = (
    ("GET", "/api/v1/version"),
    ("GET", "/api/v1/tools"),
    ("GET", "/api/v1/permissions"),
    ("POST", "/api/v1/tools/system_run/execute"),
    ("POST", "/api/v1/tools/clipboard/execute"),
    ("GET", "/"),
    ("GET", "/api/v1/none"),
)


@dataclass(frozen=True)
class Node:
    """A host under test."""

    base_url: str
    token: str

    def request(self, method: str, path: str, headers: dict[str, str] | None = None, **more: Any) -> httpx.Response:
        sent = {"Authorization": f"Bearer {self.token}"} if headers is None else headers
        with httpx.Client(base_url=self.base_url, timeout=60, trust_env=False) as client:
            return client.request(method, path, headers=sent, **more)

    def get(self, path: str) -> Any:
        answer = self.request("GET", path)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def execute(self, tool: str, arguments: dict[str, Any], call_id: str = "") -> httpx.Response:
        body = {"call_id": call_id or secrets.token_hex(8), "arguments": arguments}
        return self.request("POST", f"/api/v1/tools/{tool}/execute", json=body)

    def has(self, tool: str) -> bool:
        return any(each["name"] == tool for each in self.get("/api/v1/tools")["tools"])

    def need(self, tool: str) -> None:
        if not self.has(tool):
            pytest.skip(f"{tool} is switched off")


@pytest.fixture
def node(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Node]:
    """The host that the command line names, else our own."""
    base_url, token = request.config.getoption("--base-url"), request.config.getoption("--token")
    if base_url:
        yield Node(base_url, token)
        return
    (tmp_path / "open").mkdir()
    settings = replace(load_settings(environ={}).settings.node, folders=str(tmp_path / "open"))
    places = Directories(tmp_path / "config", tmp_path / "cache", tmp_path / "state")
    host = NodeHost(settings, places, SystemClock(), port=0)
    host.start()
    yield Node(host.address, load_node_token(settings, places))
    host.stop()


def problem(answer: httpx.Response, status: int, *codes: str) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"].startswith("application/problem+json")
    found: dict[str, Any] = answer.json()
    assert found["status"] == status
    assert found["code"] in codes, found
    assert found["detail"]
    return found


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_nobody_gets_in_without_the_token_or_from_elsewhere(node: Node, method: str, path: str) -> None:
    body = {"call_id": secrets.token_hex(8), "arguments": {"command": "echo in", "action": "read"}}
    right = {"Authorization": f"Bearer {node.token}"}
    port = httpx.URL(node.base_url).port
    refused: list[dict[str, str]] = [
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": f"Bearer {node.token}x"},
        {"Authorization": f"Bearer {node.token[:-1]}"},
        {"Authorization": "Bearer"},
        {"Authorization": f"Basic {node.token}"},
        {"Cookie": f"token={node.token}"},
        right | {"Host": "evil.example"},
        right | {"Host": f"evil.example:{port}"},
        right | {"Host": f"127.0.0.1.evil.example:{port}"},
        right | {"Host": "127.0.0.1:1"},
        right | {"Origin": "https://evil.example"},
        right | {"Origin": "null"},
        right | {"Origin": f"http://evil.example:{port}"},
    ]
    for headers in refused:
        more: dict[str, Any] = {"json": body} if method == "POST" else {}
        answer = node.request(method, path, headers, **more)
        problem(answer, answer.status_code, "wrong_token", "wrong_host", "wrong_origin")
        assert answer.status_code in {401, 403}, headers
    answer = node.request(method, f"{path}?token={node.token}", {})
    assert answer.status_code == 401


def test_it_says_which_contract_it_keeps(node: Node) -> None:
    found = node.get("/api/v1/version")
    assert isinstance(found["api"], int) and found["api"] >= 1
    assert found["version"] and found["name"]


def test_its_tools_are_some_of_the_eight(node: Node) -> None:
    tools = node.get("/api/v1/tools")["tools"]
    names = [each["name"] for each in tools]
    assert set(names) <= set(EVERY) and len(set(names)) == len(names)
    for each in tools:
        assert each["description"]
        assert each["parameters"]["type"] == "object"
        assert each["permission"] in {None, *PERMISSIONS}
        assert each["available"] or each["install"]


def test_it_tells_its_permissions_and_what_helps(node: Node) -> None:
    found = node.get("/api/v1/permissions")
    assert all(found[name] in {"unknown", "granted", "denied", "restricted"} for name in PERMISSIONS)
    assert all(found["guidance"].get(name) for name in PERMISSIONS if found[name] in {"denied", "restricted"})


def test_a_tool_that_is_off_or_unknown_is_not_there(node: Node) -> None:
    for name in ("reboot", "..", *(each for each in EVERY if not node.has(each))):
        if name != "..":
            problem(node.execute(name, {}), 404, "no_such_tool")


def test_a_request_that_does_not_fit_is_refused(node: Node) -> None:
    node.need("system_run")
    path = "/api/v1/tools/system_run/execute"
    problem(node.request("POST", path, content=b"{"), 400, "not_json")
    problem(node.request("POST", path, content=b"\xff\xfe"), 400, "not_json")
    wrong: list[Any] = [[], {}, {"call_id": 1, "arguments": {}}, {"call_id": ""}, {"call_id": "a" * 300}]
    for body in wrong:
        problem(node.request("POST", path, json=body), 422, "bad_arguments")
    problem(node.execute("system_run", {}), 422, "bad_arguments")
    problem(node.execute("system_run", {"command": 1}), 422, "bad_arguments")
    problem(node.execute("system_run", {"command": "true", "sudo": True}), 422, "bad_arguments")
    problem(node.execute("system_run", {"command": "true", "seconds": 121}), 422, "bad_arguments")
    problem(node.request("POST", path, content=b" " * (17 << 20)), 413, "too_large")
    assert node.request("GET", path).status_code == 405


def test_a_call_is_answered_with_text(node: Node) -> None:
    node.need("system_run")
    answer = node.execute("system_run", {"command": "echo one; echo two >&2; exit 3"}, "")
    found = answer.json()
    assert answer.status_code == 200
    assert {"one", "two"} <= set(found["output"].split()) and "3" in found["output"]
    assert found["tool"] == "system_run" and found["files"] == []


def test_the_same_call_is_carried_out_once(node: Node) -> None:
    node.need("system_run")
    id, asked = secrets.token_hex(8), {"command": "head -c 16 /dev/urandom | od -An -tx1"}
    first = node.execute("system_run", asked, id)
    assert node.execute("system_run", asked, id).json() == first.json()
    assert node.execute("system_run", asked).json()["output"] != first.json()["output"]
    problem(node.execute("system_run", {"command": "true"}, id), 409, "call_id_used")


def test_the_same_call_at_once_is_carried_out_once(node: Node) -> None:
    node.need("system_run")
    id, asked = secrets.token_hex(8), {"command": "sleep 0.3; head -c 16 /dev/urandom | od -An -tx1"}
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: node.execute("system_run", asked, id).json()["output"], range(4)))
    assert len(set(answers)) == 1


def test_a_failed_call_is_not_tried_again(node: Node) -> None:
    node.need("system_run")
    id, asked = secrets.token_hex(8), {"command": "sleep 30", "seconds": 1}
    problem(node.execute("system_run", asked, id), 504, "timed_out")
    problem(node.execute("system_run", asked, id), 504, "timed_out")


def test_no_file_outside_of_the_open_folders_is_reached(node: Node) -> None:
    for tool, more in (("fs_read", {}), ("fs_write", {"content": "x", "mode": "create"})):
        if node.has(tool):
            for path in ("/etc/hosts", "/proc/self/environ", "/dev/zero", "/etc/../etc/hosts", "hosts", "~/../etc/x"):
                answer = node.execute(tool, {"path": path, **more})
                problem(answer, answer.status_code, "outside", "bad_arguments")


def test_a_time_that_is_too_long_is_refused(node: Node) -> None:
    node.need("audio_record")
    problem(node.execute("audio_record", {"seconds": 301}), 422, "bad_arguments")
    problem(node.execute("audio_record", {"seconds": 0}), 422, "bad_arguments")
