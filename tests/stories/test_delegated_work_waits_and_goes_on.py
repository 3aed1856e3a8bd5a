"""What a run has delegated waits for the same person, goes on with it, and is taken back with it."""

from pathlib import Path

import pytest

from tests.stories.agents import call, document, furnish, script, settings, tell
from tests.vaults import head

SUB = "tidy up the log"


def of_sub_run(reply: dict[str, object]) -> dict[str, object]:
    """A reply that the sub-run gets."""
    return {**reply, "task": SUB}


def test_an_approval_inside_a_sub_run_is_the_parents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = furnish(tmp_path, monkeypatch.setenv)
    replies = (
        call("delegate", task=SUB),
        of_sub_run(call("vault_append", path="log.md", text="- once")),
        of_sub_run(call("vault_edit", path="AGENT.md", old="Be brief.", new="Be kind.")),
        of_sub_run({"text": "The log is tidy."}),
        "It is done.",
    )
    own, before = settings(tmp_path, script(tmp_path / "script.json", *replies)), head(root)
    asked = document(root, own, "ask", "keep order")
    assert asked["outcome"] == "needs_approval"
    (listed,) = document(root, own, "approvals")["approvals"]
    assert listed["run"].startswith(f"{asked['run']}.") and listed["path"] == asked["waits_for"]
    ended = document(root, own, "approvals", "yes", listed["id"], "--go-on")
    assert ended["goes_on"] == "here" and ended["run_ended"]["answer"] == "It is done."
    assert (root / "log.md").read_text() == "- once\n", "the sub-run began anew"
    assert "Be kind." in (root / "AGENT.md").read_text()
    assert len(list((root / "sessions").rglob("*.md"))) == 2
    found = document(root, own, "status")["agent"]
    assert found["waiting"] == found["working"] == [] and found["approvals"] == 0
    tell(root, own, "undo", "--run", asked["run"])
    assert not (root / "log.md").exists() and "Be brief." in (root / "AGENT.md").read_text()
    assert before != head(root)


def test_a_question_inside_a_sub_run_is_the_parents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = furnish(tmp_path, monkeypatch.setenv)
    replies = (
        call("delegate", task=SUB),
        of_sub_run(call("human_ask", question="Which log?", options=["old", "new"])),
        of_sub_run({"text": "The new one is tidy."}),
        "It is done.",
    )
    own = settings(tmp_path, script(tmp_path / "script.json", *replies))
    asked = document(root, own, "ask", "keep order")
    assert asked["outcome"] == "question_asked"
    (question,) = document(root, own, "questions")["questions"]
    assert question["options"] == ["old", "new"]
    code = question["id"][-6:].lower()
    ended = document(root, own, "questions", "answer", code, "2", "--go-on")
    assert ended["answer"] == "new" and ended["run_ended"]["answer"] == "It is done."
    assert document(root, own, "questions")["questions"] == []


def test_what_a_sub_run_came_to_at_a_limit_is_given_to_its_parent_as_unfinished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = furnish(tmp_path, monkeypatch.setenv)
    again = of_sub_run(call("vault_read", path="gone.md"))
    ends = of_sub_run({"text": "There is no gone.md; the log is left."})
    replies = (call("delegate", task=SUB), *[again] * 4, ends, "It is half done.")
    found = document(root, settings(tmp_path, script(tmp_path / "s.json", *replies)), "ask", "keep order")
    assert (found["outcome"], found["answer"]) == ("finished", "It is half done.")
    session = (root / found["session"]).read_text()
    assert "→ done\n" in session and "UNFINISHED: the sub-run ended before it was done (limit)" in session
    assert "There is no gone.md; the log is left." in session
