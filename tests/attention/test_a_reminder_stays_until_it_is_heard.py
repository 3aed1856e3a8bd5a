"""A reminder whose channel fails stands in the day's note, and its channel goes on trying; what is late says so."""

from datetime import timedelta
from pathlib import Path

import pytest

from agent.attention.outbox import REMINDED
from agent.errors import Permanent, Retryable
from agent.events.notices import REMINDER, NoticeRaised
from tests.attention.outboxes import NOON, Desk, a_notice, limits


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path, limits=limits(quiet="0-24", daily=0, least=1.0))


def reminder(id: str = "tea", title: str = "Drink tea") -> NoticeRaised:
    return NoticeRaised(REMINDER, 1.0, title, subject=f"{id} {id}", urgent=True, due=NOON.isoformat())


def test_no_rule_holds_or_drops_it(desk: Desk) -> None:
    desk.outbox.take(a_notice("Drink tea", urgent=True, priority=1.0))
    for id in ("tea", "again"):  # two that say the same, after a notice that does
        desk.outbox.take(reminder(id), id)
    desk.outbox.take(reminder("tea"), "tea")  # the same one, after a kill
    desk.turn()
    assert [each.title for each in desk.fake.shown] == ["Drink tea"] * 3


@pytest.mark.parametrize("error", [Retryable("the server is away"), Permanent("the password is wrong")])
def test_it_stands_in_the_daily_note_at_once_and_its_channel_goes_on(desk: Desk, error: Exception) -> None:
    desk.fake.answers = [error] * 12
    id = desk.outbox.take(reminder(), "tea").id
    desk.turn()
    (stands,) = desk.daily.shown
    assert str(error) in stands.text and "tried again" in stands.text
    desk.restart()
    for _ in range(11):
        desk.clock.advance(700)
        desk.turn()
    assert len(desk.daily.shown) == 1 and desk.fake.shown == []
    (waiting,) = desk.outbox.undelivered()
    assert (waiting.channel, waiting.stands_in) == ("fake", "proof 1")
    desk.clock.advance(700)
    desk.turn()
    (shown,) = desk.fake.shown
    assert "This comes late: it was for 2026-11-24 12:00." in shown.text
    receipt = desk.ledger.get(id)
    assert receipt is not None and receipt.proof.startswith("proof") and desk.outbox.undelivered() == ()


def test_after_a_week_the_daily_note_has_to_do(desk: Desk) -> None:
    desk.fake.answers = [Retryable("away")] * 9
    desk.outbox.take(reminder(), "tea")
    desk.turn()
    desk.clock.advance(REMINDED.total_seconds())
    desk.turn()
    assert desk.outbox.undelivered() == () and len(desk.daily.shown) == 1
    receipt = desk.ledger.get("tea")
    assert receipt is not None and receipt.proof == "proof 1"


def test_a_daily_note_that_fails_too_is_tried_with_the_channel(desk: Desk) -> None:
    desk.fake.answers, desk.daily.answers = [Retryable("away")] * 2, [OSError("full")]
    desk.outbox.take(reminder(), "tea")
    desk.turn()
    assert desk.daily.shown == []
    desk.clock.advance(10)
    desk.turn()
    assert len(desk.daily.shown) == 1


def test_a_channel_that_was_taken_out_leaves_it_to_the_daily_note(desk: Desk) -> None:
    desk.outbox.take(reminder(), "tea")
    desk.fake.name = "other"
    desk.turn()
    desk.turn()
    assert [each.title for each in desk.daily.shown] == ["Drink tea"] and desk.outbox.undelivered() == ()


@pytest.mark.parametrize(("minutes", "is_late"), [(0, False), (1.9, False), (2, True), (600, True)])
def test_only_what_is_late_says_so(desk: Desk, minutes: float, is_late: bool) -> None:
    desk.at(NOON + timedelta(minutes=minutes))
    desk.outbox.take(reminder(), "tea")
    desk.turn()
    assert ("late" in desk.fake.shown[0].text) is is_late
