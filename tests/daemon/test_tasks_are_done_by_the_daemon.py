"""The daemon does the tasks in `tasks/`: in order, when they are due, while it is awake, and each once."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest

from agent.app.open import open_workspace
from agent.background.presence_files import give_order
from agent.growth.task_work import TaskEnded
from agent.markdown.note import Note
from agent.schedule.task_notes import load_tasks
from agent.schedule.task_progress import TaskProgress
from agent.vault.store import Vault
from tests.daemon.house import BRISK, House, living
from tests.daemon.process import environment, spawn, wait_for
from tests.remotes import shared_with_mallory
from tests.stories.agents import call, furnish, script, settings
from tests.vaults import git, git_beside, write


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A vault with no model."""
    for key, value in BRISK.items():
        monkeypatch.setenv(key, value)
    return furnish(tmp_path, monkeypatch.setenv)


def task(root: Path, name: str, kind: str = "cleanup", **header: object) -> Path:
    """Write a task as a person would in an editor."""
    rows = "".join(f"{key}: {value}\n" for key, value in header.items())
    path = root / f"tasks/{name}.md"
    write(path, f"---\ntype: task\ntask_type: {kind}\n{rows}---\n# {name}\n")
    return path


def over(root: Path, name: str) -> Note | None:
    """The note of a task that is over."""
    found = next(iter((root / "tasks/done").glob(f"*/{name}.md")), None)
    return None if found is None else Note.parse(found.read_bytes())


def ends(house: House) -> list[TaskEnded]:
    """What the daemon says of the tasks that it does."""
    said: list[TaskEnded] = []
    house.parts.tasks.on_end = said.append
    return said


def test_the_most_urgent_task_is_done_first_and_each_needs_what_it_names(root: Path) -> None:
    task(root, "last", priority=10, dependencies="[first]")
    task(root, "second", priority=3)
    task(root, "first", priority=9)
    with living(root) as house:
        said = ends(house)
        house.until(lambda: len(said) == 3, "all tasks are done")
    assert [each.task.name for each in said] == ["first", "last", "second"]
    assert not list((root / "tasks").glob("*.md"))
    assert all((note := over(root, name)) and note.header["status"] == "completed" for name in ("first", "last"))


def test_a_task_in_an_idle_day_is_at_most_two_commits(root: Path) -> None:
    with living(root) as house:
        house.commits_all()
        before = len(git(root, "log", "--oneline").splitlines())
        task(root, "tidy")
        house.until(lambda: over(root, "tidy") is not None, "the task is done")
        house.for_a_while(3)
        assert len(git(root, "log", "--oneline").splitlines()) <= before + 2
        assert not git(root, "status", "--porcelain")


def test_a_task_waits_until_it_is_due(root: Path) -> None:
    later = datetime.now().astimezone() + timedelta(hours=1)  # noqa: TID251 - the daemon's clock is the machine's
    task(root, "later", due=later.isoformat(timespec="seconds"))
    task(root, "now")
    with living(root) as house:
        house.until(lambda: over(root, "now") is not None, "the other one is done")
        house.for_a_while(2)
        assert over(root, "later") is None


def test_nothing_is_begun_while_the_agent_sleeps(root: Path) -> None:
    task(root, "tidy")
    with living(root) as house:
        give_order(house.workspace.vault, "sleep", "enough")
        house.for_a_while(3)
        assert over(root, "tidy") is None and house.parts.tasks.presence.sent_to_sleep
        give_order(house.workspace.vault, "wake", "go on")
        house.until(lambda: over(root, "tidy") is not None, "it is done once the agent is awake")


def test_what_a_person_cancels_in_an_editor_is_not_done(root: Path) -> None:
    with living(root) as house:
        give_order(house.workspace.vault, "sleep", "enough")
        house.until(lambda: house.parts.tasks.presence.sent_to_sleep is not None, "it sleeps")
        path = task(root, "tidy")
        house.for_a_while(4)
        assert over(root, "tidy") is None
        write(path, path.read_text("utf-8").replace("task_type", "status: cancelled\ntask_type"))
        house.until(lambda: over(root, "tidy") is not None, "it is put away")
    note = over(root, "tidy")
    assert note is not None and note.header["status"] == "cancelled" and "result" not in note.header


def test_a_wrong_field_is_said_and_the_others_are_done(root: Path) -> None:
    task(root, "wrong", priority=99)
    task(root, "right")
    with living(root) as house:
        house.until(lambda: over(root, "right") is not None, "the other one is done")
        house.until(lambda: "tasks/wrong.md" in house.parts.tasks.problem, "the wrong one is named")


def test_a_task_that_the_program_was_stopped_in_is_tried_once_more(root: Path) -> None:
    task(root, "tidy")
    vault = open_workspace(root).vault
    vault.commit_human()
    TaskProgress.load(vault.records).begin("tidy", vault.clock.now())
    with living(root) as house:
        house.until(lambda: over(root, "tidy") is not None, "it is done")
    note = over(root, "tidy")
    assert note is not None and note.header["status"] == "completed"
    assert not TaskProgress.load(vault.records).begun


def test_a_task_that_the_program_was_stopped_in_twice_has_failed(root: Path) -> None:
    task(root, "tidy")
    vault = open_workspace(root).vault
    for _ in range(2):
        TaskProgress.load(vault.records).begin("tidy", vault.clock.now())
    with living(root) as house:
        house.until(lambda: over(root, "tidy") is not None, "it is over")
    note = over(root, "tidy")
    assert note is not None and note.header["status"] == "failed"
    assert "stopped twice" in str(note.header["error"])


def test_a_daemon_that_ends_in_the_middle_leaves_the_task_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for key, value in BRISK.items():
        monkeypatch.setenv(key, value)
    said = script(tmp_path / "script.json", {"text": "- Well ([[tea]])", "seconds": 60.0})
    root = furnish(tmp_path, monkeypatch.setenv, said)
    path = task(root, "learn", "explore_topic")
    with living(root) as house:
        vault = house.workspace.vault
        house.until(lambda: "learn" in TaskProgress.load(vault.records).begun, "it is begun")
    assert path.exists() and not TaskProgress.load(vault.records).begun
    assert [each.status for each in load_tasks(vault).waiting] == ["pending"]


def test_a_task_whose_run_asks_waits_and_ends_after_the_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for key, value in BRISK.items():
        monkeypatch.setenv(key, value)
    said = script(tmp_path / "script.json", call("human_ask", question="For whom?"), "Dear Anna, the keys are with Bo.")
    root = furnish(tmp_path, monkeypatch.setenv, said)
    write(root / "keys.md", "# Keys\n\nThe keys are with Bo.\n")
    path = task(root, "letter", "draft")
    with living(root) as house:
        house.until(lambda: "in_progress" in path.read_text("utf-8"), "it waits for its person")
        assert "[[questions/" in path.read_text("utf-8")
        question = next((root / "questions").glob("*.md"))
        write(question, question.read_text("utf-8").rstrip() + "\n\nAnna\n")
        house.until(lambda: over(root, "letter") is not None, "it is over")
    (done,) = (root / "tasks/done").rglob("letter.md")
    assert "Dear Anna, the keys are with Bo." in done.read_text("utf-8")


def test_a_task_that_arrived_is_not_done_before_its_person_has_looked(root: Path, tmp_path: Path) -> None:
    shared = shared_with_mallory(root, tmp_path)
    shared.pushes({"tasks/theirs.md": "---\ntype: task\ntask_type: cleanup\n---\n# Theirs\n"})
    with living(root) as house:
        git_beside(root, "pull", "-q", "--ff-only")
        task(root, "mine")
        house.until(lambda: over(root, "mine") is not None, "the person's own is done")
        house.for_a_while(2)
        assert over(root, "theirs") is None and (root / "tasks/theirs.md").exists()


def test_a_task_that_another_machine_has_begun_is_not_begun_here(root: Path, tmp_path: Path) -> None:
    """Though what arrived in its note was not looked at here yet."""
    path = task(root, "tea")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "a task")
    shared = shared_with_mallory(root, tmp_path)
    shared.pushes({"tasks/tea.md": path.read_text("utf-8").replace("task_type", "status: in_progress\ntask_type")})
    vault = open_workspace(root).vault
    assert [each.may_begin for each in load_tasks(vault).waiting] == [True]
    git_beside(root, "pull", "-q", "--ff-only")
    assert b"in_progress" not in (vault.own_version("tasks/tea.md") or b"")
    assert [each.may_begin for each in load_tasks(vault).waiting] == [False]


def test_a_killed_daemon_leaves_a_task_that_is_done_at_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed for good in the middle of a run, once: done then; a second time: failed with the reason."""
    said = script(tmp_path / "script.json", {"text": "- Well ([[tea]])", "seconds": 60.0})
    own = {**BRISK, **settings(tmp_path, said)}
    for key, value in own.items():
        monkeypatch.setenv(key, value)
    root = furnish(tmp_path, monkeypatch.setenv, said)
    task(root, "learn", "explore_topic")
    vault = open_workspace(root).vault
    for tries in (1, 2):
        daemon = spawn(root, environment(tmp_path / "home", own))
        wait_for(daemon, lambda tries=tries: is_begun(vault, tries), "the task is begun")
        daemon.kill()
        daemon.communicate()
    assert (root / "tasks/learn.md").exists()
    with living(root) as house:
        house.until(lambda: over(root, "learn") is not None, "it is over")
    note = over(root, "learn")
    assert note is not None and note.header["status"] == "failed" and "twice" in str(note.header["error"])


def is_begun(vault: Vault, tries: int) -> bool:
    begun = TaskProgress.load(vault.records).begun.get("learn")
    return begun is not None and begun.tries == tries
