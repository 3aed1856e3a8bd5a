"""The rules of alerts: what is a trouble, from when on, and when it is over."""

from datetime import UTC, date, datetime, timedelta

import pytest

from agent.metrics.alerts import (
    COMPACTIONS,
    FLUSH_KNOWN,
    FLUSH_SAVED,
    HANDLER_ERRORS,
    NODE_DENIED,
    Alert,
    Observed,
    RecentCount,
    alerts_of,
)

NOW = datetime(2026, 11, 21, 14, 0, tzinfo=UTC)


def ago(what: str, number: float = 1, about: str = "", **time: float) -> RecentCount:
    return RecentCount(NOW - timedelta(**time), what, about, number)


def test_three_failures_in_a_row_of_one_job_are_a_trouble() -> None:
    seen = Observed(NOW, job_failures={"brief": 3, "tidy": 2})
    assert alerts_of(seen) == (Alert("job_failures", "brief", 3),)


@pytest.mark.parametrize(
    ("errors", "is_alert"),
    [
        ([(11, 0)], True),
        ([(10, 0)], False),
        ([(6, 70), (6, 20)], True),
        ([(6, 90), (6, 20)], False),
        ([(11, 9 * 60)], True),
        ([(11, 10 * 60)], False),
    ],
    ids=["eleven", "ten", "within a minute", "over more than a minute", "nine minutes ago", "ten minutes ago"],
)
def test_more_than_ten_failures_in_a_minute_are_a_trouble_for_ten_minutes(
    errors: list[tuple[int, int]], is_alert: bool
) -> None:
    recent = [ago(HANDLER_ERRORS, number, "skills", seconds=seconds) for number, seconds in errors]
    found = alerts_of(Observed(NOW, recent))
    assert bool(found) == is_alert
    assert all(each.subject == "skills" and each.number > 10 for each in found)


def test_failures_of_two_handlers_are_not_added_up() -> None:
    recent = [ago(HANDLER_ERRORS, 8, "skills"), ago(HANDLER_ERRORS, 8, "flush")]
    assert alerts_of(Observed(NOW, recent)) == ()


@pytest.mark.parametrize(
    ("saved", "first", "is_alert"),
    [(None, date(2026, 11, 1), True), (3, date(2026, 11, 1), True), (30, date(2026, 11, 1), False),
     (None, date(2026, 11, 21), False), (None, None, False)],
    ids=["nothing", "saved within the day", "saved before", "counted for some hours", "never counted"],
)  # fmt: skip
def test_a_day_of_compactions_before_which_nothing_was_saved(
    saved: int | None, first: date | None, is_alert: bool
) -> None:
    recent = [ago(COMPACTIONS, 1, hours=20), ago(COMPACTIONS, 1, hours=1), ago(FLUSH_KNOWN, 4, hours=1)]
    if saved is not None:
        recent.append(ago(FLUSH_SAVED, 1, hours=30 - saved))
    found = alerts_of(Observed(NOW, recent, first))
    assert found == ((Alert("flush_saves_nothing", "", 2, 4),) if is_alert else ())


def test_a_day_without_compactions_is_no_trouble() -> None:
    assert alerts_of(Observed(NOW, [ago(COMPACTIONS, hours=25)], date(2026, 11, 1))) == ()


def test_a_node_host_may_be_away_for_five_minutes() -> None:
    assert alerts_of(Observed(NOW, away_since=NOW - timedelta(minutes=5))) == ()
    assert alerts_of(Observed(NOW, away_since=NOW - timedelta(minutes=6))) == (Alert("node_away", "", 6),)
    assert alerts_of(Observed(NOW)) == (), "there, or switched off"


def test_a_permission_is_a_trouble_when_it_is_denied_and_was_needed() -> None:
    called = [ago(NODE_DENIED, 1, "microphone", hours=2)]
    denied = {"microphone": "denied", "accessibility": "denied"}
    assert alerts_of(Observed(NOW, called, permissions=denied)) == (Alert("node_permission", "microphone", 1),)
    assert alerts_of(Observed(NOW, called, permissions={"microphone": "granted"})) == ()
    assert alerts_of(Observed(NOW, [ago(NODE_DENIED, 1, "microphone", hours=24)], permissions=denied)) == ()
