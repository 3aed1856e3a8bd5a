"""A duty is heard: whatever is away at its time, a reminder reaches its person, late ones say so, and a job of once is
done or said not to be."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.attention.outbox import Outbox
from agent.attention.receipt import NoticeReceipt
from agent.background.jobs import worker
from agent.schedule.planner import Due, Planned, Planner
from tests.trust.duties import Kind, Year

QUARTER = 92
"""Days: four seeds are a year."""


@pytest.mark.parametrize(
    ("seed", "days"), [(20, 5), *(pytest.param(seed, QUARTER, marks=pytest.mark.chaos) for seed in range(101, 105))]
)
def test_no_duty_is_unheard_and_every_late_one_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, days: int
) -> None:
    year = Year(tmp_path, monkeypatch.setenv, seed)
    year.live(days, duties_a_day=2.0 if days >= QUARTER else 4.0)
    assert year.problems == []
    assert year.counts["late"] and year.counts["on time"] and year.counts["kill"]


def a_week_of(year: Year, days: int = 4) -> str:
    """What goes wrong in a week, or fewer days, in which channel, model and daemon are away; empty if nothing does."""
    year.boot()
    kinds: tuple[Kind, ...] = ("once", "daily", "job", "once")
    for kind in kinds:
        year.add(kind)
    year.fail("channel", 26)
    year.fail("model", 60)
    year.pass_time(24 * 60)
    year.stop()
    year.pass_time(30 * 60)
    year.boot()
    year.pass_time(days * 24 * 60)
    year.stop()
    year.check()
    return "\n".join(year.problems)


@pytest.mark.chaos
def test_a_week_without_a_planted_bug_is_heard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert a_week_of(Year(tmp_path, monkeypatch.setenv, seed=5)) == ""


@pytest.mark.chaos
def test_a_swallowed_error_of_a_channel_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def careless(self: Outbox, receipt: NoticeReceipt, *arguments: object) -> None:
        self.ledger.deliver(receipt.id, "not really")

    monkeypatch.setattr(Outbox, "_fail", careless)
    assert "unheard" in a_week_of(Year(tmp_path, monkeypatch.setenv, seed=5))


@pytest.mark.chaos
def test_late_ones_that_are_dropped_are_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    offer = Planner._take

    def careless(self: Planner, course, now, late) -> Iterator[Planned]:  # type: ignore[no-untyped-def]
        return (each for each in offer(self, course, now, late) if late is None or not isinstance(each, Due))

    monkeypatch.setattr(Planner, "_take", careless)
    assert "unheard" in a_week_of(Year(tmp_path, monkeypatch.setenv, seed=5))


@pytest.mark.chaos
def test_late_ones_without_a_word_are_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.attention.outbox.late_line", lambda *arguments: "")
    assert "does not say" in a_week_of(Year(tmp_path, monkeypatch.setenv, seed=5))


@pytest.mark.chaos
def test_a_reminder_that_asks_for_a_model_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def down(*arguments: object) -> object:
        raise OSError("the model is down")

    monkeypatch.setattr(worker, "reminder_of", down)
    assert "unheard" in a_week_of(Year(tmp_path, monkeypatch.setenv, seed=5), days=0)


@pytest.mark.chaos
def test_a_job_of_once_that_fails_in_silence_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.background.jobs.recording.not_done_requests", lambda *arguments: ())
    monkeypatch.setattr("agent.background.jobs.jobs_status.owed_jobs", lambda *arguments: ())
    assert "unheard" in a_week_of(Year(tmp_path, monkeypatch.setenv, seed=5))
