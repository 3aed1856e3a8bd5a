"""The daemon brings what waits to the person: from other processes, from questions; and hears opinions."""

from collections.abc import Callable
from pathlib import Path

import pytest

from agent.app.notices import open_outbox
from agent.attention.receipt import NoticeReceipt
from agent.events.notices import NoticeRaised
from agent.memory import daily
from tests.jobs.town import Town, found, job


@pytest.fixture
def town(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Town:
    return found(tmp_path, monkeypatch.setenv)


def receipts(town: Town, kind: str) -> list[NoticeReceipt]:
    return [each for each in open_outbox(town.workspace).ledger.all() if each.raised.type == kind]


def is_there(town: Town, words: str) -> Callable[[], bool]:
    return lambda: words in town.daily()


def test_a_notice_that_another_process_has_noted_is_sent(town: Town) -> None:
    with town.daemon() as house:
        house.step()
        open_outbox(town.workspace).take(NoticeRaised("parcel", 0.8, "the parcel has come"))
        house.until(is_there(town, "the parcel has come"), "the daemon has sent it")
    (told,) = receipts(town, "parcel")
    assert told.proof and not told.may_have_arrived


def test_what_is_raised_in_the_daemon_while_it_is_quiet_comes_in_the_morning(town: Town) -> None:
    town.clock.pass_by(hours=14)  # 22:59
    with town.daemon() as house:
        house.step()
        house.live.bus.publish(NoticeRaised("parcel", 0.8, "the parcel has come"))
        house.for_a_while(1)
        (told,) = receipts(town, "parcel")
        assert told.decision.rule == "quiet"
        town.clock.pass_by(hours=9, minutes=2)
        house.until(is_there(town, "the parcel has come"), "it is morning")


def test_a_job_that_waits_for_a_yes_for_a_minute_is_said_once(town: Town) -> None:
    town.write("jobs/morning.md", job(approval_required="true"))
    with town.daemon() as house:
        house.step()
        town.clock.pass_by(minutes=1)
        town.wait_for(house, "morning", "waits")
        house.for_a_while(1)
        assert receipts(town, "approval") == []
        town.clock.pass_by(minutes=2)
        house.until(is_there(town, "May the job"), "it is said")
    with town.daemon() as house:
        town.clock.pass_by(minutes=40)
        house.for_a_while(2)
    (told,) = receipts(town, "approval")
    assert told.raised.decides.startswith("approvals/")


def test_notices_have_a_part_of_the_days_note_of_their_own(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_AGENT_ATTENTION__INTERVAL_MINUTES", "0")
    path = f"daily/{town.clock.now().date()}.md"
    town.write(path, "# Monday\n\n## Notices\n\n## Evening\n\nSoup.\n")
    with town.daemon() as house:
        house.step()
        for title in ("the parcel has come", "the roof leaks"):
            open_outbox(town.workspace).take(NoticeRaised("house", 1.0, title))
        house.until(is_there(town, "the roof leaks"), "both are in the day's note")
    part = town.daily().partition("## Notices\n")[2].partition("## Evening")[0]
    assert part.index("the parcel has come") < part.index("the roof leaks")
    assert town.daily().endswith("## Evening\n\nSoup.\n")
    assert daily.log(town.daily()) == (), "nobody has asked for a notice"
