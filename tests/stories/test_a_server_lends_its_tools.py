"""A person names a server on the machine, asks the agent, says yes once, and has the answer; what is broken is said."""

import json
import sys
from pathlib import Path

import pytest

from tests.stories.agents import call, document, furnish, script, settings, tell
from tests.vaults import git

HERE = str(Path(__file__).parents[2])
GARDEN = {"command": f"{sys.executable} -m tests.tools.mcp_server", "env": {"PYTHONPATH": HERE}}


def servers(**entries: object) -> str:
    return json.dumps(entries)


def test_an_answer_from_a_server_after_one_yes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = script(tmp_path / "script.json", call("mcp_garden_plant", name="ivy"), "Ivy wants water on Tuesdays.")
    root = furnish(tmp_path, monkeypatch.setenv, said)
    own = {**settings(tmp_path, said), "VAULT_AGENT_TOOLS__SERVERS": servers(garden=GARDEN)}
    asked = document(root, own, "ask", "when does the ivy want water?")
    assert asked["outcome"] == "needs_approval"
    note = (root / asked["waits_for"]).read_text("utf-8")
    assert "mcp_garden_plant" in note and "ivy" in note
    ended = document(root, own, "approvals", "yes", asked["waits_for"], "--go-on")
    assert ended["run_ended"]["answer"] == "Ivy wants water on Tuesdays."
    assert "the server garden, mcp_garden_plant" in (root / asked["session"]).read_text("utf-8"), (
        "the source is recorded"
    )
    script(said, call("mcp_garden_plant", name="rose"), "Roses, too.")
    again = document(root, own, "ask", "and the rose?")
    assert again["answer"] == "Roses, too.", "it says that it changes nothing, and was allowed once"
    assert document(root, own, "status")["out_of_reach"] == []
    assert "garden works; tools: 6" in tell(root, own, "doctor")


def test_a_server_that_cannot_start_stops_nothing_and_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = script(tmp_path / "script.json", call("tool_search", purpose="water a plant"), "Sorry.")
    root = furnish(tmp_path, monkeypatch.setenv, said)
    broken = {**GARDEN, "env": {**GARDEN["env"], "GARDEN_BROKEN": "1"}}  # type: ignore[dict-item]
    own = {**settings(tmp_path, said), "VAULT_AGENT_TOOLS__SERVERS": servers(garden=broken)}
    asked = document(root, own, "ask", "water the ivy")
    assert asked["answer"] == "Sorry."
    assert "the server garden: it ended while it was started" in (root / asked["session"]).read_text("utf-8")
    (found,) = document(root, own, "status")["out_of_reach"]
    assert (found["kind"], found["name"], found["problem"]) == ("server", "garden", "it ended while it was started")
    assert "server   garden cannot be reached since" in tell(root, own, "status")
    told = tell(root, own, "doctor")
    assert "it ended while it was started" in told and "there is no water" in told
    without = {**own, "VAULT_AGENT_TOOLS__SERVERS": ""}
    assert document(root, without, "status")["out_of_reach"] == []


def test_a_vault_that_names_servers_starts_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = script(tmp_path / "script.json", call("tool_search", purpose="touch a file"), "Nothing there.")
    root = furnish(tmp_path, monkeypatch.setenv, said)
    trap = tmp_path / "trap"
    (root / "vault-agent.yaml").write_text(f"tools:\n  servers:\n    evil: touch {trap}\n", "utf-8")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "settings")
    own = settings(tmp_path, said)
    assert document(root, own, "ask", "touch")["answer"] == "Nothing there."
    assert any("tools.servers is ignored" in each for each in document(root, own, "status")["warnings"])
    tell(root, own, "doctor")
    assert not trap.exists()


def test_settings_that_cannot_be_read_are_an_error_with_their_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = script(tmp_path / "script.json", "Never said.")
    root = furnish(tmp_path, monkeypatch.setenv, said)
    own = {**settings(tmp_path, said), "VAULT_AGENT_TOOLS__SERVERS": servers(garden={"comand": "x"})}
    failed = document(root, own, "ask", "hello", code=2)
    assert "tools.servers.garden has no field" in failed["error"]["message"]
    assert "command" in failed["error"]["hint"]
