"""`mcp install --with-hooks`: a program is told of the vault when its session begins, and what it has decided is kept
as its words; all other hooks stay as they are."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from agent.app.open import open_workspace
from agent.clock import SystemClock
from agent.context.budget import estimate
from agent.interfaces.mcp.session_end import program_words
from agent.memory.entry import MODEL
from agent.memory.store import load_entries
from agent.runs.owner import is_stated_by_owner
from agent.tools.text_origin import text_origin_of
from tests.interfaces.cli.vaults import Captured, ask
from tests.stories.agents import PROJECT, document, settings, tell
from tests.vaults import git

DECIDED = "We decided to use SQLite for the cache, because Postgres was too heavy."
NAMES = ("claude-code", "codex", "gemini")
HOOKS = {
    "claude-code": ".claude/skills/vault-agent/hooks/hooks.json",
    "codex": ".codex/hooks.json",
    "gemini": ".gemini/settings.json",
}
THEIRS = {"matcher": "startup", "hooks": [{"type": "command", "command": "echo theirs"}]}


def install(capsys: Captured, name: str, *options: str, code: int = 0) -> dict[str, Any]:
    return dict(ask(capsys, "mcp", "install", "--client", name, *options, code=code))


def hooks(name: str) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = json.loads((Path.home() / HOOKS[name]).read_text())["hooks"]
    return found


def transcript(name: str, file: Path, *said: tuple[str, str]) -> str:
    """A transcript as the program writes it, of who said what: user or program."""
    rows: list[object] = [{"type": "something else"}]
    for who, words in said:
        role = "assistant" if who == "program" else "user"
        match name:
            case "claude-code":
                rows.append({"type": role, "message": {"role": role, "content": [{"type": "text", "text": words}]}})
            case "codex":
                part = {"type": "output_text" if role == "assistant" else "input_text", "text": words}
                payload = {"type": "message", "role": role, "content": [part]}
                rows.append({"type": "response_item", "payload": payload})
            case _:
                rows.append({"type": "gemini" if role == "assistant" else "user", "content": words})
    file.write_text("not JSON\n" + "\n".join(map(json.dumps, rows)))
    return json.dumps({"transcript_path": str(file), "cwd": "/work/parser", "hook_event_name": "SessionEnd"})


def test_hooks_are_laid_beside_others_and_taken_out_alone(root: Path, capsys: Captured) -> None:
    for name in NAMES:
        file = Path.home() / HOOKS[name]
        if name != "claude-code":
            file.parent.mkdir(parents=True)
            file.write_text(json.dumps({"theme": "dark", "hooks": {"SessionStart": [THEIRS], "Stop": [THEIRS]}}))
        planned = install(capsys, name, "--with-hooks", "--dry-run")
        assert str(file) in planned["hooks"] and "program-session" not in (file.read_text() if file.exists() else "")
        assert install(capsys, name, "--with-hooks")["hooks"] == planned["hooks"]
        assert install(capsys, name, "--with-hooks")["hooks"] == []
        (skill,) = (each for each in planned["hooks"] if each.endswith("SKILL.md"))
        assert "MCP server" in Path(skill).read_text()
        laid = hooks(name)
        assert f"program-session end --as {name}" in laid["SessionEnd"][-1]["hooks"][0]["command"]
        assert len(laid["SessionStart"]) == (1 if name == "claude-code" else 2)
        install(capsys, name, "--remove")
        assert not Path(skill).parent.exists()
        if name == "claude-code":
            assert not file.exists()
        else:
            assert hooks(name) == {"SessionStart": [THEIRS], "Stop": [THEIRS]}
            assert json.loads(file.read_text())["theme"] == "dark"


@pytest.mark.parametrize("option", ["--with-hooks", "--remove"])
def test_a_hook_that_the_person_has_put_beside_ours_stays(root: Path, capsys: Captured, option: str) -> None:
    install(capsys, "codex", "--with-hooks")
    file = Path.home() / HOOKS["codex"]
    laid = json.loads(file.read_text())
    laid["hooks"]["SessionStart"][0]["hooks"].append(THEIRS["hooks"][0])
    file.write_text(json.dumps(laid))
    install(capsys, "codex", option)
    (mine, *ours) = hooks("codex")["SessionStart"]
    assert mine == {"hooks": THEIRS["hooks"]} and len(ours) == (option == "--with-hooks")


def test_the_server_and_the_hooks_of_one_file_are_both_there(root: Path, capsys: Captured) -> None:
    install(capsys, "gemini", "--with-hooks")
    found = json.loads((Path.home() / HOOKS["gemini"]).read_text())
    assert "vault-agent" in found["mcpServers"] and len(found["hooks"]["SessionEnd"]) == 1
    assert found["hooks"]["SessionStart"][0]["hooks"][0]["timeout"] == 20_000, "in milliseconds there"


def test_a_program_without_hooks_is_named(root: Path, capsys: Captured) -> None:
    told = install(capsys, "cursor", "--with-hooks", code=2)
    assert "has no hooks" in told["error"]["message"]


def test_a_file_of_hooks_that_is_broken_is_left(root: Path, capsys: Captured) -> None:
    file = Path.home() / HOOKS["codex"]
    file.parent.mkdir(parents=True)
    file.write_text('{"hooks": []}')
    told = install(capsys, "codex", "--with-hooks", code=2)
    assert "cannot be understood" in told["error"]["message"] and file.read_text() == '{"hooks": []}'


def test_the_begin_of_a_session_tells_of_the_owner_in_few_tokens(root: Path, tmp_path: Path) -> None:
    own = settings(tmp_path)
    document(root, own, "remember", "I live in Bern and work as a carpenter.")
    text = document(root, own, "program-session", "begin", "--as", "claude-code")["text"]
    assert "carpenter" in text and "MCP server" in text and estimate(text) <= 600


def test_the_policy_may_keep_a_program_from_it(root: Path, tmp_path: Path) -> None:
    own = settings(tmp_path)
    config = open_workspace(root).directories.config
    config.mkdir(parents=True, exist_ok=True)
    (config / "policy.yaml").write_text(
        "version: 1\nprofiles:\n  - name: mcp\n    match: { channels: [mcp] }\n    policy:\n      deny:\n"
        "        - group: memory\n  - name: default\n    policy: {}\n"
    )
    assert document(root, own, "program-session", "begin", "--as", "codex")["text"] == ""
    told = transcript("codex", tmp_path / "t.jsonl", ("program", DECIDED))
    assert end(root, own, "codex", told) == []


def end(root: Path, own: dict[str, str], name: str, told: str) -> list[str]:
    return list(json.loads(tell(root, own, "--json", "program-session", "end", "--as", name, said=told))["kept"])


@pytest.mark.parametrize("name", NAMES)
def test_a_decision_is_kept_once_as_the_programs_words(root: Path, tmp_path: Path, name: str) -> None:
    own = settings(tmp_path)
    mine = "We decided to drop Windows support, because nobody uses it."
    told = transcript(name, tmp_path / "t.jsonl", ("user", mine), ("program", f"Done. {DECIDED}\n\nAll tests pass."))
    assert end(root, own, name, told) == [f"{name} in parser: “{DECIDED}”"]
    assert end(root, own, name, told) == [], "a session that goes on is told of again"
    workspace = open_workspace(root)
    paths = [path.relative_to(root).as_posix() for path in (root / "entries").rglob("*.md")]
    (entry,) = load_entries(workspace.vault, paths)
    assert entry.entry.source == MODEL and not is_stated_by_owner(entry, text_origin_of(workspace.vault))
    assert f"mcp:{name}" in git(root, "log", "-1", "--format=%B")


def test_what_is_no_transcript_keeps_nothing(root: Path, tmp_path: Path) -> None:
    own = settings(tmp_path)
    for told in (
        "",
        "[]",
        "nonsense",
        json.dumps({"transcript_path": str(tmp_path / "none")}),
        '{"transcript_path": 5}',
    ):
        assert end(root, own, "codex", told) == []
    assert list(program_words(tmp_path)) == []
    os.mkfifo(tmp_path / "pipe")
    assert list(program_words(tmp_path / "pipe")) == []


def test_the_hooks_run_as_the_program_runs_them(root: Path, tmp_path: Path, capsys: Captured) -> None:
    """By a shell, with the event on standard input; the end goes on after the shell is gone."""
    install(capsys, "claude-code", "--with-hooks")
    told = transcript("claude-code", tmp_path / "t.jsonl", ("program", DECIDED))
    environ = {**os.environ, "PYTHONPATH": str(PROJECT)}
    begin, finish = (hooks("claude-code")[event][0]["hooks"][0]["command"] for event in ("SessionStart", "SessionEnd"))
    said = subprocess.run(["sh", "-c", begin], input="{}", capture_output=True, text=True, env=environ, check=True)
    assert json.loads(said.stdout)["hookSpecificOutput"]["hookEventName"] == "SessionStart"
    subprocess.run(["sh", "-c", finish], input=told, text=True, env=environ, check=True)
    clock = SystemClock()
    deadline = clock.monotonic() + 60
    while not list((root / "entries").rglob("*.md")):
        assert clock.monotonic() < deadline, "nothing was kept"
        clock.sleep(0.1)
