"""Asked twice without a model, a question is answered by the fact, and neither by itself nor by what it led to."""

from pathlib import Path

import pytest

from agent.memory.recall.candidates import is_bare
from tests.interfaces.cli.conftest import Run

ASKED = "What is the name of my sister?"


def test_the_fact_comes_first_and_the_question_never(root: Path, run: Run) -> None:
    run("remember", "The name of my sister is Mara")
    run("ask", ASKED)
    answer = str(run("ask", ASKED)["answer"])
    assert "> The name of my sister is Mara" in answer
    assert ASKED not in answer and "User:" not in answer
    assert len(list((root / "entries").rglob("*.md"))) == 1, "a question alone makes no entry"


def test_the_days_log_does_not_repeat_that_there_is_no_model(root: Path, run: Run) -> None:
    run("ask", ASKED)
    (day,) = (root / "daily").glob("*.md")
    assert ASKED in day.read_text() and "No language model" not in day.read_text()


def test_a_request_in_the_inbox_that_was_taken_up_is_not_quoted(root: Path, run: Run) -> None:
    (root / "inbox").mkdir()
    (root / "inbox" / "old.md").write_text("---\nstatus: done\n---\nWhat is my sister called?\n\n## Answer\n\nDunno.\n")
    (root / "inbox" / "thought.md").write_text("My sister needs a name for her boat\n")
    answer = str(run("ask", ASKED)["answer"])
    assert "Dunno" not in answer and "called?" not in answer
    assert "name for her boat" in answer


def test_thanks_make_no_entry(root: Path, run: Run) -> None:
    run("ask", "Thank you very much!")
    assert not (root / "entries").exists()


@pytest.mark.parametrize("took", ["- Took 1 s", "- Took 12 min", "- 用时 3 秒"])
def test_how_long_an_answer_took_is_no_memory(took: str) -> None:
    assert is_bare(f"# 21:00 - {ASKED}\n\n{took}\n- In [[sessions/2026/11/2026-11-26 {ASKED}]]")
    assert not is_bare(f"{took}, and the roof leaks")
