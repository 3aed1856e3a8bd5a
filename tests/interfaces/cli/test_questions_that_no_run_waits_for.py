"""`vault-agent needs` also lists what tasks have asked, such as whether health may be noted."""

from pathlib import Path

import pytest

from tests.stories.agents import document, furnish
from tests.stories.agents import settings as machine


def test_a_question_of_a_task_is_listed_and_answered_and_the_task_goes_by_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, own = furnish(tmp_path, monkeypatch.setenv), machine(tmp_path)
    document(root, own, "remember", "I am allergic to peanuts")
    document(root, own, "tasks", "run", "upkeep")
    (asked,) = document(root, own, "questions")["questions"]
    assert "health" in asked["question"] and len(asked["options"]) == 2
    assert not (root / "profile/32-health-wellness.md").exists()
    assert document(root, own, "questions", "answer", asked["id"], "1")["goes_on"] == "later"
    assert document(root, own, "questions")["questions"] == []
    document(root, own, "tasks", "run", "upkeep")
    assert "peanuts" in (root / "profile/32-health-wellness.md").read_text("utf-8")
