"""A thousand jobs: a look costs little while nothing is due, and a start is quick. The bounds are generous."""

from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter

from tests.schedule.plans import Plan, job_of

ZONES = ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe")


def test_a_thousand_jobs(tmp_path: Path) -> None:
    jobs = [
        job_of(f"on: {{cron: '{number % 60} {number % 24} * * *'}}\ntimezone: {ZONES[number % 3]}", f"job{number}")
        for number in range(1_000)
    ]
    plan = Plan(tmp_path, datetime(2026, 3, 29, tzinfo=UTC))
    plan.set_jobs(*jobs)
    plan.look()
    looks = []
    for _ in range(200):
        plan.pass_time(1)
        begun = perf_counter()
        plan.planner.look(plan.now, plan.awake)
        looks.append(perf_counter() - begun)
    plan.stop()
    plan.pass_time(30 * 86_400)
    begun = perf_counter()
    plan.start()
    found = plan.planner.look(plan.now, plan.awake)
    start = perf_counter() - begun
    seen = f"a look {sorted(looks)[100] * 1000:.2f} ms, a start after a month {start:.2f} s"
    assert len(found) >= 1_000
    assert sorted(looks)[100] < 0.05, seen
    assert start < 10, seen
