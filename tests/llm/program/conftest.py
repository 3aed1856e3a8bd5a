"""A machine with the fakes."""

from pathlib import Path

import pytest

from tests.llm.program.desk import Desk, install


@pytest.fixture
def at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    desk = install(tmp_path)
    monkeypatch.setenv("PATH", str(desk.bin))
    monkeypatch.setenv("HOME", str(desk.home))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-of-another-account")
    monkeypatch.setenv("A_SECRET", "of the person")
    for name in ("CODEX_HOME", "CLAUDE_CONFIG_DIR", "GEMINI_CLI_HOME", "GEMINI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    return desk
