"""`vault-agent jobs tasks`: planned, listed, shown, done and cancelled by a person at the terminal."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent.app.open import open_workspace
from agent.schedule.task_progress import TaskProgress
from tests.stories.agents import document, furnish, tell
from tests.stories.agents import settings as machine
from tests.vaults import git, write


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return furnish(tmp_path, monkeypatch.setenv)


@pytest.fixture
def own(tmp_path: Path) -> dict[str, str]:
    return machine(tmp_path)


def test_a_task_is_planned_listed_done_and_remembered(root: Path, own: dict[str, str]) -> None:
    planned = document(root, own, "tasks", "add", "explore_topic", "Green tea", "--priority", "8")["task"]
    assert planned["status"] == "pending" and (root / planned["path"]).exists()
    again = document(root, own, "tasks", "add", "explore_topic", "green tea")
    assert not again["new"] and again["task"]["id"] == planned["id"], "one a day"
    document(root, own, "tasks", "add", "upkeep", "Tidy", "--due", "2h")
    waiting = document(root, own, "tasks", "list")["tasks"]
    assert [each["title"] for each in waiting] == ["Green tea", "Tidy"]
    assert waiting[1]["status"] == "scheduled" and waiting[1]["due"]
    ended = document(root, own, "tasks", "run", "green tea")
    assert ended["status"] == "completed" and not ended["with_model"] and len(ended["commits"]) == 1
    assert "Green tea in the morning." in (root / "research/Green tea.md").read_text("utf-8")
    (done,) = document(root, own, "tasks", "history")["tasks"]
    assert done["id"] == planned["id"] and done["path"].startswith("tasks/done/") and done["result"]
    assert "Green tea" in tell(root, own, "tasks", "show", "explore")


def test_a_task_that_was_begun_here_is_shown_in_progress_and_its_description_without_its_result(
    root: Path, own: dict[str, str]
) -> None:
    planned = document(root, own, "tasks", "add", "explore_topic", "Green tea", "--about", "Which one?")["task"]
    progress = TaskProgress.load(open_workspace(root).vault.records)
    progress.begin(planned["id"], datetime(2026, 11, 23, 9, tzinfo=UTC))
    assert "in progress" in tell(root, own, "tasks", "list")
    assert document(root, own, "tasks", "show", "green tea")["task"]["status"] == "in_progress"
    progress.end(planned["id"])
    note = root / planned["path"]
    note.write_text(note.read_text("utf-8") + "\n## Result\n\nIt is green.\n", "utf-8")
    assert document(root, own, "tasks", "show", "green tea")["task"]["description"] == "Which one?"


def test_undo_takes_back_what_a_task_wrote_and_not_that_it_is_over(root: Path, own: dict[str, str]) -> None:
    planned = document(root, own, "tasks", "add", "explore_topic", "Green tea")["task"]
    document(root, own, "tasks", "run", planned["id"])
    assert f"job:task/{planned['id']}" in git(root, "log", "-1", "--format=%B")
    tell(root, own, "undo", "--job", f"task/{planned['id']}")
    assert not (root / "research/Green tea.md").exists()
    assert not document(root, own, "tasks")["tasks"], "it is not done again"
    assert len(document(root, own, "tasks", "history")["tasks"]) == 1


def test_a_type_is_run_as_often_as_it_is_asked_for(root: Path, own: dict[str, str]) -> None:
    ids = {document(root, own, "tasks", "run", "upkeep")["id"] for _ in range(2)}
    assert len(ids) == 2
    assert "needs a topic" in tell_error(root, own, "tasks", "run", "explore_topic")


def test_a_cancelled_task_is_not_done(root: Path, own: dict[str, str]) -> None:
    document(root, own, "tasks", "add", "upkeep", "Tidy")
    tell(root, own, "tasks", "cancel", "tidy", "--reason", "no time")
    assert document(root, own, "tasks")["tasks"] == []
    (over,) = document(root, own, "tasks", "history")["tasks"]
    assert (over["status"], over["error"]) == ("cancelled", "no time")


def test_a_task_that_recurs_becomes_a_job_that_its_result_names(root: Path, own: dict[str, str]) -> None:
    document(root, own, "tasks", "add", "upkeep", "Look after it", "--every", "12h")
    ended = document(root, own, "tasks", "run", "look after it")
    assert ended["status"] == "completed"
    job = (root / "jobs/every-upkeep.md").read_text("utf-8")
    assert "every: 43200" in job and "task: upkeep" in job
    (over,) = document(root, own, "tasks", "history")["tasks"]
    assert "[[jobs/every-upkeep]]" in (root / over["path"]).read_text("utf-8")


def test_a_wrong_field_is_shown_with_what_helps(root: Path, own: dict[str, str]) -> None:
    write(root / "tasks/wrong.md", "---\ntype: task\ntask_type: upkep\n---\n")
    (problem,) = document(root, own, "tasks")["problems"]
    assert problem["key"] == "task_type" and "upkeep" in problem["hint"]
    assert "tasks/wrong.md is not done" in tell(root, own, "tasks")


@pytest.mark.parametrize(
    "words",
    [
        ("add", "nothing", "x"),
        ("add", "explore_topic", "x", "--target", "../AGENT"),
        ("add", "upkeep", "x", "--due", "someday"),
        ("add", "upkeep", "x", "--due", "every Friday at 5pm"),
        ("add", "upkeep", "x", "--every", "5s"),
        ("cancel", "nobody"),
        ("run", "nobody"),
    ],
)
def test_what_cannot_be_is_said(root: Path, own: dict[str, str], words: tuple[str, ...]) -> None:
    assert document(root, own, "tasks", *words, code=2)["error"]["hint"]
    assert not (root / "tasks").exists()


def tell_error(root: Path, own: dict[str, str], *words: str) -> str:
    return str(document(root, own, *words, code=2)["error"]["message"])
