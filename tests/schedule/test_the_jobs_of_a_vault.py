"""The jobs of a vault are its notes: by id, each once, and only as their person wrote or accepted them."""

from pathlib import Path

import pytest

from agent.clock import SystemClock
from agent.errors import UserError
from agent.schedule.shelf import JobShelf
from tests.remotes import shared_with_mallory
from tests.vaults import git, make_vault, write

JOB = '---\ntype: job\non: {cron: "30 2 * * *"}\n---\nSay hello.\n'
ABOUT = "---\ntype: about\n---\n# About jobs\n"


def with_id(id: str) -> str:
    return JOB.replace("type: job", f"type: job\nid: {id}")


def test_each_note_is_a_job_and_its_other_notes_are_none(tmp_path: Path) -> None:
    notes = {
        "jobs/night.md": JOB,
        "jobs/work/早.md": with_id("early"),
        "jobs/About jobs.md": ABOUT,
        "jobs/history/night.md": JOB,
        "jobs/templates/new.md": JOB,
        "other/night.md": JOB,
    }
    vault = make_vault(tmp_path, notes)
    write(vault.place.root / "jobs/new.md", JOB)  # that no commit has yet
    found = JobShelf(vault).load()
    assert [(job.id, job.path) for job in found.jobs] == [
        ("early", "jobs/work/早.md"),
        ("new", "jobs/new.md"),
        ("night", "jobs/night.md"),
    ]
    assert found.problems == () and found.waiting == ()


def test_a_wrong_field_and_a_second_note_of_one_id_are_problems_and_the_others_stay(tmp_path: Path) -> None:
    notes = {
        "jobs/a.md": with_id("Same"),
        "jobs/b.md": with_id("same"),
        "jobs/wrong.md": JOB.replace("30 2", "99 2"),
        "jobs/right.md": JOB,
        "jobs/right (copy).md": JOB.replace("type: job", 'type: job\nid: right\nconflict_of: "[[jobs/right]]"'),
    }
    found = JobShelf(make_vault(tmp_path, notes)).load()
    assert [job.id for job in found.jobs] == ["right"]
    assert [(each.path, each.key) for each in found.problems] == [
        ("jobs/a.md", "id"),
        ("jobs/b.md", "id"),
        ("jobs/wrong.md", "on"),
    ]


def test_a_job_is_found_by_the_names_that_people_use(tmp_path: Path) -> None:
    night = JOB.replace("type: job", "type: job\nid: night\ntitle: Good night")
    notes = {"jobs/n.md": night, "jobs/bad.md": "---\non: 5\n---\n"}
    shelf = JobShelf(make_vault(tmp_path, notes)).load()
    for name in ("night", "jobs/n.md", "jobs/n", "n", "good NIGHT"):
        assert shelf.find(name).id == "night"
    for name in ("jobs/bad.md", "nothing", ""):
        with pytest.raises(UserError):
            shelf.find(name)


def test_what_arrived_does_not_count_until_its_person_has_looked(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"jobs/night.md": JOB})
    mallory = shared_with_mallory(vault.place.root, tmp_path)
    secret = JOB.replace("hello", "the password")
    mallory.pushes({"jobs/evil.md": JOB, "jobs/night.md": secret, "jobs/About jobs.md": ABOUT})
    shelf = JobShelf(vault)
    assert [job.text for job in shelf.load().jobs] == ["Say hello."]
    git(vault.place.root, "pull", "-q", "--ff-only", "origin", "main")
    found = shelf.load()
    assert [(job.id, job.text) for job in found.jobs] == [("night", "Say hello.")]
    assert found.waiting == ("jobs/evil.md", "jobs/night.md")
    with pytest.raises(UserError, match="arrived"):
        found.find("evil")
    vault.provenance.has_seen("jobs/evil.md")
    assert [job.id for job in shelf.load().jobs] == ["evil", "night"]


@pytest.mark.chaos
def test_a_thousand_jobs_are_there_at_once(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {f"jobs/{number}.md": JOB for number in range(1_000)})
    clock, shelf = SystemClock(), JobShelf(vault)
    start = clock.monotonic()
    assert len(shelf.load().jobs) == 1_000
    first = clock.monotonic() - start
    start = clock.monotonic()
    assert len(shelf.load().jobs) == 1_000
    assert first < 2.0, (first, clock.monotonic() - start)
