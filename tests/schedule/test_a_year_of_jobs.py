"""Forty jobs over a year of sleeps, stops, wrong clocks, edits and kills: none runs twice, none is silent."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agent.schedule.occurrences import zone_of
from tests.schedule.brute import ZoneMinutes, cron_minutes
from tests.schedule.year import CRONS, ZONES, World


def live(folder: Path, start: datetime, days: int, seed: int, kills: int) -> World:
    world = World(folder, start, days, seed, kills=kills)
    world.live()
    world.check()
    return world


@pytest.mark.parametrize(("month", "seed"), [(3, 1), (10, 2)])
def test_in_a_month_nothing_runs_twice_and_nothing_is_silent(tmp_path: Path, month: int, seed: int) -> None:
    """The months in which clocks change."""
    world = live(tmp_path, datetime(2026, month, 7, tzinfo=UTC), 30, seed, 17)
    assert world.problems == []
    assert world.counts["kill"] > 10
    assert min(world.counts[each] for each in ("run", "missed", "skipped", "set back")) > 0


@pytest.mark.chaos
@pytest.mark.parametrize("seed", range(3))
def test_in_a_year_nothing_runs_twice_and_nothing_is_silent(tmp_path: Path, seed: int) -> None:
    world = live(tmp_path, datetime(2026, 1, 1, tzinfo=UTC), 365, seed, 200)
    assert world.problems == []
    assert world.counts["kill"] > 150  # the others were to strike where nothing was written before the next stop
    assert world.counts["run"] > 5_000


@pytest.mark.parametrize("zone", ZONES)
def test_the_fast_list_of_what_ought_to_happen_equals_the_plain_one(zone: str) -> None:
    start = datetime(2026, 3, 28, 12, tzinfo=UTC)
    end = start + timedelta(days=9)
    fast = ZoneMinutes(zone_of(zone), start, end)
    for cron in CRONS:
        plain = [int(at.timestamp()) for at in cron_minutes(cron, zone_of(zone), start, end)]
        assert [at for at in fast.times(cron) if start.timestamp() < at <= end.timestamp()] == plain
