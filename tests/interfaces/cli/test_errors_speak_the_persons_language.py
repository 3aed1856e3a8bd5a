"""Errors and help on the terminal are in the language of the vault at hand, else of the locale; JSON stays English."""

import json
import re
from pathlib import Path

import pytest

from agent.interfaces.cli.language import terminal_language
from agent.interfaces.cli.main import main
from tests.vaults import make_vault


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder without a vault, and an English locale."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VAULT_AGENT_HOME", str(tmp_path / "home"))
    for name in ("LC_ALL", "LC_MESSAGES", "VAULT_AGENT_VAULT", "VAULT_AGENT_VAULT__LANGUAGE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "en_GB.UTF-8")
    return tmp_path


def vault_in(folder: Path, language: str) -> Path:
    """A vault whose settings name a language."""
    make_vault(folder)
    (folder / "vault-agent.yaml").write_text(f"vault:\n  language: {language}\n", "utf-8")
    return folder


def test_without_a_vault_the_locale_counts(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["status"]) == 2
    assert capsys.readouterr().err.startswith("error: no vault")
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    assert main(["status"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("错误：") and "\n  提示：" in said
    monkeypatch.setenv("LC_ALL", "de_DE")
    assert main(["status"]) == 2
    assert capsys.readouterr().err.startswith("error:")


def test_the_vault_goes_before_the_locale(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    chinese, english = vault_in(nowhere / "zh", "zh"), vault_in(nowhere / "en", "en")
    assert terminal_language(["--vault", str(chinese), "status"]) == "zh"
    assert terminal_language([f"--vault={chinese}", "status"]) == "zh"
    assert terminal_language(["status"], {"VAULT_AGENT_VAULT": str(chinese)}) == "zh"
    assert terminal_language(["status"], {"LANG": "zh_CN", "VAULT_AGENT_VAULT": str(english)}) == "en"
    (chinese / "notes").mkdir()
    monkeypatch.chdir(chinese / "notes")
    assert main(["get", "nothing.md"]) == 2
    assert capsys.readouterr().err.startswith("错误：")


def test_a_vault_whose_settings_cannot_be_read_leaves_it_to_the_locale(nowhere: Path) -> None:
    broken = vault_in(nowhere / "broken", "[")
    assert terminal_language(["--vault", str(broken)], {"LANG": "zh_TW.UTF-8"}) == "zh"
    assert terminal_language(["--vault"], {}) == "en"


def test_help_and_usage_errors_speak_it_too(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    assert main(["--help"]) == 0
    assert re.findall(r"^(?:[A-Z][a-z]+: |.*[a-z]{4} [a-z]{4} [a-z]{4}.*)", capsys.readouterr().out, re.MULTILINE) == []
    assert main(["config", "--help"]) == 0
    assert re.search(r"^命令：$", capsys.readouterr().out, re.MULTILINE)
    assert main(["get", "--nothing"]) == 2
    assert capsys.readouterr().err.startswith("错误：没有 '--nothing' 这个选项")
    monkeypatch.setenv("LANG", "en_GB.UTF-8")
    assert main(["get", "--nothing"]) == 2
    assert capsys.readouterr().err.startswith("error: No such option")


def test_a_document_stays_english(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    assert main(["--json", "status"]) == 2
    assert json.loads(capsys.readouterr().out)["error"]["message"].startswith("no vault at")
    assert main(["--json", "status", "--nothing"]) == 2
    assert "option" in json.loads(capsys.readouterr().out)["error"]["message"]
