"""A task is a note that people read and change: what it may say, what is wrong in it, and what its end leaves."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agent.errors import BadPath
from agent.markdown.note import Note
from agent.schedule.job import Job
from agent.schedule.job_header import parse_job
from agent.schedule.procedures import target_name
from agent.schedule.recurring import job_of_task
from agent.schedule.task import Task, TaskProblem, parse_task
from agent.schedule.task_notes import (
    NewTask,
    PlannedTask,
    QueueFull,
    TaskEnd,
    archive_done,
    end_task,
    load_tasks,
    plan_task,
)
from agent.vault.change import Request, Stamp
from agent.vault.folders import AT_ROOT, AgentFolder
from agent.vault.store import Vault
from tests.fakes import FakeClock
from tests.vaults import git, make_vault, write

NOW = datetime(2026, 11, 23, 10, 0, tzinfo=UTC)
OWN = "---\ntype: task\ntask_type: upkeep\npriority: 8 # soon\nmood: calm\n---\n# Tidy up\n\nThe old things.\n"


def perform(vault: Vault, *requests: Request | None) -> None:
    with vault.transaction("tasks: a test", Stamp()) as change:
        change.requests += [each for each in requests if each is not None]


def add(vault: Vault, new: NewTask, now: datetime = NOW, *, most: int = 100, again: bool = False) -> PlannedTask:
    planned = plan_task(vault, new, load_tasks(vault), now, most, again=again)
    perform(vault, planned.request)
    return planned


def only(vault: Vault) -> Task:
    (task,) = load_tasks(vault).waiting
    return task


def test_a_person_writes_a_task_in_an_editor(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"tasks/tidy.md": OWN, "tasks/About tasks.md": "---\ntype: about\n---\n"})
    task = only(vault)
    assert (task.kind, task.title, task.description, task.priority, task.status) == (
        "upkeep",
        "Tidy up",
        "The old things.",
        8,
        "pending",
    )


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ("task_type: nothing", "task_type"),
        ("priority: 11", "priority"),
        ("status: sleeping", "status"),
        ("due: tomorrow", "due"),
        ("recurring: true", "recurrence_interval"),
        ("recurrence_interval: 5s", "recurrence_interval"),
        ("target_file: ../AGENT.md", "target_file"),
        ("dependencies: {a: b}", ""),
    ],
)
def test_a_wrong_field_is_named(line: str, key: str) -> None:
    kind = "" if line.startswith("task_type") else "task_type: explore_topic\n"
    found = parse_task("tasks/x.md", f"---\ntype: task\n{kind}{line}\n---\n".encode())
    if key:
        assert isinstance(found, TaskProblem)
        assert found.key == key
    else:
        assert isinstance(found, Task)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("tea", "research/tea.md"),
        ("research/tea.md", "research/tea.md"),
        ("Agent/research/tea.md", "research/tea.md"),
    ],
)
def test_a_target_may_be_named_shortly(text: str, name: str) -> None:
    assert target_name("explore_topic", text, AgentFolder("Agent/")) == name


@pytest.mark.parametrize("text", ["../x", "research/../AGENT.md", "journal/x.md", "/etc/passwd", ".git/config"])
def test_a_target_outside_its_folder_is_refused(text: str) -> None:
    with pytest.raises(BadPath):
        target_name("explore_topic", text, AT_ROOT)


def test_the_same_task_is_planned_once_a_day(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    new = NewTask("explore_topic", "Skills", target_file="research/skills.md")
    first, second = add(vault, new), add(vault, NewTask("explore_topic", "Other words", target_file=new.target_file))
    assert second.request is None and second.task.id == first.task.id
    assert add(vault, NewTask("explore_topic", "Tea")).request and add(vault, NewTask("explore_topic", "Rust")).request
    assert add(vault, new, NOW + timedelta(days=1)).request is not None
    assert len(load_tasks(vault).waiting) == 4


def test_what_was_done_today_is_not_planned_again_unless_it_is_asked_for(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    new = NewTask("upkeep", "Tidy")
    first = add(vault, new)
    perform(vault, *end_task(vault, first.task, TaskEnd("completed", NOW, "done"), "en"))
    assert add(vault, new).request is None
    again = add(vault, new, again=True)
    assert again.request is not None and again.task.id != first.task.id
    assert add(vault, new, again=True).task.id == again.task.id, "one that waits is not planned twice"


def test_no_more_than_so_many_wait(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    for topic in ("tea", "rust"):
        add(vault, NewTask("explore_topic", topic), most=2)
    with pytest.raises(QueueFull):
        add(vault, NewTask("explore_topic", "cats"), most=2)
    assert add(vault, NewTask("explore_topic", "tea"), most=2).request is None


def test_the_end_keeps_what_its_person_wrote(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"tasks/tidy.md": OWN})
    task = only(vault)
    end = TaskEnd("completed", NOW, "All is tidy.", NOW - timedelta(seconds=2), 2.5)
    perform(vault, *end_task(vault, task, end, "en"))
    after = (vault.place.root / "tasks/done/2026-11/tidy.md").read_text("utf-8")
    assert "priority: 8 # soon\nmood: calm\n" in after and after.endswith("# Tidy up\n\nThe old things.\n")
    header = Note.parse(after.encode()).header
    assert (header["status"], header["result"], header["execution_time_ms"]) == ("completed", "All is tidy.", 2500)
    assert not (vault.place.root / "tasks/tidy.md").exists()
    assert len(git(vault.place.root, "log", "--oneline").splitlines()) == 2
    (done,) = load_tasks(vault).done
    assert (done.id, done.result, done.completed_at) == (task.id, "All is tidy.", NOW)


def test_a_long_result_stands_in_the_body(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"tasks/tidy.md": OWN})
    perform(vault, *end_task(vault, only(vault), TaskEnd("completed", NOW, "One.\n\nTwo."), "zh"))
    note = Note.parse((vault.place.root / "tasks/done/2026-11/tidy.md").read_bytes())
    assert note.header["result"] == "One. Two."
    assert note.body.endswith("## 结果\n\nOne.\n\nTwo.\n")


def test_a_task_that_came_back_is_done_again(tmp_path: Path) -> None:
    """As the note about `tasks/done` says: moved back, with `status: pending`."""
    vault = make_vault(tmp_path, {"tasks/tidy.md": OWN})
    perform(vault, *end_task(vault, only(vault), TaskEnd("failed", NOW, "no power"), "en"))
    done = vault.place.root / "tasks/done/2026-11/tidy.md"
    write(vault.place.root / "tasks/tidy.md", done.read_text("utf-8").replace("status: failed", "status: pending"))
    done.unlink()
    task = only(vault)
    assert task.error == "no power"
    perform(vault, *end_task(vault, task, TaskEnd("completed", NOW, "well"), "en"))
    header = Note.parse(done.read_bytes()).header
    assert header["result"] == "well" and "error" not in header


def test_the_oldest_go_to_the_archive(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, clock=FakeClock())
    for day in range(4):
        planned = add(vault, NewTask("upkeep", "Tidy"), NOW + timedelta(days=day))
        end = TaskEnd("completed", NOW + timedelta(days=day), "ok")
        perform(vault, *end_task(vault, planned.task, end, "en"))
    perform(vault, *archive_done(vault, load_tasks(vault), 1))
    assert [each.name for each in load_tasks(vault).done] == ["2026-11-26-upkeep"]
    assert len(list((vault.place.root / "archive/tasks/done/2026-11").glob("*.md"))) == 3
    assert archive_done(vault, load_tasks(vault), 1) == ()


def test_a_task_that_recurs_becomes_a_job_once(tmp_path: Path) -> None:
    words = "---\ntype: task\ntask_type: upkeep\nrecurring: true\nrecurrence_interval: 1d\n---\n# Patterns\n"
    vault = make_vault(tmp_path, {"tasks/patterns.md": words})
    made = job_of_task(vault, only(vault), NOW)
    assert made is not None
    perform(vault, made)
    job = parse_job(made.path, made.data)
    assert isinstance(job, Job)
    assert (job.id, job.task, job.title, job.status) == ("every-patterns", "upkeep", "Patterns", "active")
    (first,) = job.next_occurrences(NOW, 1)
    assert first.at == NOW + timedelta(days=1)
    assert job_of_task(vault, only(vault), NOW) is None
