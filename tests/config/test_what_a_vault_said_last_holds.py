"""A vault's settings file that cannot be read stops no command: the last good one holds."""

from pathlib import Path

import pytest

from agent.app.open import open_workspace
from agent.config.load import load_settings, load_vault_settings
from agent.errors import ConfigError
from tests.stories.agents import document, settings
from tests.vaults import make_vault, write

BROKEN = {
    "no YAML": "vault: [\n",
    "a wrong value": "vault:\n  language: klingon\n",
    "a folder that cannot be": "vault:\n  folder: ../elsewhere\n",
    "no text": "\udcff\udcfe",
    "aliases": "a: &a [x, x]\nb: *a\n",
    "much": "# " + "x" * 20_000 + "\n",
}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, value in settings(tmp_path).items():
        monkeypatch.setenv(name, value)
    vault = make_vault(tmp_path)
    write(vault.place.root / "vault-agent.yaml", "vault:\n  language: zh\n")
    return vault.place.root


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_the_last_good_one_holds_and_says_so(root: Path, text: str) -> None:
    assert load_vault_settings(root).unfollowed == ()
    (root / "vault-agent.yaml").write_bytes(text.encode("utf-8", "surrogateescape"))
    workspace = open_workspace(root)
    assert workspace.settings.vault.language == "zh"
    assert "what it said before holds" in workspace.loaded.unfollowed[0]
    write(root / "vault-agent.yaml", "vault:\n  language: en\n")
    assert open_workspace(root).settings.vault.language == "en"


def test_without_a_good_one_the_defaults_hold(root: Path) -> None:
    write(root / "vault-agent.yaml", "vault: [\n")
    found = load_vault_settings(root)
    assert found.settings.vault.language == "en" and len(found.unfollowed) == 1


def test_what_is_wrong_on_this_machine_is_an_error_as_before(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_AGENT_BRAKE__NOTES", "many")
    with pytest.raises(ConfigError):
        load_vault_settings(root)


def test_commands_go_on_and_name_what_is_to_be_mended(root: Path, tmp_path: Path) -> None:
    own = settings(tmp_path)
    document(root, own, "status")
    write(root / "vault-agent.yaml", "vault: [\n")
    told = document(root, own, "status")
    assert any("what it said before holds" in each for each in told["warnings"])
    checks = [each for each in document(root, own, "doctor", code=1)["checks"] if each["name"] == "settings"]
    assert any("what it said before holds" in each["what"] for each in checks)
    for words in (["log"], ["ask", "who"], ["commit"], ["config", "list"], ["trust"]):
        document(root, own, *words)
    with pytest.raises(ConfigError):
        load_settings(root)
