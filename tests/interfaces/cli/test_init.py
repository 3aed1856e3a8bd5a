"""`vault-agent init` as a person types it: what it says, what it leaves, what it prints as JSON."""

import json
import shlex
from pathlib import Path

import pytest

from agent.interfaces.cli.main import main
from tests.vaults import git, write


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_AGENT_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


def run(capsys: pytest.CaptureFixture[str], *args: str) -> dict[str, object]:
    assert main(["--json", *args]) == 0
    document = json.loads(capsys.readouterr().out)
    assert isinstance(document, dict)
    return document


def test_it_ends_with_three_commands_that_work(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = run(capsys, "init", "--yes", "my vault")
    commands = document["next"]
    assert isinstance(commands, list) and len(commands) == 3
    assert main(shlex.split(commands[0])[1:]) == 0
    assert "spare key" in git(tmp_path / "my vault", "log", "-1", "--format=%s")
    assert main(shlex.split(commands[1])[1:]) == 0
    assert "The spare key is with Ana" in capsys.readouterr().out
    assert "--vault" in commands[2] and commands[2].endswith(" log")


def test_a_new_vault_speaks_the_language_of_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    assert main(["init", "--yes", "mine"]) == 0
    assert (tmp_path / "mine" / "欢迎.md").exists() and "试试" in capsys.readouterr().out
    assert "language: zh" in (tmp_path / "mine" / "vault-agent.yaml").read_text("utf-8")
    assert main(["init", "--yes", "theirs", "--language", "en"]) == 0
    assert main(["init", "--yes", "theirs", "--restore"]) == 0
    assert not (tmp_path / "theirs" / "欢迎.md").exists()
    assert main(["config", "set", "vault.language", "en"]) == 0
    assert main(["init", "--yes", "set"]) == 0
    assert not (tmp_path / "set" / "欢迎.md").exists()


def test_inside_the_vault_the_commands_need_no_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "vault").mkdir()
    monkeypatch.chdir(tmp_path / "vault")
    assert run(capsys, "init", "--yes", ".")["next"][2] == "vault-agent log"  # type: ignore[index]


def test_the_json_document_has_the_promised_keys(capsys: pytest.CaptureFixture[str]) -> None:
    document = run(capsys, "init", "--yes", "vault")
    assert set(document) >= {
        "ok", "vault", "created", "left", "commit", "human_commit", "uncommitted", "hooks", "next",
    }  # fmt: skip
    assert document["ok"] is True and document["uncommitted"] == 0 and document["hooks"] == []


def test_a_dirty_tree_is_named_with_the_command_that_records_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "vault"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    write(root / "a.md", "a\n")
    write(root / "b.md", "b\n")
    assert main(["init", "--yes", "vault"]) == 0
    out = capsys.readouterr().out
    assert "2 files of yours are not committed" in out and "commit` records them" in out
    assert main(["--vault", "vault", "commit"]) == 0
    assert git(root, "status", "--porcelain") == ""


def test_a_second_init_says_that_it_is_a_vault_already(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", "--yes", "vault"]) == 0
    before = git(tmp_path / "vault", "rev-parse", "HEAD")
    capsys.readouterr()
    assert main(["init", "--yes", "vault"]) == 0
    assert "already a vault" in capsys.readouterr().out
    assert git(tmp_path / "vault", "rev-parse", "HEAD") == before


def test_the_language_is_the_persons_choice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "init", "--yes", "vault", "--language", "zh")
    assert (tmp_path / "vault/欢迎.md").exists()
    assert "language: zh" in (tmp_path / "vault/vault-agent.yaml").read_text("utf-8")
    assert not (tmp_path / "vault/Welcome.md").exists()


def test_hooks_come_only_when_asked_for_and_later_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", "--yes", "vault"]) == 0
    assert "--hooks" in capsys.readouterr().out
    assert not (tmp_path / "vault/.git/hooks/pre-commit").exists()
    assert run(capsys, "init", "--yes", "vault", "--hooks")["hooks"] == ["pre-commit", "post-merge", "post-checkout"]
    assert (tmp_path / "vault/.git/hooks/post-merge").exists()


def test_hooks_of_a_vault_inside_a_repository_work_in_its_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "repo").mkdir()
    git(tmp_path / "repo", "init", "-q", "-b", "main")
    run(capsys, "init", "--yes", "repo/my notes", "--hooks")
    assert "\ncd './my notes/' || exit 0\n" in (tmp_path / "repo/.git/hooks/pre-commit").read_text()


@pytest.mark.parametrize("name", ["file", "vault/.git"])
def test_a_refusal_is_one_line_and_a_hint(tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "file", "a file\n")
    git(tmp_path, "init", "-q", "vault")
    assert main(["init", "--yes", name]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ") and "hint: " in error


def test_a_folder_that_was_deleted_meanwhile_is_no_bug_of_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert main(["status"]) == 2
    assert "the folder that you are in was deleted" in capsys.readouterr().err
