"""The figures of memory: computed from what happened, with their targets, and `-` for what is not known."""

from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.events.bus import Bus, Handled, Injection, InjectionType
from agent.events.runs import (
    DaySummarised,
    MemoryCaptured,
    MemoryFlushed,
    MemoryRecalled,
    ToolCallFailed,
    ToolCompleted,
)
from agent.metrics.collect import Collector
from agent.metrics.families import PresentFigures
from agent.metrics.figures import MetricFigure, figures
from agent.metrics.names import BOUNDS, bucket_of, parse_durations
from agent.metrics.totals import HANDLER, MOST_NAMES, OTHERS, MetricTotals, load_day, load_totals
from tests.fakes import FakeClock
from tests.metrics.test_figures_add_up import ENDED, STARTED


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


def shown(totals: MetricTotals, facts: int | None = None) -> dict[str, MetricFigure]:
    return {each.name.strip(): each for each in figures(totals, PresentFigures(facts))}


def heard(folder: Path, clock: FakeClock, *events: object) -> dict[str, MetricFigure]:
    collector = Collector(folder, clock)
    for event in events:
        collector.hear(event)
    assert collector.save()
    return shown(load_totals(folder))


def test_what_was_never_counted_is_not_shown_as_none() -> None:
    found = shown(MetricTotals())
    assert {each.value for each in found.values()} == {None}
    assert {each.status for each in found.values()} == {""}


def test_recalls_are_measured_by_what_they_give_and_how_long_they_take(tmp_path: Path, clock: FakeClock) -> None:
    recalls = [
        MemoryRecalled("r", "s", found, "hybrid", "slow" if found == 1 else "", seconds)
        for found, seconds in ((2, 0.01), (0, 0.01), (1, 0.01), (0, 0.29))
    ]
    found = heard(tmp_path, clock, *recalls)
    assert (found["recalls"].value, found["in a reduced mode"].value) == (4, 1)
    assert (found["that gave something"].value, found["that gave something"].status) == (50, "below")
    assert 7 <= (found["time, median"].value or 0) <= 10
    late = found["time, 95th percentile"]
    assert 200 < (late.value or 0) <= 300 and late.status == "above"


def test_an_answer_counts_as_using_its_notes_when_it_used_one(tmp_path: Path, clock: FakeClock) -> None:
    given = replace(ENDED, given=("a.md", "b.md"))
    runs = [
        replace(given, used=("a.md",)),
        replace(given, used=()),
        given,  # not known
        replace(ENDED, used=()),  # was given nothing
        replace(given, outcome="failed", used=()),
    ]
    assert heard(tmp_path, clock, *runs)["used by the answer"].value == 50


def test_captured_entries_are_counted_by_what_became_of_them(tmp_path: Path, clock: FakeClock) -> None:
    found = heard(
        tmp_path,
        clock,
        MemoryCaptured("r", "s", 3, known=3, superseding=1, refused=4, tokens=60),
        MemoryCaptured("r", "s", 1),  # not counted in tokens
        MemoryFlushed("r", "s", 5, 1),
        DaySummarised("2026-11-21"),
    )
    assert (found["entries captured"].value, found["replacing an older one"].value) == (4, 1)
    assert (found["known already"].value, found["refused"].value) == (3, 4)
    assert found["share of both"].value == pytest.approx(100 * 3 / 7) and found["share of both"].status == "ok"
    assert (found["tokens each"].value, found["tokens each"].status) == (20, "ok")
    assert (found["saved before a compaction"].value, found["daily summaries"].value) == (5, 1)


def test_denied_calls_are_counted_apart_from_failed_ones(tmp_path: Path, clock: FakeClock) -> None:
    failed = ToolCallFailed("r", "s", "1", "web_fetch", 0.1, "no such page")
    found = heard(tmp_path, clock, failed, replace(failed, denied=True), ToolCompleted("r", "s", "2", "x", 0.1, 3))
    assert found["calls denied by the policy"].value == 1
    assert load_totals(tmp_path).failed == {"web_fetch": 2}


def test_handlers_are_timed_and_what_they_inject_is_counted(tmp_path: Path, clock: FakeClock) -> None:
    bus = Bus(clock)
    collector = Collector(tmp_path, clock, bus.counts)
    bus.observer = collector.handled

    def slow(event: object) -> list[Injection]:
        clock.advance(0.06)
        return [Injection("tea", "memories", type=InjectionType.MEMORY_RECALL), Injection("mind", "rules")]

    def fail(event: object) -> None:
        clock.advance(0.002)
        raise RuntimeError("no")

    bus.subscribe(slow, object, name="slow", timeout=None)
    bus.subscribe(fail, object, name="bad", timeout=None)
    bus.publish(STARTED)
    bus.publish(STARTED)
    bus.close()
    collector.save()
    totals = load_totals(tmp_path)
    assert {name: (each.count, round(each.seconds, 4)) for name, each in totals.handlers.items()} == {
        "slow": (2, 0.12),
        "bad": (2, 0.004),
    }
    assert totals.injected == {"memory_recall": 2, "suggestion": 2}
    slowest = shown(totals)["slowest hook, 95th percentile"]
    assert 50 < (slowest.value or 0) <= 70 and slowest.about == "slow"


def test_a_turn_asks_for_the_date_once_and_a_new_day_has_its_own_calls(tmp_path: Path) -> None:
    class Asked(FakeClock):
        times = 0

        def now(self) -> datetime:
            self.times += 1
            return super().now()

    clock = Asked()
    collector = Collector(tmp_path, clock)
    begun = clock.times
    for number in range(30):
        collector.handled(Handled(f"tick: {number}", 0.001))
    assert clock.times - begun <= 1
    clock.advance(24 * 3600)
    collector.handled(Handled("tick: 1", 0.001))
    collector.save()
    days = [load_day(tmp_path / f"2026-11-{day}.json") or {} for day in (21, 22)]
    assert [sum(name.startswith(HANDLER) for name in day) for day in days] == [30, 1]


def test_a_day_stays_small_whatever_tools_a_model_thinks_of(tmp_path: Path, clock: FakeClock) -> None:
    collector = Collector(tmp_path, clock)
    for number in range(5 * MOST_NAMES):
        collector.hear(ToolCallFailed("r", "s", "1", f"tool_{number}" + "x" * 500, 0.1, "no such tool"))
    collector.save()
    used = load_totals(tmp_path).used
    assert len(used) == MOST_NAMES + 1 and sum(used.values()) == 5 * MOST_NAMES
    assert used[OTHERS] == 4 * MOST_NAMES
    assert (tmp_path / "2026-11-21.json").stat().st_size < 40_000


@given(st.lists(st.floats(0.0011, 9.9), min_size=1), st.sampled_from([0.5, 0.95, 1.0]))
def test_a_quantile_is_in_the_bucket_of_the_true_one(times: list[float], share: float) -> None:
    counts: dict[str, float] = {}
    for seconds in times:
        counts[bucket_of(seconds)] = counts.get(bucket_of(seconds), 0) + 1
    true = sorted(times)[max(-(-int(share * 100) * len(times) // 100) - 1, 0)]
    found = parse_durations(counts).quantile(share)
    upper = next(bound for bound in BOUNDS if true <= bound)
    lower = max((bound for bound in BOUNDS if bound < true), default=0.0)
    assert found is not None and lower <= found <= upper * 1.000001


def test_a_duration_beyond_all_bounds_is_counted() -> None:
    durations = parse_durations({bucket_of(99.0): 1, "sum": 99.0})
    assert (durations.count, durations.seconds, durations.quantile(0.5)) == (1, 99.0, BOUNDS[-1])
