"""The agent's state with a daemon: jobs and its person wake it, idleness lets it sleep; an idle day leaves nothing."""

import json
from pathlib import Path

import pytest

from agent.interfaces.cli.main import main
from tests.jobs.town import Town, found, job

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def town(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Town:
    return found(tmp_path, monkeypatch.setenv)


def state(town: Town, capsys: Captured) -> dict[str, object]:
    capsys.readouterr()
    assert main(["--vault", str(town.root), "--json", "status"]) == 0
    document = json.loads(capsys.readouterr().out)["schedule"]
    assert isinstance(document, dict)
    return document


def test_its_person_wakes_it_and_sends_it_to_sleep(town: Town, capsys: Captured) -> None:
    assert main(["--vault", str(town.root), "wake"]) == 2
    assert "no daemon runs here" in capsys.readouterr().err
    with town.daemon() as house:
        house.step()
        before = town.commits()
        assert state(town, capsys)["state"] == "sleeping"
        assert main(["--vault", str(town.root), "wake", "let", "us", "begin"]) == 0
        house.until(lambda: state(town, capsys)["state"] == "awake", "it is awake")
        assert state(town, capsys)["reason"] == "let us begin"
        assert main(["--vault", str(town.root), "sleep"]) == 0
        house.until(lambda: state(town, capsys)["state"] == "sleeping", "it sleeps")
        main(["--vault", str(town.root), "wake"])
        house.until(lambda: state(town, capsys)["state"] == "awake", "it is awake again")
        town.clock.pass_by(minutes=6)
        house.until(lambda: state(town, capsys)["state"] == "sleeping", "it is idle")
        house.for_a_while(1)
        assert town.commits() == before, "nothing was done"


def test_a_person_s_day_says_nothing_of_when_the_agent_was_awake(town: Town, capsys: Captured) -> None:
    town.write("jobs/briefing.md", job("[{cron: '0 9 * * *'}, {cron: '58 23 * * *'}]", title="Morning briefing"))
    day = town.root / f"daily/{town.clock.now().date()}.md"
    with town.daemon() as house:
        house.step()
        town.clock.pass_by(minutes=1)
        town.wait_for(house, "briefing", "done")
        town.clock.pass_by(hours=14, minutes=58)
        town.wait_for(house, "briefing", "done", "done")
        town.clock.pass_by(minutes=9)
        house.until(lambda: state(town, capsys)["state"] == "sleeping", "it sleeps")
        house.for_a_while(1)
    assert "awake" not in day.read_text("utf-8").casefold()


def test_an_idle_day_makes_no_commit_but_the_evenings_and_asks_no_model(town: Town) -> None:
    town.write("jobs/wake.md", job("{cron: '0 */2 * * *'}", text=""))
    town.write("jobs/check.md", job("{cron: '0 */2 * * *'}", text="", task="health_check"))
    with town.daemon() as house:
        house.commits_all()
        before = town.commits()
        for _ in range(48):
            town.clock.pass_by(minutes=30)
            house.step()
            house.until(lambda: not house.parts.jobs.runs, "nothing goes on")
        assert len(house.parts.jobs.ledger.decisions("check")) == 12
        assert town.commits() - before <= 1, "the rows of what found nothing are committed in the evening"
        assert set(town.outcomes("check")) == {"nothing"} and not town.rows("wake")
    assert not (town.folder / "home/state/spend").exists() or not list((town.folder / "home/state/spend").glob("*.tsv"))
