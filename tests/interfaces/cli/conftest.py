"""A machine of its own for every command: settings, caches and state in a temporary folder."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.interfaces.cli.main import main
from tests.vaults import make_vault

Run = Callable[..., dict[str, object]]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A vault with two notes of Anna's, and the working directory inside it."""
    monkeypatch.setenv("VAULT_AGENT_HOME", str(tmp_path / "home"))
    folder = make_vault(
        tmp_path, {"a.md": "---\nid: 01HZZZZZZZ0000000000000001\n---\none\n", "b.md": "two\n"}
    ).place.root
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def run(root: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command with `--json` in that vault and return its document; `code` is the exit code it must have."""

    def call(*args: str, code: int = 0) -> dict[str, object]:
        assert main(["--json", *args]) == code
        document = json.loads(capsys.readouterr().out)
        assert isinstance(document, dict)
        return document

    return call
