"""`vault-agent` alone: how the vault is and what to try in it, or the way to a vault."""

import json
import shlex
from pathlib import Path

import pytest

from agent.interfaces.cli.main import main
from tests.stories.agents import furnish
from tests.vaults import write

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("VAULT_AGENT_VAULT", raising=False)
    root = furnish(tmp_path, monkeypatch.setenv)
    monkeypatch.chdir(root)
    return root


def test_in_a_vault_it_is_three_lines_and_what_to_try(root: Path, capsys: Captured) -> None:
    assert main([]) == 0
    out, err = capsys.readouterr()
    state, tries = out.split("\n\nTry:\n")
    assert [line.split()[0] for line in state.splitlines()] == ["vault", "model", "daemon"] and err == ""
    assert "config set llm.preset NAME" in state and "vault-agent daemon starts it" in state
    assert "vault-agent chat" in tries


def test_what_it_proposes_can_be_typed_from_elsewhere(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["--json", "--vault", str(root)]) == 0
    first = json.loads(capsys.readouterr().out)["next"][0]
    assert main(shlex.split(first)[1:]) == 0


def test_a_missing_key_is_the_second_line(root: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_AGENT_LLM__PRESET", "anthropic")
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    assert main([]) == 0
    assert "config set llm.api_key --prompt" in capsys.readouterr().out.splitlines()[1]


def test_without_a_vault_it_names_the_next_step(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    assert main([]) == 0
    assert "vault-agent init ~/notes" in capsys.readouterr().out
    write(tmp_path / "notes/a.md", "a\n")
    write(tmp_path / "notes/sub/b.md", "b\n")
    write(tmp_path / "notes/.obsidian/c.md", "c\n")
    monkeypatch.chdir(tmp_path / "notes")
    assert main([]) == 0
    out = capsys.readouterr().out
    assert "This folder has 2 Markdown notes." in out and "vault-agent init ." in out
    assert not (tmp_path / "notes/AGENT.md").exists()


def test_a_vault_that_is_named_wrongly_is_an_error(tmp_path: Path, root: Path, capsys: Captured) -> None:
    assert main(["--vault", str(tmp_path / "nowhere")]) == 2
    assert "is not a vault" in capsys.readouterr().err
