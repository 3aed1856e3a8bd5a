"""A goal's note that says how often to look at it is a job, as long as it is open and its person has written it."""

import json
from contextlib import closing
from pathlib import Path

import pytest

from agent.interfaces.cli.main import main
from agent.runs.job_upkeep import job_shelf
from agent.schedule import shelf
from agent.schedule.shelf import GOAL_TYPE, GoalNotes
from agent.vault.change import Create, Stamp
from agent.vault.find import notes_with_line
from agent.vault.health.status import status
from agent.vault.store import Vault
from agent.workspace.index_status import index_state
from agent.workspace.search_index import open_index
from tests.jobs.town import Town, found
from tests.remotes import shared_with_mallory
from tests.vaults import git, write

GOAL = "---\ntype: goal\nreview: daily\ntimezone: UTC\n---\n# Run a marathon\n\n- [ ] run 10 km\n"
RUN = "goal-Run-a-marathon"


@pytest.fixture
def town(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Town:
    return found(tmp_path, monkeypatch.setenv)


def listed(town: Town, capsys: pytest.CaptureFixture[str]) -> list[tuple[str, str]]:
    """The jobs and where they come from, as the terminal has them."""
    capsys.readouterr()
    assert main(["--json", "--vault", str(town.root), "jobs", "list"]) == 0
    return [(each["id"], each["source"]) for each in json.loads(capsys.readouterr().out)["jobs"]]


def test_a_goal_runs_until_it_is_done(town: Town, capsys: pytest.CaptureFixture[str]) -> None:
    town.write("goals/Run a marathon.md", GOAL)
    ((id, source),) = listed(town, capsys)
    assert source == "goal"
    with town.daemon() as house:
        house.step()
        town.clock.pass_by(minutes=2)
        town.wait_for(house, id, "done")
        assert "Run a marathon" in town.daily() and "Good morning." in town.daily()
        write(town.root / "goals/Run a marathon.md", GOAL.replace("review:", "status: done\nreview:"))
        house.until(lambda: house.parts.jobs.shelf.jobs == (), "it is over")
    assert listed(town, capsys) == []


def test_a_new_goal_is_found_within_minutes(town: Town) -> None:
    with town.daemon() as house:
        house.step()
        write(town.root / "Learn Greek.md", GOAL.replace("Run a marathon", "Learn Greek"))
        house.for_a_while(1)
        town.clock.pass_by(minutes=6)
        house.until(lambda: len(house.parts.jobs.shelf.jobs) == 1, "it is a job")


def test_with_an_index_no_note_is_searched_for_goals(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    def searched(*_: object) -> list[str]:
        raise AssertionError("git has read every note")

    def found() -> list[str]:
        return sorted(each.path for each in job_shelf(town.workspace).load().jobs)

    town.write("goals/Run a marathon.md", GOAL)
    with closing(open_index(town.workspace)) as index:
        index.refresh()
    monkeypatch.setattr(shelf, "notes_with_line", searched)
    write(town.root / "Learn Greek.md", GOAL.replace("Run a marathon", "Learn Greek"))
    assert found() == ["Learn Greek.md", "goals/Run a marathon.md"], "also one that the index has yet to take in"
    monkeypatch.undo()
    with town.daemon() as house:
        house.catches_up()
        house.for_a_while(1)
        monkeypatch.setattr(shelf, "notes_with_line", searched)
        assert found() == ["Learn Greek.md", "goals/Run a marathon.md"]


def test_what_its_person_has_not_written_starts_nothing(town: Town, tmp_path: Path) -> None:
    with town.workspace.vault.transaction("a goal", Stamp("agent", tool="vault_write")) as change:
        change.requests.append(Create("made.md", GOAL.encode()))
    shelf = job_shelf(town.workspace).load()
    assert shelf.jobs == () and [each.path for each in shelf.problems] == ["made.md"]
    with town.daemon() as house:
        house.for_a_while(1)
        assert (town.root / "made.md").read_text("utf-8") == GOAL, "nothing is written into a note of its person's"
    mallory = shared_with_mallory(town.root, tmp_path)
    mallory.pushes({"evil.md": GOAL})
    git(town.root, "pull", "-q", "--ff-only", "origin", "main")
    assert (town.root / "evil.md").exists()
    assert job_shelf(town.workspace).load().jobs == ()


def test_the_index_knows_the_goals_that_git_would_find(town: Town) -> None:
    town.write("goals/Run a marathon.md", GOAL)
    town.write("tea.md", "---\ntype: note\nreview: weekly\n---\n# Tea\n")
    with closing(open_index(town.workspace)) as index:
        index.refresh()
    town.write("Learn Greek.md", GOAL.replace("Run a marathon", "Learn Greek"))
    state = index_state(town.workspace, lambda: status(town.workspace.vault).notes, GOAL_TYPE)
    assert state.of_type is not None and "tea.md" not in state.of_type
    by_index, by_git = job_shelf(town.workspace, state.of_type).load(), job_shelf(town.workspace).load()
    assert by_index == by_git and len(by_git.jobs) == 2


def test_git_looks_for_goals_when_the_index_knows_few_of_the_notes(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.workspace.index_status._FEW", 2)
    with closing(open_index(town.workspace)) as index:
        index.refresh()
    for number in range(3):
        town.write(f"{number}.md", GOAL.replace("Run a marathon", f"Goal {number}"))
    state = index_state(town.workspace, lambda: status(town.workspace.vault).notes, GOAL_TYPE)
    assert (state.of_type, state.outdated) == (None, 3)
    assert len(job_shelf(town.workspace, state.of_type).load().jobs) == 3


def test_a_daemon_has_git_look_for_goals_only_when_it_does_not_know_them(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched: list[str] = []

    def counted(vault: Vault, pattern: str) -> list[str]:
        searched.append(pattern)
        return notes_with_line(vault, pattern)

    monkeypatch.setattr(shelf, "notes_with_line", counted)
    town.write("goals/Run a marathon.md", GOAL)
    with town.daemon() as house:
        assert [each.id.startswith(RUN) for each in house.parts.jobs.shelf.jobs] == [True]
        assert searched == []
        write(town.root / "Learn Greek.md", GOAL.replace("Run a marathon", "Learn Greek"))
        write(town.root / "tea.md", "# Tea\n")
        house.for_a_while(1)
        town.clock.pass_by(minutes=6)
        house.until(lambda: len(house.parts.jobs.shelf.jobs) == 2, "the new one is found")
        (town.root / "Learn Greek.md").unlink()
        house.until(lambda: len(house.parts.jobs.shelf.jobs) == 1, "it is gone")


def test_goals_among_changed_notes_are_those_that_git_would_find(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    town.write("goals/Run a marathon.md", GOAL)
    few, many = GoalNotes(town.workspace.vault, "en"), GoalNotes(town.workspace.vault, "en")
    assert few.load() == many.load() and len(few.load()) == 1
    write(town.root / ".gitignore", "kept out.md\n")
    changed = {"kept out.md": GOAL, "goals/Learn Greek.md": GOAL, "tea.md": "# Tea\n", "odd.md": "a\n'review' : x\n"}
    for path, text in changed.items():
        write(town.root / path, text)
    (town.root / "goals/Run a marathon.md").rename(town.root / "moved.md")
    paths = [*changed, "moved.md", "goals/Run a marathon.md", "was never there.md"]
    assert few.changed(paths) and many.changed(paths)
    with monkeypatch.context() as without:
        without.setattr(shelf, "notes_with_line", None)
        by_reading = few.load()
    monkeypatch.setattr(shelf, "_MOST", 0)
    assert sorted(each.path for each in by_reading) == ["goals/Learn Greek.md", "moved.md"]
    assert many.load() == by_reading
