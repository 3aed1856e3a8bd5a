"""Maintenance whose time has come is done also by a clock that runs so fast that each look finds something due."""

from dataclasses import dataclass, field
from typing import cast

from agent.background.maintenance import KEY, LISTEN, STILL, Maintenance
from agent.background.pool import Pool, Priority
from agent.events.types import Tick
from agent.runs.upkeep_jobs import UpkeepJobs
from tests.fakes import FakeClock


@dataclass
class QuietDays:
    """Jobs of a vault whose day's log is always to be summed up."""

    summed: list[str] = field(default_factory=list)

    def has_silent_conversations(self) -> bool:
        return False

    def has_quiet_day(self) -> bool:
        return not self.summed

    def is_packing_due(self) -> bool:
        return False

    def sum_up(self) -> None:
        self.summed.append("today")


def test_what_is_found_due_at_each_look_is_not_put_off_by_it() -> None:
    clock, jobs = FakeClock(), QuietDays()
    pool = Pool(clock)
    maintenance = Maintenance(cast(UpkeepJobs, jobs), pool, clock, lambda: True)
    for _ in range(3):
        clock.advance(max(LISTEN, STILL) * 10)
        now = clock.monotonic()
        clock.advance(STILL)  # the turn of the daemon takes its time
        maintenance.tick(Tick(now))
        pool.submit(lambda cancelled: None, key=KEY, priority=Priority.MAINTENANCE).result(60)
    pool.close()
    assert jobs.summed == ["today"]
