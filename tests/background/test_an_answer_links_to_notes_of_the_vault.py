"""The sources below an answer are notes of the vault, also when the run followed a skill of the program."""

from pathlib import Path

import pytest

from agent.app.open import open_workspace
from agent.interfaces.cli.main import main
from agent.loop.records import Began
from agent.loop.session import load_session, sessions
from tests.stories.agents import furnish, script
from tests.vaults import write


def test_a_skill_of_the_program_is_no_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = furnish(tmp_path, monkeypatch.setenv, script(tmp_path / "script.json", "Reports with their sources."))
    write(root / "garden.md", "# Garden\n\n- [ ] @agent what belongs to research, with deep-research?\n")
    assert main(["--vault", str(root), "run", "garden.md"]) == 0
    text = (root / "garden.md").read_text("utf-8")
    assert "- [x] @agent" in text and "SKILL.md" not in text and "Reports with their sources." in text
    vault = open_workspace(root).vault
    (session,) = sessions(vault)
    note = (root / session).read_text("utf-8")
    assert "of the program" in note, "the run was given no skill of the program"
    assert any(isinstance(each.event, Began) for each in load_session(vault, session).records)
