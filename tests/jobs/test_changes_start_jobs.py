"""A person's change in an editor starts a job; what the program or a job writes does not."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest

from agent.deeds.note_edits import BoxOnPage, tick_box
from tests.jobs.town import MovingClock, Town, found, job
from tests.vaults import git, write

TICKED = '{change: {path: "projects/**", task: ticked, quiet_seconds: 0.2}}'


@pytest.fixture
def town(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Town:
    town = found(tmp_path, monkeypatch.setenv, done=job(TICKED, "Say what comes next."))
    town.write("projects/boat.md", "# Boat\n\n- [ ] paint\n- [ ] sail\n")
    town.write("boat.md", "- [ ] other\n")
    return town


def test_a_task_ticked_in_an_editor_starts_a_run_that_knows_the_note(town: Town) -> None:
    with town.daemon() as house:
        house.step()
        write(town.root / "boat.md", "- [x] other\n")
        write(town.root / "projects/boat.md", "# Boat\n\n- [ ] paint\n- [ ] sail\n\nMore.\n")
        house.for_a_while(2)
        assert town.outcomes("done") == []
        write(town.root / "projects/boat.md", "# Boat\n\n- [x] paint\n- [ ] sail\n\nMore.\n")
        town.wait_for(house, "done", "done")
        session = town.root / town.rows("done")[0].session
        assert "[[projects/boat]]" in session.read_text("utf-8")


def test_a_task_ticked_in_a_page_starts_it_as_well(town: Town) -> None:
    with town.daemon() as house:
        house.step()
        vault = house.workspace.vault
        tick_box(vault, "boat.md", BoxOnPage("other", 0), done=True)
        tick_box(vault, "projects/boat.md", BoxOnPage("sail", 0), done=True)
        town.wait_for(house, "done", "done")
        house.for_a_while(1)
        assert "[[projects/boat]]" in (town.root / town.rows("done")[0].session).read_text("utf-8")
    said = git(town.root, "log", "-1", "--format=%an %s", "--grep=tick")
    assert said.strip().endswith("notes(tick): projects/boat.md")


def test_what_changes_right_after_a_run_is_one_more_run(town: Town) -> None:
    with town.daemon() as house:
        house.step()
        write(town.root / "projects/boat.md", "# Boat\n\n- [x] paint\n- [ ] sail\n")
        town.wait_for(house, "done", "done")
        write(town.root / "projects/boat.md", "# Boat\n\n- [x] paint\n- [x] sail\n")
        house.for_a_while(2)
        assert town.outcomes("done") == ["done"]
        write(town.root / "projects/car.md", "- [ ] wash\n")
        house.for_a_while(2)
        write(town.root / "projects/car.md", "- [x] wash\n")
        seen = lambda: any("projects/car.md" in each.paths for each in house.parts.jobs.runs)  # noqa: E731
        house.until(seen, "both are seen")
        town.clock.pass_by(minutes=1)
        house.until(lambda: town.outcomes("done")[1:] == ["done"], "all of it is one more run")
        text = (town.root / town.rows("done")[1].session).read_text("utf-8")
        assert "[[projects/boat]]" in text


def test_two_changes_of_one_second_are_two_runs(town: Town) -> None:
    town.clock = StandingClock()
    with town.daemon() as house:
        house.step()
        write(town.root / "projects/boat.md", "# Boat\n\n- [x] paint\n- [ ] sail\n")
        town.wait_for(house, "done", "done")
        write(town.root / "projects/boat.md", "# Boat\n\n- [x] paint\n- [x] sail\n")
        house.until(lambda: any(each.paths for each in house.parts.jobs.runs), "the second change is seen")
        town.clock.pass_by(minutes=2)
        town.wait_for(house, "done", "done", "done")


def test_a_note_that_waits_for_others_is_not_forgotten_by_a_restart(town: Town) -> None:
    both = '{change: {path: "projects/**", task: ticked, count: 2, quiet_seconds: 0.2}}'
    town.write("jobs/both.md", job(both, "Say what comes next."))
    with town.daemon() as house:
        house.step()
        write(town.root / "projects/boat.md", "# Boat\n\n- [x] paint\n- [ ] sail\n")
        town.wait_for(house, "done", "done")
    with town.daemon() as house:
        house.step()
        write(town.root / "projects/car.md", "- [ ] wash\n")
        house.for_a_while(2)
        assert town.outcomes("both") == []
        write(town.root / "projects/car.md", "- [x] wash\n")
        house.until(lambda: town.outcomes("both") == ["done"], "both notes start one run")
        text = (town.root / town.rows("both")[0].session).read_text("utf-8")
        assert "[[projects/boat]]" in text
        assert "[[projects/car]]" in text


class StandingClock(MovingClock):
    """The clock on the wall stands still but for what the test lets pass."""

    def now(self) -> datetime:
        return self.start + timedelta(seconds=self.ahead)
