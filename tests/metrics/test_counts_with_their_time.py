"""The last day's counts: rates over minutes and hours, over kills and damage, in a file that stays small."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from agent.events.bus import Bus
from agent.events.runs import MemoryFlushed, NodeToolCalled
from agent.metrics.alerts import (
    COMPACTIONS,
    FLUSH_SAVED,
    HANDLER_ERRORS,
    KEPT,
    MOST,
    NODE_DENIED,
    RecentCount,
    add_recent,
    highest_rate,
    load_recent,
    total_of,
)
from agent.metrics.collect import Collector
from tests.fakes import FakeClock
from tests.metrics.test_figures_add_up import STARTED

MINUTE, DAY = timedelta(minutes=1), timedelta(hours=24)


def test_a_handler_that_fails_is_counted_with_its_name_and_time(tmp_path: Path) -> None:
    clock = FakeClock()
    bus = Bus(clock)

    def fail(event: object) -> None:
        raise RuntimeError("no")

    bus.subscribe(fail, object, name="bad", timeout=None)
    collector = Collector(tmp_path, clock, bus.counts)
    began = clock.now()
    for _ in range(3):
        bus.publish(STARTED)
    collector.save()
    clock.advance(120)
    bus.publish(STARTED)
    collector.save()
    bus.close()
    assert [(each.about, each.number) for each in load_recent(tmp_path)] == [("bad", 3), ("bad", 1)]
    assert highest_rate(load_recent(tmp_path), HANDLER_ERRORS, began - MINUTE, MINUTE) == 3
    assert highest_rate(load_recent(tmp_path), HANDLER_ERRORS, began, MINUTE) == 1, "what is older counts no more"


def test_compactions_and_what_they_saved_are_counted_over_a_day(tmp_path: Path) -> None:
    clock = FakeClock()
    collector = Collector(tmp_path, clock)
    collector.hear(MemoryFlushed("r", "s", 0, 2))
    clock.advance(12 * 3600)
    collector.hear(MemoryFlushed("r", "s", 1, 0))
    counts, since = load_recent(tmp_path), clock.now() - DAY
    assert (total_of(counts, COMPACTIONS, since), total_of(counts, FLUSH_SAVED, since)) == (2, 1)
    later = since + timedelta(hours=13)
    assert (total_of(counts, COMPACTIONS, later), total_of(counts, FLUSH_SAVED, later)) == (1, 1)


def test_a_call_that_a_permission_forbids_is_counted(tmp_path: Path) -> None:
    collector = Collector(tmp_path, FakeClock())
    called = NodeToolCalled("r", "audio_record", "denied", 0.1, "microphone")
    collector.hear(called)
    collector.hear(replace(called, status="ok", permission=""))
    assert [(each.what, each.about) for each in load_recent(tmp_path)] == [(NODE_DENIED, "microphone")]


def test_old_counts_go_and_the_file_stays_small(tmp_path: Path) -> None:
    clock = FakeClock()
    add_recent(tmp_path, [RecentCount(clock.now(), COMPACTIONS, "", 1)], clock.now())
    clock.advance(KEPT.total_seconds())
    fresh = [RecentCount(clock.now(), HANDLER_ERRORS, "x" * 80, 1)] * (2 * MOST)
    add_recent(tmp_path, fresh, clock.now())
    assert len(load_recent(tmp_path)) == MOST
    assert {each.what for each in load_recent(tmp_path)} == {HANDLER_ERRORS}
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 1_000_000


@pytest.mark.parametrize(
    "damage", [b"", b"{", b"3", b'[["x"]]', b'[["2026-11-21T10:00:00", "a", "", 1]]', b'[[1, "a"]]']
)
def test_a_damaged_file_holds_nothing_and_counting_goes_on(tmp_path: Path, damage: bytes) -> None:
    (tmp_path / "recent.list").write_bytes(damage)
    assert load_recent(tmp_path) == ()
    Collector(tmp_path, FakeClock()).hear(MemoryFlushed("r", "s", 1, 0))
    assert {each.what for each in load_recent(tmp_path)} >= {COMPACTIONS}


def test_a_collector_without_news_writes_nothing(tmp_path: Path) -> None:
    assert Collector(tmp_path / "none", FakeClock()).save()
    assert not (tmp_path / "none").exists()
