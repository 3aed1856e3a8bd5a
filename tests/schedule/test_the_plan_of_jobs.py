"""What is due, missed and left out: on time, after a stop, a sleep, a kill, an edit, and with a wrong clock."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agent.schedule.planner import Due, LeftOut
from agent.texts import translated
from tests.schedule.plans import Plan, job_of

MONDAY = datetime(2026, 11, 23, 0, 0, tzinfo=UTC)
HOURLY = job_of("on: {cron: '30 * * * *'}")
ONCE = job_of("on: {cron: '30 * * * *'}\ncatch_up: once")


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    return Plan(tmp_path, MONDAY)


def reasons(plan: Plan) -> set[str]:
    return {str(each.reason) for each in plan.planned if isinstance(each, LeftOut)}


def test_each_occurrence_is_due_once_when_its_time_has_come(plan: Plan) -> None:
    plan.set_jobs(HOURLY)
    assert plan.run(3) == ["due 00:30", "due 01:30", "due 02:30"]
    assert plan.look() == []


def test_nothing_before_a_job_was_first_seen_is_missed(plan: Plan) -> None:
    plan.set_jobs(HOURLY)
    assert plan.look() == []


def test_a_slow_tick_is_no_miss(plan: Plan) -> None:
    """A clock that runs 1,440 times as fast makes a second a day's third."""
    plan.set_jobs(HOURLY)
    plan.look()
    plan.pass_time(3 * 3600)
    assert plan.look() == ["due 00:30", "due 01:30", "due 02:30"]


def test_what_was_missed_while_the_daemon_was_off_is_one_row(plan: Plan) -> None:
    plan.set_jobs(HOURLY)
    plan.run(1)
    plan.stop()
    plan.pass_time(4 * 3600)
    plan.start()
    assert plan.look() == ["missed 01:30-04:30 4"]
    assert reasons(plan) == {"the daemon was off"}
    assert plan.run(1) == ["due 05:30"]
    plan.start()
    assert plan.look() == []


def test_the_latest_missed_one_runs_where_the_job_wants_it(plan: Plan) -> None:
    plan.set_jobs(ONCE)
    plan.run(1)
    plan.stop()
    plan.pass_time(4 * 3600)
    plan.start()
    assert plan.look() == ["due 04:30 for 4"]
    plan.start()
    assert plan.look() == []
    assert plan.ledger.has("night@2026-11-23T02:30:00Z")


def test_what_is_due_now_stands_for_the_missed_ones_too(plan: Plan) -> None:
    plan.set_jobs(ONCE)
    plan.stop()
    plan.pass_time(2 * 3600 + 1800 + 5)
    plan.start()
    assert plan.look() == ["due 02:30 for 3"]


def test_an_occurrence_in_the_minute_of_the_start_still_runs(plan: Plan) -> None:
    plan.set_jobs(HOURLY)
    plan.stop()
    plan.pass_time(1800 + 59)
    plan.start()
    assert plan.look() == ["due 00:30"]


def test_a_computer_that_slept_has_missed_what_was_due(plan: Plan) -> None:
    plan.set_jobs(HOURLY)
    plan.run(1)
    plan.sleep(5)
    assert plan.run(seconds=1) == ["missed 01:30-05:30 5"]
    assert reasons(plan) == {"the computer was asleep, or its clock was set forward"}
    assert translated(next(iter(plan.planned[-1:])).reason, "zh") == "电脑在睡眠，或时钟被调快了"  # type: ignore[union-attr]
    assert plan.run(1) == ["due 06:30"]


def test_a_clock_that_was_set_back_runs_nothing_twice_and_leaves_nothing_out(plan: Plan) -> None:
    plan.set_jobs(HOURLY)
    assert plan.run(3) == ["due 00:30", "due 01:30", "due 02:30"]
    plan.now -= timedelta(hours=2)
    assert plan.run(3) == ["due 03:30"]


def test_what_was_missed_in_a_wrong_future_still_comes(plan: Plan) -> None:
    plan.set_jobs(HOURLY)
    plan.run(1)
    plan.sleep(24 * 30)
    assert plan.run(seconds=1) == ["missed 01:30-00:30 720"]
    plan.now -= timedelta(days=30)
    assert plan.run(2) == ["due 01:30", "due 02:30"]


def test_a_clock_that_was_set_back_while_the_daemon_was_off(plan: Plan) -> None:
    plan.set_jobs(HOURLY)
    plan.run(3)
    plan.stop()
    plan.now -= timedelta(hours=2)
    plan.start()
    assert plan.run(3) == ["due 03:30"]


def test_what_was_held_is_not_lost_where_the_clock_was_set_back_before_the_start(tmp_path: Path) -> None:
    plan = Plan(tmp_path, MONDAY - timedelta(days=2), days=(0, 1, 2, 3, 4))
    plan.set_jobs(job_of("on: {cron: '0 */6 * * *'}"))
    assert plan.run(30, step=600) == []
    plan.stop()
    plan.now -= timedelta(hours=1)
    plan.start()
    assert plan.run(20, step=600) == ["skipped 06:00-18:00 7", "due 00:00"]


def test_a_job_that_was_added_in_a_wrong_future_runs_now(plan: Plan) -> None:
    plan.run(1)
    plan.now += timedelta(days=400)
    plan.look()
    plan.set_jobs(HOURLY)
    plan.look()
    plan.now -= timedelta(days=400)
    assert plan.run(1) == ["due 01:30"]
    plan.stop()
    plan.pass_time(2 * 3600)
    plan.start()
    assert plan.look() == ["missed 02:30-03:30 2"]


def test_small_corrections_of_the_clock_change_nothing(plan: Plan) -> None:
    plan.set_jobs(HOURLY)
    found = []
    for number in range(300):
        found += plan.run(seconds=40)
        plan.now += timedelta(seconds=-30 if number % 2 else 30)
        found += plan.look()
    assert found == ["due 00:30", "due 01:30", "due 02:30"]


@pytest.mark.parametrize("kill", ["before the run", "after it began"])
def test_a_kill_loses_nothing_and_repeats_nothing(plan: Plan, kill: str) -> None:
    plan.set_jobs(HOURLY)
    plan.run(seconds=1799)
    plan.decides = False
    plan.pass_time(10)
    assert plan.look() == ["due 00:30"]
    if kill == "after it began":
        plan.ledger.begin("night@2026-11-23T00:30:00Z", plan.now)
    plan.run(1.1)
    plan.start()
    plan.decides = True
    if kill == "after it began":
        assert plan.ledger.open() == ("night@2026-11-23T00:30:00Z",)
        assert plan.look() == ["missed 01:30"]
    else:
        assert plan.look() == ["missed 00:30-01:30 2"]


def test_a_report_that_nobody_wrote_down_comes_again_after_a_restart(plan: Plan) -> None:
    plan.set_jobs(HOURLY)
    plan.run(1)
    plan.sleep(5)
    plan.decides = False
    assert plan.look() == ["missed 01:30-05:30 5"]
    assert plan.run(seconds=300) == []
    plan.start()
    plan.decides = True
    assert plan.look() == ["missed 01:30-05:30 5"]
    plan.start()
    assert plan.look() == []


def test_what_waited_for_a_decision_is_reported_although_the_schedule_was_edited_meanwhile(plan: Plan) -> None:
    plan.set_jobs(HOURLY)
    plan.decides = False
    assert plan.run(1) == ["due 00:30"]
    plan.jobs = (job_of("on: {cron: '45 * * * *'}"),)
    plan.decides = True
    plan.start()
    assert plan.look() == ["missed 00:30"]
    plan.start()
    assert plan.run(1) == ["due 01:45"]


def test_an_edited_schedule_counts_from_the_edit(plan: Plan) -> None:
    plan.set_jobs(HOURLY)
    assert plan.run(1) == ["due 00:30"]
    plan.set_jobs(job_of("on: {cron: '*/20 * * * *'}"))
    assert plan.run(1) == ["due 01:20", "due 01:40", "due 02:00"]
    plan.set_jobs(job_of("on: {cron: '*/20 * * * *'}", body="Say something else."))
    assert [each.job.text for each in plan.planned if isinstance(each, Due)][-1] == "Say hello."
    plan.run(0.5)
    assert [each.job.text for each in plan.planned if isinstance(each, Due)][-1] == "Say something else."


def test_an_edit_of_the_words_alone_forgets_no_missed_one(plan: Plan) -> None:
    plan.set_jobs(HOURLY)
    plan.stop()
    plan.pass_time(2 * 3600)
    plan.jobs = (job_of("on: {cron: '30 * * * *'}\npriority: 9", body="Other words."),)
    plan.start()
    assert plan.look() == ["missed 00:30-01:30 2"]


def test_a_job_that_came_while_the_daemon_was_off_counts_from_the_start(plan: Plan) -> None:
    plan.stop()
    plan.pass_time(5 * 3600)
    plan.jobs = (HOURLY,)
    plan.start()
    assert plan.run(1) == ["due 05:30"]


def test_a_paused_job_that_is_resumed_does_not_run_its_past(plan: Plan) -> None:
    plan.set_jobs(HOURLY)
    plan.run(1)
    plan.set_jobs(job_of("on: {cron: '30 * * * *'}\nstatus: paused"))
    assert plan.run(3) == []
    plan.set_jobs(HOURLY)
    assert plan.run(1) == ["due 04:30"]


def test_a_deleted_job_is_due_no_more(plan: Plan) -> None:
    plan.set_jobs(HOURLY)
    plan.run(1)
    plan.set_jobs()
    assert plan.run(2) == []


def test_of_two_jobs_with_one_id_the_first_by_path_counts(plan: Plan) -> None:
    later, earlier = (job_of(f"id: night\non: {{cron: '{at} * * * *'}}", name) for at, name in ((50, "b"), (10, "a")))
    plan.set_jobs(later, earlier)
    assert plan.run(1) == ["due 00:10"]


def test_a_moment_that_is_over_when_its_note_is_first_seen_is_missed_once(plan: Plan) -> None:
    plan.run(12)
    moments = "on: {at: [2026-11-23 09:00, 2026-11-23 11:00, 2026-11-23 13:00]}"
    plan.set_jobs(job_of(moments))
    assert plan.look() == ["missed 09:00-11:00 2"]
    assert plan.run(2) == ["due 13:00"]
    plan.start()
    plan.set_jobs(job_of(moments.replace("13:00]", "13:00, 2026-11-23 18:00]")))
    assert plan.run(5) == ["due 18:00"]
    assert len(reasons(plan)) == 1


def test_a_moment_that_was_over_is_reported_although_a_kill_came_first(plan: Plan) -> None:
    plan.run(12)
    plan.set_jobs(job_of("on: {at: 2026-11-23 09:00}"))
    plan.decides = False
    assert plan.look() == ["missed 09:00"]
    assert plan.run(1) == []
    plan.start()
    plan.decides = True
    assert plan.look() == ["missed 09:00"]
    plan.start()
    assert plan.run(1) == []


def test_a_moment_that_passes_while_its_job_is_paused_is_not_silent(plan: Plan) -> None:
    plan.set_jobs(job_of("on: {at: 2026-11-23 09:00}\nstatus: paused"))
    assert plan.run(12) == []
    plan.set_jobs(job_of("on: {at: 2026-11-23 09:00}"))
    assert plan.look() == ["missed 09:00"]


def test_days_on_which_a_job_does_not_run_are_one_row(plan: Plan) -> None:
    """From Thursday noon to Monday noon, every six hours."""
    plan.run(84, step=600)
    plan.set_jobs(job_of("on: {cron: '0 */6 * * *'}\nactive_days: [0, 1, 2, 3, 4]"))
    found = plan.run(24 * 4, step=600)
    assert found == [*["due 18:00", "due 00:00", "due 06:00", "due 12:00", "due 18:00"],
                     "skipped 00:00-18:00 8", *["due 00:00", "due 06:00", "due 12:00"]]  # fmt: skip
    assert reasons(plan) == {"not one of its active days"}


def test_what_was_skipped_before_an_edit_is_reported_whatever_the_clock_does(plan: Plan) -> None:
    plan.run(24 * 5, step=3600)
    plan.set_jobs(job_of("on: {cron: '0 */6 * * *'}\nactive_days: [0, 1, 2, 3, 4]"))
    assert plan.run(20, step=600) == []
    plan.set_jobs(job_of("on: {cron: '30 3 * * *'}\nactive_days: [0, 1, 2, 3, 4]"))
    plan.now -= timedelta(hours=2)
    assert plan.look() == ["skipped 06:00-18:00 3"]


def test_the_setting_takes_days_away_too_and_a_restart_forgets_no_skip(tmp_path: Path) -> None:
    plan = Plan(tmp_path, MONDAY - timedelta(days=2), days=(0, 1, 2, 3, 4))
    plan.set_jobs(job_of("on: {cron: '0 */6 * * *'}"))
    assert plan.run(30, step=600) == []
    plan.stop()
    plan.start()
    assert plan.run(19, step=600) == ["skipped 06:00-18:00 7", "due 00:00"]


def test_a_missed_one_is_not_caught_up_on_a_day_on_which_the_job_does_not_run(plan: Plan) -> None:
    plan.run(24 * 4 + 20, step=600)  # Friday evening
    plan.set_jobs(job_of("on: {cron: '0 22 * * *'}\nactive_days: [4]\ncatch_up: once"))
    plan.stop()
    plan.pass_time(8 * 3600)
    plan.start()
    assert plan.look() == ["missed 22:00"]


@pytest.mark.parametrize("decided", [0, 1])
def test_a_kill_between_two_reports_about_one_stretch_loses_neither(plan: Plan, decided: int) -> None:
    """Three weeks off: days of work and weekends lie in turn, and each report spans days of the other."""
    plan.set_jobs(job_of("on: {cron: '0 6 * * *'}\nactive_days: [0, 1, 2, 3, 4]"))
    plan.look()
    plan.stop()
    plan.pass_time(21 * 86_400 + 60)
    plan.start()
    plan.decides = False
    reports = plan.look()
    assert reports == ["missed 06:00-06:00 15", "skipped 06:00-06:00 6"]
    report = plan.planned[decided]
    assert isinstance(report, LeftOut)
    plan.ledger.decide(report.last.key, report.outcome, plan.now)
    plan.start()
    assert plan.look() == [reports[1 - decided]]


def test_a_year_off_is_counted_without_a_list_of_it(plan: Plan) -> None:
    plan.set_jobs(job_of("on: {cron: '*/5 * * * *'}"), job_of("on: {every: 10m}", "steps"))
    plan.look()
    plan.stop()
    plan.pass_time(365 * 86_400)
    plan.start()
    assert plan.look() == ["missed 00:05-23:55 105119", "missed 00:10-23:50 52559", "due 00:00", "due 00:00"]


def test_the_more_urgent_of_two_comes_first(plan: Plan) -> None:
    plan.set_jobs(job_of("on: {cron: '30 0 * * *'}", "a"), job_of("on: {cron: '30 0 * * *'}\npriority: 8", "b"))
    plan.run(1)
    assert [each.job.id for each in plan.planned] == ["b", "a"]


def test_another_zone_of_the_machine_holds_at_once(plan: Plan) -> None:
    plan.zone = "Europe/Berlin"
    plan.start()
    plan.set_jobs(job_of("on: {cron: '0 9 * * *'}\ntimezone: ''"))
    assert plan.run(9) == ["due 09:00"]  # 08:00 UTC
    plan.zone = "America/New_York"
    assert plan.run(6) == ["due 09:00"]  # 14:00 UTC
    assert [each.occurrence.at.utcoffset() for each in plan.planned if isinstance(each, Due)] == [
        timedelta(hours=1),
        timedelta(hours=-5),
    ]


def test_damage_to_what_is_known_of_jobs_leads_to_too_many_rows_and_not_to_silence(plan: Plan) -> None:
    plan.set_jobs(HOURLY)
    plan.run(1)
    plan.stop()
    plan.planner.table.database.rows("UPDATE record SET value = '{' WHERE name = 'first-seen'")
    plan.pass_time(2 * 3600)
    plan.start()
    assert plan.look() == ["missed 01:30-02:30 2"]
