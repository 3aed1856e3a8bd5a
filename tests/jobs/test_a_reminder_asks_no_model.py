"""A reminder comes at its hour whatever is away, without a model; a job of once that was not done is told and tried."""

import json
from pathlib import Path

import pytest

from agent.app.notice_ledger import open_ledger
from agent.interfaces.cli.main import main
from agent.schedule.ledger import OccurrenceLedger
from agent.schedule.occurrences import Occurrence
from tests.daemon.house import House
from tests.jobs.town import Town, found, job

ANNA, TEA = "Remind me to call Anna", "该喝茶了"
DOWN = {"error": "permanent", "message": "401: the key is wrong", "times": 0}
BUSY = {"error": "retryable", "message": "500: try later", "times": 0}
ONCE = "{at: 2026-11-23 09:00}"


@pytest.fixture
def town(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Town:
    return found(tmp_path, monkeypatch.setenv)


def hear(town: Town, house: House, words: str) -> None:
    house.until(lambda: words in town.daily(), f"the day's note says {words}")


def comes(town: Town, name: str, words: str) -> None:
    """A minute before its time a daemon starts, and the reminder comes without a run of a model."""
    with town.daemon() as house:
        house.step()
        town.clock.pass_by(minutes=1)
        hear(town, house, words)
        town.wait_for(house, name, "done")
    assert not list(town.root.glob("sessions/**/*.md")), "no model was asked"
    assert "late" not in town.daily() and "来晚了" not in town.daily()


@pytest.mark.parametrize(
    ("said", "settings", "text"),
    [
        (DOWN, {}, ANNA),
        (BUSY, {}, "提醒我给安娜打电话"),
        ({"text": "At last.", "seconds": 900.0}, {}, ANNA),
        ("Hello.", {"SPEND__DAILY": "0", "SPEND__DAILY_TOKENS": "0", "SPEND__JOBS": "0"}, ANNA),
        ("Hello.", {"LLM__WIRE": "auto", "LLM__PRESET": "openai", "LLM__SCRIPT": ""}, TEA),
        ("Hello.", {"LLM__WIRE": "auto", "LLM__SCRIPT": "", "LLM__BASE_URL": "http://127.0.0.1:9/v1"}, TEA),
        ("Hello.", {"ATTENTION__QUIET": "0-24", "ATTENTION__DAILY": "0", "ATTENTION__THRESHOLD": "1.0"}, TEA),
        ("Hello.", {"SCHEDULE__ACTIVE_DAYS": "5-6"}, TEA),
    ],
    ids=["401", "500", "hanging", "spend", "key", "server", "attention", "days"],
)
def test_it_comes_at_its_hour(
    town: Town, monkeypatch: pytest.MonkeyPatch, said: object, settings: dict[str, str], text: str
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    for key, value in settings.items():
        monkeypatch.setenv(f"VAULT_AGENT_{key}", value)
    town.says(said, after="error")
    town.write("jobs/once.md", job(ONCE, text, remind="true"))
    comes(town, "once", text)


def test_it_waits_for_no_job_that_hangs(town: Town) -> None:
    town.says({"text": "At last.", "seconds": 8.0}, after="Soon.")
    town.write("jobs/first.md", job("{cron: '59 8 * * *'}", "Think long."))
    town.write("jobs/second.md", job("{cron: '0 9 * * *'}", TEA, remind="true"))
    town.clock.pass_by(seconds=-30)
    with town.daemon() as house:
        house.step()
        town.clock.pass_by(seconds=30)
        house.until(lambda: any("job first" in key for key in house.working), "it runs")
        town.clock.pass_by(minutes=1)
        hear(town, house, TEA)
        assert any("job first" in key for key in house.working)


def test_what_failures_had_stopped_before_comes_again(town: Town) -> None:
    rows = "".join(f"- [planned:: 2026-11-{day}T09:00:00+00:00] [outcome:: failed]\n" for day in (20, 21, 22))
    town.write("jobs/history/pill.md", f"---\ntype: job_history\njob: pill\n---\n{rows}")
    town.write("jobs/pill.md", job(text="Remind me to take the pill"))
    with town.daemon() as house:
        house.step()
        town.clock.pass_by(minutes=1)
        hear(town, house, "Remind me to take the pill")


@pytest.mark.parametrize(("language", "late"), [("en", "This comes late: it was for"), ("zh", "这条来晚了：本来是")])
def test_one_that_was_made_without_a_daemon_is_late_and_says_so(
    town: Town, monkeypatch: pytest.MonkeyPatch, language: str, late: str
) -> None:
    monkeypatch.setenv("VAULT_AGENT_VAULT__LANGUAGE", language)
    town.write("jobs/tea.md", job("{at: 2026-11-23 07:00}", TEA, remind="true", catch_up="skip", channel="none"))
    with town.daemon() as house:
        hear(town, house, TEA)
        assert f"{late} 2026-11-23 07:00" in town.daily()
        town.wait_for(house, "tea", "done")
    with town.daemon() as house:  # a restart repeats nothing
        house.for_a_while(2)
    assert town.daily().count(TEA) == 1 and len(open_ledger(town.workspace).all()) == 1


def test_after_a_sleep_it_stands_for_all_that_it_slept_through(town: Town) -> None:
    town.write("jobs/drink.md", job("{cron: '0 * * * *'}", TEA, remind="true"))
    with town.daemon() as house:
        house.step()
        town.clock.sleep_for(hours=5)
        hear(town, house, "stands for all 5 times")
        assert "This comes late" in town.daily()


def test_a_kill_between_the_begin_and_the_notice_loses_none(town: Town) -> None:
    town.write("jobs/tea.md", job(ONCE, TEA, remind="true"))
    town.clock.pass_by(minutes=2)
    at = town.clock.start.replace(hour=9, minute=0)
    OccurrenceLedger(town.workspace.vault.records).begin(Occurrence("tea", at).key, town.clock.now())
    with town.daemon() as house:
        hear(town, house, TEA)
        town.wait_for(house, "tea", "done")


def test_a_job_of_once_that_fails_is_told_and_tried_again_also_after_a_restart(
    town: Town, capsys: pytest.CaptureFixture[str]
) -> None:
    town.says(DOWN)
    town.write("jobs/report.md", job(ONCE, "Sum up the week.", title="Report"))
    with town.daemon() as house:
        house.step()
        town.clock.pass_by(minutes=1)
        house.until(lambda: town.outcomes("report") == ["failed"], "it has failed")
        house.until(lambda: "It is tried again at 2026-11-23 09:01" in town.daily(), "the day's note tells it")
        assert "## Report (09:00)" in town.daily()
    assert main(["--vault", str(town.root), "--json", "status"]) == 0
    (owed,) = json.loads(capsys.readouterr().out)["schedule"]["owed"]
    assert (owed["job"], owed["outcome"]) == ("report", "failed") and owed["again"].startswith("2026-11-23T09:01")
    town.says("The week was quiet.", after="The week was quiet.")
    town.clock.pass_by(minutes=10)
    with town.daemon() as house:
        town.wait_for(house, "report", "failed", "done")
        hear(town, house, "The week was quiet.")
    assert [row.attempt for row in town.rows("report")] == [1, 2]
    assert "This comes late: it was for 2026-11-23 09:00" in town.daily()
    assert main(["--vault", str(town.root), "--json", "status"]) == 0
    assert json.loads(capsys.readouterr().out)["schedule"]["owed"] == []


def test_a_reminder_that_no_daemon_has_brought_is_in_status(town: Town, capsys: pytest.CaptureFixture[str]) -> None:
    town.write("jobs/tea.md", job("{at: 2020-11-23 08:00}", TEA, remind="true"))
    assert main(["--vault", str(town.root), "status"]) == 0
    assert "tea was due 2020-11-23 08:00 and is not done: it has not run yet" in capsys.readouterr().out
