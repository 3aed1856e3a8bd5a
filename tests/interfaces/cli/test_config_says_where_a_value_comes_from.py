"""`vault-agent config`, as a person and as a script use it."""

import io
import json
from pathlib import Path

import pytest

from agent.config.secrets import Secret, reveal
from agent.config.settings import keys
from agent.errors import MissingKey
from agent.interfaces.cli.main import main
from tests.llm.servers import Part, Visit, model_server

Captured = pytest.CaptureFixture[str]
KEY = "git.quiet_seconds"
LITERAL = "sk-ant-" + "q7Zt" * 6


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
    assert capsys.readouterr() == ("30.0\n", "from: default\n")


def test_a_list_of_one_is_printed_once(capsys: Captured, tmp_path: Path) -> None:
    vault = make_vault(tmp_path / "vault", "vault:\n  private: [Diary/]\n")
    assert main(["--vault", str(vault), "config", "get", "vault.private"]) == 0
    assert capsys.readouterr().out == "Diary/\n"


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
        (["set", KEY, "soon"], "is not a number from 0 to 86,400 seconds"),
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


def test_a_search_model_that_can_be_used_needs_no_remark(capsys: Captured) -> None:
    assert main(["config", "set", "index.model", "shipped"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("llm.preset", "olama", "one of openai, anthropic"),
        ("llm.fast.preset", "olama", 'llm.fast.preset: there is no "olama"'),
        ("llm.base_url", "ollama", "such as http://127.0.0.1:11434/v1"),
        ("llm.api_key", LITERAL, "vault-agent config set llm.api_key --prompt"),
        ("llm.key", LITERAL, "vault-agent config set llm.api_key --prompt"),
    ],
)
def test_a_value_that_can_never_work_is_refused(key: str, value: str, says: str, capsys: Captured, home: Path) -> None:
    assert main(["config", "set", key, value]) == 2
    out, err = capsys.readouterr()
    assert says in err and LITERAL not in err + out
    assert not home.exists()


def test_a_model_setting_says_that_its_server_answers(capsys: Captured) -> None:
    with model_server(lists("qwen3:8b", "llama3"), tells=True) as server:
        assert main(["config", "set", "llm.base_url", server.url]) == 0
        assert "now say which model: qwen3:8b, llama3" in capsys.readouterr().err
        assert main(["config", "set", "llm.model", "qwen3"]) == 0
        assert "qwen3 can be asked" in capsys.readouterr().err
        assert main(["config", "set", "llm.model", "other"]) == 0
        assert "does not list other; it has qwen3:8b, llama3" in capsys.readouterr().err
    assert {each.line.split()[0] for each in server.asked} == {"GET"}


def test_what_keeps_the_model_away_is_said_and_the_setting_is_kept(capsys: Captured) -> None:
    def refuses(visit: Visit) -> None:
        visit.head("401 Unauthorized", "application/json")
        visit.send(b'{"error": {"message": "bad key"}}')

    def login(visit: Visit) -> None:
        visit.head("200 OK", "text/html")
        visit.send(b"<html>Please log in</html>")

    with model_server(refuses, login, tells=True) as server:
        assert main(["config", "set", "llm.base_url", server.url]) == 0
        assert "answered 401 Unauthorized: bad key" in capsys.readouterr().err
        assert main(["config", "set", "llm.model", "m"]) == 0
        assert "answers, but not as a model server does" in capsys.readouterr().err
    assert main(["config", "set", "llm.model", "m"]) == 0
    assert "the setting is kept, but the model was not reached: no model server answers" in capsys.readouterr().err
    assert main(["config", "get", "llm.model"]) == 0


def test_a_preset_without_its_key_says_how_to_give_it(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    assert main(["config", "set", "llm.preset", "anthropic"]) == 0
    err = capsys.readouterr().err
    assert "env:ANTHROPIC_API_KEY" in err and "config set llm.api_key --prompt" in err


def test_another_preset_does_not_get_the_key_of_the_one_before(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MINE", raising=False)
    ask(capsys, "config", "set", "llm.key", "env:MINE")
    assert "removed" not in ask(capsys, "config", "set", "llm.preset", "anthropic")
    assert "removed" not in ask(capsys, "config", "set", "llm.preset", "anthropic")
    assert ask(capsys, "config", "set", "llm.preset", "openai")["removed"] == "llm.api_key"
    assert ask(capsys, "config", "get", "llm.api_key")["origin"] == "default"
    ask(capsys, "config", "set", "llm.key", "env:MINE")
    assert ask(capsys, "config", "unset", "llm.key")["was_set"] is True
    assert ask(capsys, "config", "unset", "llm.key")["was_set"] is False


def test_an_address_that_counts_more_than_the_preset_is_named(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    assert main(["config", "set", "llm.base_url", "http://127.0.0.1:9/v1"]) == 0
    assert main(["config", "set", "llm.preset", "anthropic"]) == 0
    err = capsys.readouterr().err
    assert "http://127.0.0.1:9/v1 is set, too" in err and "vault-agent config unset llm.base_url" in err
    assert main(["config", "unset", "llm.base_url"]) == 0
    assert main(["config", "set", "llm.preset", "openai"]) == 0
    assert "is set, too" not in capsys.readouterr().err


def test_a_key_is_piped_into_a_file_that_others_cannot_read(
    capsys: Captured, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{LITERAL}\n"))
    assert main(["config", "set", "llm.key", "--prompt"]) == 0
    out, err = capsys.readouterr()
    file = home / "config/keys/llm.api_key"
    assert file.read_text() == f"{LITERAL}\n" and file.stat().st_mode & 0o777 == 0o600
    assert f"llm.api_key = file:{file}" in out and LITERAL not in out + err
    assert LITERAL not in (home / "config/config.yaml").read_text()
    assert reveal(Secret(f"file:{file}")) == LITERAL
    file.chmod(0o640)
    with pytest.raises(MissingKey, match="others on this machine may read"):
        reveal(Secret(f"file:{file}"))


@pytest.mark.parametrize(
    ("typed", "args", "says"),
    [
        ("\n", ["llm.key", "--prompt"], "no key was given"),
        ("two words\n", ["llm.key", "--prompt"], "a key is one word"),
        ("x\n", ["git.durable", "--prompt"], "--prompt is for secrets"),
        ("x\n", ["llm.key", "env:X", "--prompt"], "give none on the command line"),
        ("", ["llm.key"], "config set llm.api_key --prompt"),
        ("", ["git.durable"], "needs a value: true or false"),
    ],
)
def test_a_key_that_cannot_be_taken_changes_nothing(
    typed: str, args: list[str], says: str, capsys: Captured, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    assert main(["config", "set", *args]) == 2
    assert says in capsys.readouterr().err
    assert not (home / "config/config.yaml").exists()


def lists(*models: str) -> Part:
    """A model server that says which models it has."""

    def play(visit: Visit) -> None:
        visit.head("200 OK", "application/json")
        visit.send(json.dumps({"data": [{"id": name} for name in models]}).encode())

    return play


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("http://me:pw@127.0.0.1:1/", "http://***@127.0.0.1:1/"),
        ("https://hooks.slack.com/services/T0/B0/abc", "https://hooks.slack.com/services/***"),
        ("https://x.example/send?key=abc&wait=true", "https://x.example/send?key=***&wait=true"),
    ],
)
@pytest.mark.parametrize("from_environment", [True, False])
def test_an_address_is_shown_without_what_opens_a_door(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch, address: str, shown: str, from_environment: bool
) -> None:
    """Wherever it is set, and however a person or a program asks for it."""
    key = "channels.webhook.url"
    if from_environment:
        monkeypatch.setenv("VAULT_AGENT_CHANNELS__WEBHOOK__URL", address)
    else:
        done = ask(capsys, "config", "set", key, address)
        assert done["value"] == shown
        assert address in Path(str(done["file"])).read_text(), "what is written is what was given"
    assert ask(capsys, "config", "get", key)["value"] == shown
    rows = ask(capsys, "config", "list")["settings"]
    assert isinstance(rows, list) and [each["value"] for each in rows if each["key"] == key] == [shown]
    for words in (("config", "get", key), ("config", "list")):
        assert main(list(words)) == 0
        said = "".join(capsys.readouterr())
        assert shown in said and address not in said
    monkeypatch.setenv("VAULT_AGENT_GIT__QUIET_SECONDS", address)
    assert main(["config", "list"]) == 2
    said = "".join(capsys.readouterr())
    assert "VAULT_AGENT_GIT__QUIET_SECONDS" in said and address not in said and shown in said
