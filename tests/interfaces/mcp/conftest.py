"""A vault and a person's home without any program's configuration; a file that needs another vault has its own."""

from pathlib import Path

import pytest

from tests.stories.agents import furnish


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "me"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name in ("XDG_CONFIG_HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    made = furnish(tmp_path, monkeypatch.setenv)
    monkeypatch.chdir(made)
    return made
