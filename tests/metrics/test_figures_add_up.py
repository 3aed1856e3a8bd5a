"""Figures: they add up over kills, days and processes, and a damaged file costs only itself."""

import dataclasses
import fcntl
import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from agent.events import runs, types
from agent.events.bus import Bus
from agent.events.runs import (
    ChatOrigin,
    ContextCompact,
    ContextRefreshed,
    IterationStarted,
    MemoryCaptured,
    MemoryFlushed,
    MemoryRecalled,
    Speaker,
    TaskCompleted,
    TaskStarted,
    ToolCallFailed,
    ToolCompleted,
)
from agent.events.types import DaemonStarted, FileChanged, Origin
from agent.metrics.collect import INTERVAL, Collector
from agent.metrics.names import NAMES
from agent.metrics.totals import MetricTotals, load_totals
from tests.fakes import FakeClock

ANNA = Speaker("cli")
STARTED = TaskStarted("r", "s", "tea?", ANNA)
ENDED = TaskCompleted("r", "s", "tea?", ANNA, "finished", "70 degrees", ("vault_read",), 2.5, 3, 1_000, 50)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def bus(clock: FakeClock) -> Iterator[Bus]:
    bus = Bus(clock)
    yield bus
    assert bus.close()


def test_a_run_is_counted_by_what_happened_in_it(tmp_path: Path, clock: FakeClock, bus: Bus) -> None:
    collector = Collector(tmp_path, clock, bus.counts)
    bus.subscribe(collector.hear, object, name="metrics", priority=-100)

    def fail(event: TaskStarted) -> None:
        raise RuntimeError("no")

    bus.subscribe(fail, TaskStarted, name="bad")
    bus.publish(STARTED)
    bus.publish(IterationStarted("r", "s", 1, "tea?"))
    bus.publish(ToolCompleted("r", "s", "1", "vault_read", 0.5, 100))
    bus.publish(ToolCallFailed("r", "s", "2", "web_fetch", 0.25, "no such page"))
    bus.publish(ContextCompact("r", "s", 4))
    bus.publish(MemoryFlushed("r", "s", 2, 1))
    bus.publish(ENDED)
    assert load_totals(tmp_path) == MetricTotals(
        events={
            "task.started": 1,
            "iteration.started": 1,
            "tool.completed": 1,
            "tool.failed": 1,
            "context.compact": 1,
            "memory.flush": 1,
            "task.completed": 1,
        },
        used={"vault_read": 1, "web_fetch": 1},
        failed={"web_fetch": 1},
        outcomes={"finished": 1},
        handler_errors={"bad": 1},
        input_tokens=1_000,
        output_tokens=50,
        flush_saved=2,
        flush_known=1,
    )


def test_the_files_hold_only_names_and_numbers(tmp_path: Path, clock: FakeClock) -> None:
    Collector(tmp_path, clock).hear(ENDED)
    said = json.loads((tmp_path / "2026-11-21.json").read_text())
    assert said["outcomes"] == {"finished": 1}
    assert "70 degrees" not in (tmp_path / "2026-11-21.json").read_text()


def test_what_memory_does_by_itself_is_counted_under_its_published_names(tmp_path: Path, clock: FakeClock) -> None:
    collector = Collector(tmp_path, clock)
    for found in (2, 0):
        collector.hear(MemoryRecalled("r", "s", found, "hybrid", "", 0.01))
    collector.hear(ContextRefreshed("r", "s", 4, 1))
    collector.hear(ENDED)
    collector.hear(MemoryCaptured("r", "s", 2))
    collector.hear(MemoryCaptured("r", "s", 0, problem="LockHeld: busy"))
    totals = load_totals(tmp_path)
    assert {name: number for name, number in totals.events.items() if name.startswith("proactive.")} == {
        "proactive.memory.recalled": 2,
        "proactive.memory.captured": 2,
        "proactive.context.refresh": 1,
    }
    assert (totals.recall_hits, totals.capture_problems) == (1, 1)


def test_every_event_has_a_name_of_its_own() -> None:
    plain = {Speaker, ChatOrigin}
    there = [
        each
        for module in (runs, types)
        for each in vars(module).values()
        if isinstance(each, type) and dataclasses.is_dataclass(each) and each.__module__ == module.__name__
    ]
    assert len(there) > 20
    assert [each.__name__ for each in there if each not in plain and each.__name__ not in NAMES] == []
    assert len(set(NAMES.values())) == len(NAMES)


def test_what_was_counted_under_another_name_before_is_the_same_figure(tmp_path: Path, clock: FakeClock) -> None:
    old = {"events": {"MemoryCaptured": 2, "proactive.memory.captured": 1, "Unheard": 3}, "used": {"TaskStarted": 1}}
    (tmp_path / "2026-11-20.json").write_text(json.dumps(old))
    Collector(tmp_path, clock).hear(MemoryCaptured("r", "s", 1))
    totals = load_totals(tmp_path)
    assert totals.events == {"proactive.memory.captured": 4, "Unheard": 3}
    assert totals.used == {"TaskStarted": 1}


def test_little_things_are_written_from_time_to_time(tmp_path: Path, clock: FakeClock) -> None:
    collector = Collector(tmp_path, clock)
    for _ in range(100):
        collector.hear(FileChanged("a.png", True, Origin.HUMAN))
    assert load_totals(tmp_path) == MetricTotals()
    clock.advance(INTERVAL)
    collector.hear(FileChanged("a.png", True, Origin.HUMAN))
    assert load_totals(tmp_path).events == {"file.changed": 101}
    collector.hear(DaemonStarted("/vault"))
    assert collector.save()
    assert load_totals(tmp_path).events == {"file.changed": 101, "daemon.started": 1}
    assert collector.save()
    assert load_totals(tmp_path).events == {"file.changed": 101, "daemon.started": 1}


def test_each_day_has_its_file_and_old_days_can_be_left_out(tmp_path: Path, clock: FakeClock) -> None:
    collector = Collector(tmp_path, clock)
    collector.hear(STARTED)
    clock.advance(86_400)
    collector.hear(ENDED)
    assert sorted(path.name for path in tmp_path.glob("*.json")) == ["2026-11-21.json", "2026-11-22.json"]
    assert load_totals(tmp_path).events == {"task.started": 1, "task.completed": 1}
    assert load_totals(tmp_path, date(2026, 11, 22)).events == {"task.completed": 1}


def test_several_processes_add_to_the_same_figures(tmp_path: Path, clock: FakeClock) -> None:
    one, other = Collector(tmp_path, clock), Collector(tmp_path, clock)
    for collector in (one, other, one, other):
        collector.hear(ENDED)
    assert load_totals(tmp_path).outcomes == {"finished": 4}


def test_while_another_process_writes_the_figures_wait(tmp_path: Path, clock: FakeClock) -> None:
    collector = Collector(tmp_path, clock)
    collector.hear(ENDED)
    with (tmp_path / "lock").open() as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        collector.hear(ENDED)
        assert not collector.save()
        assert load_totals(tmp_path).outcomes == {"finished": 1}
    assert collector.save()
    assert load_totals(tmp_path).outcomes == {"finished": 2}


@pytest.mark.parametrize(
    "damage",
    [b"", b"{", b"[1, 2]", b'{"events": 3}', b'{"events": {"a": "b"}}', b'{"events": {"a": NaN}}', b"\xff\xfe"],
)
def test_a_damaged_file_is_set_aside_and_counting_goes_on(tmp_path: Path, clock: FakeClock, damage: bytes) -> None:
    file = tmp_path / "2026-11-21.json"
    file.write_bytes(damage)
    assert load_totals(tmp_path).unreadable == 1
    collector = Collector(tmp_path, clock)
    collector.hear(ENDED)
    assert load_totals(tmp_path).outcomes == {"finished": 1}
    assert load_totals(tmp_path).unreadable == 1
    assert (tmp_path / "2026-11-21.json.damaged").read_bytes() == damage


def test_a_folder_that_cannot_be_written_stops_nobody(tmp_path: Path, clock: FakeClock) -> None:
    blocked = tmp_path / "figures"
    blocked.write_text("a file in the way")
    collector = Collector(blocked, clock)
    collector.hear(ENDED)
    assert not collector.save()
    blocked.unlink()
    assert collector.save()
    assert load_totals(blocked).outcomes == {"finished": 1}


def test_no_figures_yet_is_no_error(tmp_path: Path) -> None:
    assert load_totals(tmp_path / "nowhere") == MetricTotals()


_KILLED = """
import os, signal, sys
from pathlib import Path
from agent.clock import SystemClock
from agent.events.runs import Speaker, TaskCompleted
from agent.metrics.collect import Collector

collector = Collector(Path(sys.argv[1]), SystemClock())
ended = TaskCompleted("r", "s", "t", Speaker("cli"), "finished", "", (), 1.0, 1)
while True:
    collector.hear(ended)
    os.write(1, b".")
"""


def test_a_kill_loses_nothing_that_was_written_and_leaves_a_whole_file(tmp_path: Path) -> None:
    heard = 0
    for _ in range(5):
        process = subprocess.Popen([sys.executable, "-c", _KILLED, str(tmp_path)], stdout=subprocess.PIPE)
        assert process.stdout is not None
        dots = process.stdout.read(40)
        process.kill()
        heard += len(dots) + len(process.stdout.read())
        process.stdout.close()
        process.wait(30)
        totals = load_totals(tmp_path)
        assert totals.unreadable == 0
        assert heard <= totals.outcomes["finished"] <= heard + 5
