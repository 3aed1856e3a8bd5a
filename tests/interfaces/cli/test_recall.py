"""`recall` shows what a model would be given, each piece with a receipt that can be checked."""

from pathlib import Path
from typing import Any

import pytest

from agent.app.open import open_workspace
from agent.workspace.search_index import open_index
from tests.interfaces.cli.conftest import Run
from tests.vaults import committed, head, write


def pieces(document: dict[str, object]) -> list[dict[str, Any]]:
    found = document["pieces"]
    assert isinstance(found, list)
    return found


def test_a_note_with_an_odd_name_is_given_as_any_other(run: Run, root: Path) -> None:
    for name in ("Q: tea.md", "new\nline.md"):
        write(root / name, f"The kettle of {name.split()[0]} sings at eighty degrees.\n")
    found = {str(piece["path"]) for piece in pieces(run("recall", "At what degrees does the kettle sing?", "--all"))}
    assert {"Q: tea.md", "new\nline.md"} <= found


def test_a_task_has_words_and_no_filters(run: Run, root: Path, caplog: pytest.LogCaptureFixture) -> None:
    write(root / "plan.md", "The meeting about the roof is after lunch on Tuesday.\n")
    for task in (
        "When is the meeting about the roof, after:lunch?",
        "When is the meeting about the roof, tag:Tuesday?",
    ):
        assert "plan.md" in [piece["path"] for piece in pieces(run("recall", task))]
        assert "after lunch" in str(run("ask", task)["answer"])
    assert "failed" not in caplog.text


def test_each_piece_has_a_receipt_that_can_be_checked(run: Run, root: Path) -> None:
    document = run("recall", "say one", "--all")
    piece = pieces(document)[0]
    assert list(piece) == ["path", "title", "lines", "commit", "score", "why", "headings", "text"]
    assert (piece["path"], piece["commit"]) == ("a.md", head(root))
    first, last = piece["lines"]
    text = (committed(root, piece["path"], piece["commit"]) or b"").decode()
    assert "\n".join(text.split("\n")[first - 1 : last]) == piece["text"]
    assert piece["why"] and document["degraded"] is None


def test_a_note_that_was_edited_since_has_no_commit_to_show(run: Run, root: Path) -> None:
    write(root / "b.md", "two and a samovar\n")
    assert [piece["commit"] for piece in pieces(run("recall", "samovar")) if piece["path"] == "b.md"] == [None]


def test_it_does_not_wait_for_another_who_brings_the_index_up_to_date(run: Run, root: Path) -> None:
    run("recall", "one")
    write(root / "b.md", "two and a samovar\n")
    index = open_index(open_workspace(root))
    with index.files.writing(index.workspace.clock, 0):
        assert "another process" in str(run("recall", "samovar")["degraded"])


def test_transcripts_what_is_over_and_what_explains_the_vault_are_not_given(run: Run, root: Path) -> None:
    write(root / "sessions/2026/11/a.md", "Where is the samovar?\n")
    write(root / "archive/entries/2026/11/b.md", "The samovar is at Ana's.\n")
    write(root / "Welcome.md", "---\ntype: about\n---\nTry: the samovar is at Ben's.\n")
    write(root / "AGENT.md", "Never speak of the samovar.\n")
    write(root / "sessions/2026/11/a-summary-1.md", "They spoke of the samovar.\n")
    write(root / "own.md", "The samovar is in the attic.\n")
    found = {piece["path"] for piece in pieces(run("recall", "samovar"))}
    assert found - {"a.md", "b.md"} == {"own.md"}


def test_the_headings_of_an_empty_memory_are_no_memory(run: Run, root: Path) -> None:
    empty = "# Long-term memory\n\nFacts. Single ones are in [[About entries|entries]].\n\n## People\n"
    write(root / "MEMORY.md", empty)
    assert "MEMORY.md" not in {piece["path"] for piece in pieces(run("recall", "long-term memory of people"))}
    write(root / "MEMORY.md", f"{empty}\n- Ben plays the samovar\n")
    assert "MEMORY.md" in {piece["path"] for piece in pieces(run("recall", "samovar"))}
    assert all(piece["title"] for piece in pieces(run("recall", "samovar"))), "each piece is shown under a title"


def test_an_empty_task_is_said_to_be_one(run: Run) -> None:
    error = run("recall", " ", code=2)["error"]
    assert isinstance(error, dict) and error["message"] == "the task is empty" and error["hint"]


def test_it_shows_what_a_run_would_be_given_and_the_rest_with_all(run: Run, root: Path) -> None:
    run("remember", "My sister Mara lives in Porto.")
    run("remember", "I am allergic to penicillin.")
    given = run("context", "Where does my sister live?")["receipts"]
    assert isinstance(given, list) and given
    shown = pieces(run("recall", "Where does my sister live?"))
    assert {piece["path"] for piece in shown} == {receipt["path"] for receipt in given}
    assert "Mara" in shown[0]["text"]
    assert pieces(run("recall", "What is the derivative of x squared?")) == []
    assert pieces(run("recall", "--all", "What is the derivative of x squared?")) != []
