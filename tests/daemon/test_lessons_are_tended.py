"""The daemon tends lessons: what reflections say is proposed, a tick lets it in, and what is done by hand counts."""

from datetime import timedelta
from pathlib import Path

import pytest

from agent.app.open import open_workspace
from agent.asking.answers import pending_proposals
from agent.growth.lessons.lesson_note import load_lessons
from agent.growth.lessons.reflection import Reflection, Strategy
from agent.growth.lessons.reflection_notes import reflections_name, write_reflection
from agent.markdown.checkbox_decision import APPROVE
from tests.daemon.house import living
from tests.stories.agents import ticked
from tests.vaults import write

TEXT = "Read the note before you change it"


def reflect(root: Path) -> None:
    """Three days on which the agent found the same."""
    vault = open_workspace(root).vault
    for day in range(3):
        at = vault.clock.now().replace(microsecond=0) - timedelta(days=day + 1)
        said = Strategy(TEXT, "a note is changed", "nothing is lost", "medium")
        found = Reflection(reflections_name(at.date()), at, "task", (f"run-{day}",), (), "Well.", strategies=(said,),
                           heading=f"{at:%H:%M} A run")  # fmt: skip
        write_reflection(vault, found, "en")


def statuses(root: Path) -> list[str]:
    return [lesson.state for lesson in load_lessons(open_workspace(root).vault)]


def asked(root: Path) -> list[str]:
    return [each.path for each in pending_proposals(open_workspace(root).vault, "rule")]


@pytest.mark.usefixtures("root")
def test_a_lesson_is_proposed_let_in_and_deleted_by_hand(root: Path) -> None:
    with living(root) as house:
        reflect(root)
        house.until(lambda: len(asked(root)) == 1, "the rule is proposed")
        note = root / asked(root)[0]
        assert f"May I try this rule: a note is changed: {TEXT}" in note.read_text()
        write(note, ticked(note.read_text(), APPROVE))
        house.until(lambda: statuses(root) == ["probation"], "the rule is on probation")
        log = root / "lessons/log.md"
        house.until(lambda: log.exists() and "| probation | person |" in log.read_text(), "the log has it")
        (root / "lessons.md").unlink()
        house.until(lambda: "| deleted | person |" in log.read_text(), "the log has that it was deleted")


def test_growth_that_is_off_proposes_nothing(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_AGENT_GROWTH__ENABLED", "false")
    with living(root) as house:
        reflect(root)
        house.for_a_while(3)
        assert asked(root) == []
