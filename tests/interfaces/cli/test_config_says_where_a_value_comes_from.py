"""`vault-agent config`, as a person and as a script use it."""

import json
from pathlib import Path

import pytest

from agent.config.settings import keys
from agent.interfaces.cli.main import main

Captured = pytest.CaptureFixture[str]
KEY = "git.quiet_seconds"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Settings of this test alone, in a folder that is no vault."""
    monkeypatch.setenv("VAULT_AGENT_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("VAULT_AGENT_VAULT", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


def make_vault(root: Path, text: str = "") -> Path:
    root.mkdir()
    (root / "vault-agent.yaml").write_text(text, "utf-8")
    return root


def ask(capsys: Captured, *args: str) -> dict[str, object]:
    assert main([*args, "--json"]) == 0
    out, err = capsys.readouterr()
    document = json.loads(out)
    assert isinstance(document, dict)
    assert err == ""
    return document


def test_get_prints_the_value_alone_and_its_origin_beside_it(capsys: Captured) -> None:
    assert main(["config", "get", KEY]) == 0
    assert capsys.readouterr() == ("10.0\n", "from: default\n")


def test_set_get_unset(capsys: Captured, home: Path) -> None:
    file = home / "config" / "config.yaml"
    assert ask(capsys, "config", "set", KEY, "3") == {
        "ok": True,
        "key": KEY,
        "value": 3.0,
        "file": str(file),
        "overridden_by": None,
    }
    assert ask(capsys, "config", "get", KEY) == {
        "ok": True,
        "key": KEY,
        "value": 3.0,
        "origin": "machine",
        "place": f"{file}:2",
    }
    assert ask(capsys, "config", "unset", KEY)["was_set"] is True
    assert ask(capsys, "config", "unset", KEY)["was_set"] is False
    assert ask(capsys, "config", "get", KEY)["origin"] == "default"


def test_a_value_of_the_vault_is_seen_from_inside_it(
    capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = make_vault(tmp_path / "vault", f"{KEY.split('.')[0]}:\n  quiet_seconds: 7\n")
    assert ask(capsys, "--vault", str(vault), "config", "get", KEY)["origin"] == "vault"
    assert ask(capsys, "config", "get", KEY, "--vault", str(vault))["origin"] == "vault"
    assert ask(capsys, "config", "get", KEY)["origin"] == "default"
    monkeypatch.setenv("VAULT_AGENT_VAULT", str(vault))
    assert ask(capsys, "config", "get", KEY)["origin"] == "vault"
    monkeypatch.delenv("VAULT_AGENT_VAULT")
    monkeypatch.chdir(vault)
    assert ask(capsys, "config", "get", KEY)["origin"] == "vault"


def test_list_shows_every_setting_and_what_a_vault_may_not_set(capsys: Captured, tmp_path: Path) -> None:
    vault = make_vault(tmp_path / "vault", "git:\n  durable: false\n")
    assert main(["--vault", str(vault), "config", "list"]) == 0
    out, err = capsys.readouterr()
    assert [line.split()[0] for line in out.splitlines()] == list(keys())
    assert "git.durable = true " in out
    assert "git.durable is ignored" in err
    document = ask(capsys, "--vault", str(vault), "config", "list")
    assert isinstance(document["warnings"], list) and len(document["warnings"]) == 1


def test_set_says_when_the_environment_wins(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_AGENT_GIT__QUIET_SECONDS", "9")
    assert main(["config", "set", KEY, "3"]) == 0
    assert "VAULT_AGENT_GIT__QUIET_SECONDS is set in the environment and wins" in capsys.readouterr().err
    assert main(["config", "get", KEY]) == 0
    assert capsys.readouterr() == ("9.0\n", "from: environment VAULT_AGENT_GIT__QUIET_SECONDS\n")


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["get", "git.quiet"], "did you mean git.quiet_seconds"),
        (["get", "git"], "its settings: git.human_commits"),
        (["set", KEY, "soon"], "is not a number from 0 to 86400 seconds"),
        (["set", "git.nothing", "1"], "no such setting"),
        (["unset", "git.nothing"], "no such setting"),
        (["--vault", "nowhere", "list"], "nowhere is not a vault"),
    ],
)
def test_a_mistake_is_explained(args: list[str], says: str, capsys: Captured, home: Path) -> None:
    assert main(["config", *args]) == 2
    assert says in capsys.readouterr().err
    assert not home.exists()


def test_a_file_with_an_unknown_key_can_be_repaired_by_command(capsys: Captured, home: Path) -> None:
    (home / "config").mkdir(parents=True)
    (home / "config" / "config.yaml").write_text("git:\n  old_name: 3\n", "utf-8")
    assert main(["config", "list"]) == 2
    assert "config.yaml:2: no such setting" in capsys.readouterr().err
    assert main(["config", "unset", "git.old_name"]) == 0
    assert main(["config", "list"]) == 0


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("llm.preset", "olama", 'llm.preset: there is no "olama"'),
        ("llm.preset", "ollama", "vault-agent config set llm.model NAME"),
        ("llm.reflection.model", "qwen3:8b", "vault-agent config set llm.preset NAME"),
        ("index.model", "someone/gone", "the model someone/gone is not on this machine"),
    ],
)
def test_a_model_that_cannot_be_used_yet_is_said_when_it_is_named(
    key: str, value: str, says: str, capsys: Captured
) -> None:
    assert main(["config", "set", key, value]) == 0
    out, err = capsys.readouterr()
    assert out.startswith(f"{key} = {value}")
    assert says in err and err.startswith("warning: ")


def test_a_model_that_can_be_used_needs_no_remark(capsys: Captured) -> None:
    for key, value in (("llm.preset", "anthropic"), ("llm.fast.model", "claude-haiku-4-5"), ("index.model", "shipped")):
        assert main(["config", "set", key, value]) == 0
        assert capsys.readouterr().err == ""
