"""From the settings to the desktop: the agent asks for a yes, the host acts once, and its words are a stranger's."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.app.open import open_workspace
from agent.config.directories import directories
from agent.config.private import make_folder, write
from agent.interfaces.cli.main import main
from agent.loop.session import load_session
from tests.tools.node_fake import TOKEN, FakeNode, fake_node

Run = Callable[..., dict[str, Any]]


@pytest.fixture
def node() -> Iterator[FakeNode]:
    with fake_node() as fake:
        yield fake


@pytest.fixture
def run(node: FakeNode, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command in a vault whose agent may use the host, and returns its JSON document."""
    script = tmp_path / "script.yaml"
    script.write_text("- text: ''\n  calls: [{tool: node_clipboard, arguments: {text: a}}]\n- text: It is done.\n")
    for name, value in {
        "HOME": str(tmp_path / "home"),
        "LLM__WIRE": "scripted",
        "LLM__SCRIPT": str(script),
        "NODE__ENABLED": "true",
        "NODE__BASE_URL": node.url,
        "NODE__RECONNECT_SECONDS": "1",
    }.items():
        monkeypatch.setenv(f"VAULT_AGENT_{name}", value)
    make_folder(directories().keys)
    write(directories().keys / "node", f"{TOKEN}\n".encode())
    assert main(["init", str(tmp_path / "vault"), "--yes"]) == 0
    monkeypatch.chdir(tmp_path / "vault")
    capsys.readouterr()

    def call(*words: str) -> dict[str, Any]:
        main(["--json", *words])
        found: dict[str, Any] = json.loads(capsys.readouterr().out)
        return found

    return call


def test_a_call_waits_for_a_yes_and_is_made_once(run: Run, node: FakeNode) -> None:
    asked = run("ask", "what did I copy")
    assert node.asked == []
    [waiting] = run("approvals")["approvals"]
    assert waiting["tool"] == "node_clipboard"
    run("approvals", "yes", waiting["id"])
    ended = run("ask", "--resume", asked["session"])
    assert ended["answer"] == "It is done."
    assert [each["arguments"] for each in node.asked] == [{"text": "a"}]
    given = [each.text for each in load_session(open_workspace(Path.cwd()).vault, asked["session"]).history]
    assert any('<untrusted source="node host, clipboard">\ncopied words' in each for each in given)
    assert "Untrusted text" in Path(asked["session"]).read_text()


def test_without_the_host_the_rest_goes_on(run: Run, node: FakeNode) -> None:
    node.go()
    assert run("ask", "what did I copy")["answer"] == "It is done."
    assert run("approvals")["approvals"] == []


@pytest.mark.parametrize(("api", "level", "words"), [(1, "ok", "1 tools at"), (0, "warn", "too old; update it")])
def test_doctor_says_whether_the_host_is_reached(run: Run, node: FakeNode, api: int, level: str, words: str) -> None:
    node.api = api
    [check] = [each for each in run("doctor")["checks"] if each["name"] == "node host"]
    assert check["level"] == level and words in check["what"]


def test_the_token_is_kept_out_of_what_the_agent_writes(run: Run, node: FakeNode) -> None:
    node.answer = {"output": f"the token is {TOKEN}", "files": []}
    asked = run("ask", "what did I copy")
    [waiting] = run("approvals")["approvals"]
    run("approvals", "yes", waiting["id"])
    run("ask", "--resume", asked["session"])
    note = Path(asked["session"]).read_text()
    assert TOKEN not in note and "the token is" in note
