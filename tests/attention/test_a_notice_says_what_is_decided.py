"""A notice about what waits says what a yes would do: who reads it on a phone has no note at hand."""

from pathlib import Path

import pytest

from agent.app.notices import open_outbox
from agent.background.decision_notices import waiting_notices
from tests.jobs.town import Town, found, job
from tests.stories.agents import call


@pytest.fixture
def town(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Town:
    return found(tmp_path, monkeypatch.setenv)


def asked(town: Town, tool: str, **arguments: object) -> None:
    """A job that asks has run."""
    town.says(call(tool, **arguments))
    town.write("jobs/tea.md", job(title="Tea"))
    with town.daemon() as house:
        house.step()
        town.clock.pass_by(minutes=1)
        town.wait_for(house, "tea", "waits")


def test_a_notice_about_a_call_names_the_note_and_has_the_change(town: Town) -> None:
    lines = "".join(f"Rule {number}.\n" for number in range(60))
    asked(town, "vault_write", path="rules/tea.md", content=f"# Tea\n\nAlways green tea.\n{lines}")
    (notice,) = waiting_notices(town.workspace, set())
    assert notice.title == "May I change rules/tea.md?"
    assert "+Always green tea." in notice.lines and notice.lines[-1].startswith("[[approvals/")
    assert "more lines" in notice.lines[-2] and "Rule 59" not in "".join(notice.lines), "a mail stays short"
    outbox = open_outbox(town.workspace)
    told = outbox.message(outbox.take(notice))
    assert told.text.startswith("[[approvals/") and "green" not in told.text, "in the vault, the note has it all"


def test_a_long_question_is_told_whole(town: Town) -> None:
    question = "Which of the two flights shall I note for Porto, " * 4 + "or none?"
    asked(town, "human_ask", question=question)
    (notice,) = waiting_notices(town.workspace, set())
    assert len(notice.title) < len(question)
    assert notice.lines[0] == question and notice.lines[1].startswith("[[questions/")


def test_the_title_of_a_question_is_what_is_asked(town: Town) -> None:
    asked(town, "human_ask", question="Which day?", options=["Friday", "Sunday"], why="The note has two.")
    (notice,) = waiting_notices(town.workspace, set())
    assert notice.title == "I have a question: Which day?"
    assert "The note has two." in notice.lines[0] and notice.lines[1:3] == ("1. Friday", "2. Sunday")


def test_a_notice_about_a_job_asks_whether_it_may_run(town: Town) -> None:
    town.write("jobs/tea.md", job(title="Tea", approval_required="true"))
    with town.daemon() as house:
        house.step()
        town.clock.pass_by(minutes=1)
        town.wait_for(house, "tea", "waits")
    (notice,) = waiting_notices(town.workspace, set())
    assert notice.title.startswith("May the job ") and notice.title.endswith(")")
