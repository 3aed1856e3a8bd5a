"""An answer to a question that nothing waits for is taken in at once where no daemon would do it."""

from pathlib import Path
from typing import Any

import pytest

from agent.app.open import open_workspace
from agent.growth.curiosity.gap import CuriousGap
from agent.growth.curiosity.look import ask
from agent.interfaces.cli.main import main
from tests.interfaces.cli.conftest import Run


def test_it_is_remembered_and_its_note_is_closed(root: Path, run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    path = ask(open_workspace(root), CuriousGap("decision", "hat", "Which hat?", "Cold.", "None.", ("wool", "straw")))
    listed: Any = run("questions")["questions"]
    (shown,) = listed
    assert shown["urgency"] == "low" and shown["options"] == ["wool", "straw"]
    assert main(["questions", "answer", shown["code"], "1"]) == 0
    assert "it is taken in" in capsys.readouterr().out
    assert "status: answered" in (root / path).read_text("utf-8")
    assert any("wool" in each.read_text("utf-8") for each in (root / "entries").rglob("*.md"))
    assert run("questions")["questions"] == []
