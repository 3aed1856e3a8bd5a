"""What a job has to say goes through attention, apart from its outcome; silence says nothing."""

from datetime import timedelta
from pathlib import Path

import pytest

from agent.app.notice_ledger import open_ledger
from agent.attention.receipt import NoticeReceipt
from tests.jobs.town import Town, found, job


@pytest.fixture
def town(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Town:
    return found(tmp_path, monkeypatch.setenv)


def notices(town: Town) -> tuple[NoticeReceipt, ...]:
    return open_ledger(town.workspace).all()


def test_an_answer_for_a_channel_is_a_notice_and_the_history_names_it(town: Town) -> None:
    town.write("jobs/morning.md", job(channel="mail"))
    with town.daemon() as house:
        house.step()
        town.clock.pass_by(minutes=1)
        town.wait_for(house, "morning", "done")
        house.until(lambda: "Good morning." in town.daily(), "without a mailbox it is in the daily note")
    (told,) = notices(town)
    assert (told.raised.type, told.raised.channel, told.raised.lines) == ("job_answer", "mail", ("Good morning.",))
    assert told.proof.startswith("daily/2026-11-23.md ")
    (row,) = town.rows("morning")
    assert row.delivery == f"as notice {told.id[-6:].lower()}: vault-agent notices why {told.id[-6:].lower()}"


def test_quiet_hours_hold_the_message_and_not_the_job(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_AGENT_ATTENTION__QUIET", "22-10")
    town.write("jobs/morning.md", job('[{cron: "0 9 * * *"}, {change: {path: "plans/**"}}]', channel="mail"))
    with town.daemon() as house:
        house.step()
        town.clock.pass_by(minutes=1)
        town.wait_for(house, "morning", "done")
        house.for_a_while(2)
        (told,) = notices(town)
        assert (told.decision.decided, told.decision.rule) == ("held", "quiet")
        assert "Good morning." not in town.daily()
        town.clock.pass_by(hours=1)
        house.until(lambda: notices(town)[0].delivered_at is not None, "the quiet hours are over")
    assert "Good morning." in town.daily()
    (told,) = notices(town)
    assert told.delivered_at is not None and told.delivered_at - told.at >= timedelta(minutes=59)


def test_an_answer_at_the_hour_and_by_the_channel_that_its_person_named_is_not_held(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VAULT_AGENT_ATTENTION__QUIET", "22-10")
    monkeypatch.setenv("VAULT_AGENT_ATTENTION__DAILY", "0")
    town.write("jobs/morning.md", job(channel="mail"))
    with town.daemon() as house:
        house.step()
        town.clock.pass_by(minutes=1)
        town.wait_for(house, "morning", "done")
        house.until(lambda: "Good morning." in town.daily(), "it comes at once")


def test_a_reminder_is_a_notice_that_no_quiet_hours_hold(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_AGENT_ATTENTION__QUIET", "22-10")
    town.write("jobs/tea.md", job(text="Remind me to drink tea"))
    with town.daemon() as house:
        house.step()
        town.clock.pass_by(minutes=1)
        town.wait_for(house, "tea", "done")
        house.until(lambda: "Remind me to drink tea" in town.daily(), "it is told at its time, once")
    (told,) = notices(town)
    assert (told.raised.type, told.raised.channel, told.decision.rule) == ("reminder", "", "urgent")
    assert town.daily().count("Remind me to drink tea") == 1


def test_a_stopped_job_is_one_notice_and_a_silent_one_none(town: Town) -> None:
    town.says({"error": "permanent", "message": "on strike", "times": 3}, "", after="")
    town.write("jobs/often.md", job("{cron: '* * * * *'}", title="Often"))
    with town.daemon() as house:
        for number in range(1, 4):
            house.step()
            town.clock.pass_by(minutes=1)
            house.until(lambda n=number: len(town.outcomes("often")) == n, f"it has failed {number} times")  # type: ignore[misc]
        house.until(lambda: "Often is stopped after 3 failures" in town.daily(), "it is said")
    (told,) = notices(town)
    assert told.raised.type == "job_failed"
    assert any("on strike" in line for line in told.raised.lines)


def test_a_daemon_with_nothing_to_say_writes_nothing_about_it(town: Town) -> None:
    with town.daemon() as house:
        house.for_a_while(3)
        before = town.commits()
        town.clock.pass_by(hours=30)
        house.for_a_while(3)
        assert town.commits() == before
    assert open_ledger(town.workspace).all() == ()
