"""What was to be done once and was not is tried again by its history alone; a reminder is a property of its job."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agent.schedule.history import HistoryRow, Outcome
from agent.schedule.job import Job, JobProblem
from agent.schedule.job_header import parse_job
from agent.schedule.new_job import make_job
from agent.schedule.next_try import RetryTimes, next_try
from tests.schedule.plans import Plan, job_of
from tests.vaults import make_vault

NINE = datetime(2026, 11, 23, 9, 0, tzinfo=UTC)
"""A Monday."""
TIMES = RetryTimes((1, 5, 30), 8, 7)
ONCE = "on: {at: 2026-11-23 09:00}"


def failed(attempt: int, at: datetime = NINE, outcome: Outcome = "failed") -> HistoryRow:
    return HistoryRow(NINE, outcome, at, 2.0, "no", machine="vm", attempt=attempt)


def test_it_is_tried_after_one_five_and_thirty_minutes_then_each_morning_for_a_week() -> None:
    job, rows, ended, waits = job_of(ONCE), [failed(1)], NINE, list[str]()
    while (again := next_try(job, rows, ended, TIMES)) is not None:
        assert (again.planned, again.attempt) == (NINE, len(rows) + 1)
        waits.append(f"{again.at:%d %H:%M}")
        ended = again.at
        rows.append(failed(again.attempt, ended))
    assert waits == ["23 09:01", "23 09:06", "23 09:36", *(f"{day} 08:00" for day in range(24, 31))]


@pytest.mark.parametrize(
    ("header", "row", "again"),
    [
        (ONCE, failed(1, outcome="done"), ""),
        (ONCE, failed(1, outcome="waits"), ""),
        (ONCE, failed(1, outcome="skipped"), "23 09:01"),
        (ONCE, HistoryRow(NINE, "interrupted", NINE, 5.0), "23 09:01"),
        (ONCE, HistoryRow(NINE, "interrupted", NINE, 5.0, is_changed=True), ""),
        (ONCE, HistoryRow(NINE, "interrupted", NINE), ""),  # by a kill
        (ONCE, HistoryRow(NINE, "missed"), ""),  # a slip in a note
        (f"{ONCE}\ncreated: 2026-11-22T09:00:00Z", HistoryRow(NINE, "missed"), "23 09:01"),
        (f"{ONCE}\ncreated: 2026-11-22T09:00:00Z\ncatch_up: skip", HistoryRow(NINE, "missed"), ""),
        (f"{ONCE}\nretry: {{max: 1, backoff_seconds: 600}}", failed(1), "23 09:10"),
        (f"{ONCE}\nretry: {{max: 1, backoff_seconds: 600}}", failed(2), "24 08:00"),
        (f"{ONCE}\nactive_days: [2]", failed(1), "25 08:00"),
        ("on: {cron: '0 9 * * *'}", failed(1), ""),
    ],
)
def test_what_is_tried_again_and_when(header: str, row: HistoryRow, again: str) -> None:
    found = next_try(job_of(header), [row], NINE, TIMES)
    assert (f"{found.at:%d %H:%M}" if found else "") == again


def test_minutes_are_minutes_where_the_clock_is_changed() -> None:
    job = job_of("on: {at: 2026-10-25 02:45}\ntimezone: Europe/Berlin")
    ended = datetime(2026, 10, 25, 0, 45, tzinfo=UTC)
    found = next_try(job, [HistoryRow(ended, "failed", ended, attempt=3)], ended, TIMES)
    assert found is not None and found.at.timestamp() - ended.timestamp() == 1_800


@pytest.mark.parametrize(
    ("header", "body", "remind"),
    [
        ("", "Remind me to call Anna", True),
        ("", "Could you remind me to call Anna, please?", True),
        ("", "提醒我给安娜打电话", True),
        ("", "Time to leave for the dentist", False),
        ("remind: true", "Time to leave for the dentist", True),
        ("remind: true", "该出门看牙医了", True),
        ("remind: false", "Remind me to call Anna", False),
        ("", "Remind me what Anna said", False),
        ("task: cleanup", "Remind me to call Anna", False),
    ],
)
def test_a_reminder_is_a_property_and_its_words_are_only_the_default(header: str, body: str, remind: bool) -> None:
    job = job_of(f"{ONCE}\n{header}", body=body)
    assert (job.remind, job.only_wakes) == (remind, False)


def test_a_reminder_that_is_to_do_a_task_is_a_problem() -> None:
    found = parse_job("jobs/x.md", f"---\ntype: job\n{ONCE}\nremind: true\ntask: cleanup\n---\n".encode())
    assert isinstance(found, JobProblem) and found.key == "remind"
    wrong = parse_job("jobs/x.md", f"---\ntype: job\n{ONCE}\nremind: soon\n---\n".encode())
    assert isinstance(wrong, JobProblem) and wrong.key == "remind"


@pytest.mark.parametrize("text", ["Remind me to call Anna", "提醒我给安娜打电话"])
def test_a_new_job_of_such_words_keeps_the_property_when_its_words_change(tmp_path: Path, text: str) -> None:
    vault = make_vault(tmp_path, {})
    made = make_job(vault, "Call", text, {"on": {"at": datetime(2026, 12, 24, 9)}}, "static", NINE)
    assert made.job.remind and b"remind: true" in made.data
    changed = parse_job(made.job.path, made.data.replace(text.encode(), b"Anna's birthday"))
    assert isinstance(changed, Job) and changed.remind


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    return Plan(tmp_path, NINE - timedelta(hours=9))


REMINDER = job_of("on: {cron: '30 * * * *'}\nremind: true\ncatch_up: skip")


def test_a_reminder_is_late_and_never_left_out(plan: Plan) -> None:
    plan.set_jobs(REMINDER)
    plan.look()
    plan.sleep(hours=3)
    assert plan.look() == ["due 02:30 for 3"]
    plan.stop()
    plan.pass_time(2 * 3600)
    plan.start()
    assert plan.look() == ["due 04:30 for 2"]


def test_a_reminder_that_was_over_when_it_was_first_seen_is_due(plan: Plan) -> None:
    plan.set_jobs(job_of("on: {at: 2026-11-20 09:00}\nremind: true\ncatch_up: skip"))
    assert plan.look() == ["due 09:00"]
    assert plan.look() == []


@pytest.mark.parametrize(
    ("header", "found"),
    [
        ("created: 2026-11-20T09:00:00Z", "due 20:00"),
        ("created: 2026-11-22T21:00:00Z", "missed 20:00"),  # written after its time: a slip
        ("", "missed 20:00"),
        ("created: 2026-11-20T09:00:00Z\ncatch_up: skip", "missed 20:00"),
    ],
)
def test_a_job_of_once_that_was_made_in_time_is_made_up_for(plan: Plan, header: str, found: str) -> None:
    plan.set_jobs(job_of(f"on: {{at: 2026-11-22 20:00}}\n{header}"))
    assert plan.look() == [found]


def test_a_daily_reminder_that_was_made_without_a_daemon_counts_from_then(plan: Plan) -> None:
    plan.set_jobs(job_of("on: {cron: '0 20 * * *'}\nremind: true\ncreated: 2026-11-22T19:00:00Z"))
    assert plan.look() == ["due 20:00"]


def test_reminders_come_on_days_on_which_no_job_runs(tmp_path: Path) -> None:
    plan = Plan(tmp_path, NINE - timedelta(hours=9), days=(5, 6))
    plan.set_jobs(REMINDER, job_of("on: {cron: '15 * * * *'}", "other"))
    assert plan.run(2) == ["due 00:30", "due 01:30"]
