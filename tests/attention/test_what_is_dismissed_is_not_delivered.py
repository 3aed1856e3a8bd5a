"""A notice that its person has dismissed before it came comes no more: neither later nor in a digest."""

from datetime import timedelta
from pathlib import Path

from tests.attention.outboxes import NOON, Desk, a_notice, limits


def test_a_held_notice_that_is_dismissed_is_not_sent_after_the_quiet_hours(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.at(NOON + timedelta(hours=11))
    held, other = desk.take(a_notice()), desk.take(a_notice("The cellar is wet", type="cellar"))
    desk.ledger.react(held, "dismissed")
    desk.restart()
    desk.at(NOON + timedelta(hours=21))
    desk.turn()
    assert [each.id for each in desk.ledger.all() if each.delivered_at is not None] == [other]


def test_one_that_waits_for_the_digest_is_left_out_of_it(tmp_path: Path) -> None:
    desk = Desk(tmp_path, limits=limits(least=0.9))
    waits, other = desk.take(a_notice()), desk.take(a_notice("The cellar is wet", type="cellar"))
    desk.ledger.react(waits, "dismissed")
    desk.at(NOON + timedelta(hours=21))
    desk.turn()
    (digest,) = [each for each in desk.ledger.all() if each.is_digest]
    assert digest.listed == (other,)


def test_one_that_was_called_not_helpful_comes_all_the_same(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.at(NOON + timedelta(hours=11))
    held = desk.take(a_notice())
    desk.ledger.react(held, "not_helpful")
    desk.at(NOON + timedelta(hours=21))
    desk.turn()
    receipt = desk.ledger.get(held)
    assert receipt is not None and receipt.delivered_at is not None
