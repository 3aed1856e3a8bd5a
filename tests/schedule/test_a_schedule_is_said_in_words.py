"""When a job runs, as a person reads it on the pages and in the terminal."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from agent.schedule.trigger_words import often_words, trigger_words
from agent.schedule.triggers import At, Cron, Every, RecurrenceRule

UTC = ZoneInfo("UTC")


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("30 7 * * *", "every day at 07:30"),
        ("0 9,17 * * mon-fri", "on weekdays (Monday to Friday) at 09:00, 17:00"),
        ("5 8 * * 0,6", "every Saturday, Sunday at 08:05"),
        ("0 6 1 * *", "on day 1 of each month at 06:00"),
        ("*/15 * * * *", "every 15 minutes"),
        ("7 * * * *", "every hour, at minute 07"),
        ("*/7 * * * *", "cron */7 * * * *"),
        ("0 6 1 * 1", "cron 0 6 1 * 1"),
        ("0 6 * 1 *", "cron 0 6 * 1 *"),
        ("0 6 * * 1#2", "on the second Monday of each month at 06:00"),
        ("0 6 * * 5L", "on the last Friday of each month at 06:00"),
        ("0 6 L * *", "on the last day of each month at 06:00"),
        ("0 6 LW * *", "on the last working day of each month at 06:00"),
        ("0 6 1,15 * *", "on days 1, 15 of each month at 06:00"),
        ("0 6 1 1,7 *", "every year on 1 January, 1 July at 06:00"),
        ("0 6 1,15 7 *", "on days 1, 15 of each month, only in July at 06:00"),
        ("0 6 * * 5-1", "cron 0 6 * * 5-1"),
        ("0 */4 * * *", "every 4 hours"),
        ("0 */5 * * *", "cron 0 */5 * * *"),
        ("30 */4 * * *", "cron 30 */4 * * *"),
    ],
)
def test_a_schedule_is_in_words_or_stays_as_it_is(written: str, words: str) -> None:
    assert trigger_words(Cron(written), UTC, "en") == words


@pytest.mark.parametrize(
    ("rule", "english", "chinese"),
    [
        ("FREQ=WEEKLY;INTERVAL=2;BYDAY=TU", "every 2 weeks on Tuesday at 09:30", "每 2 周的周二 09:30"),
        ("FREQ=DAILY;INTERVAL=3", "every 3 days at 09:30", "每 3 天 09:30"),
        ("FREQ=MONTHLY;INTERVAL=6;BYMONTHDAY=23", "every 6 months on day 23 at 09:30", "每 6 个月的 23 日 09:30"),
        (
            "FREQ=MONTHLY;BYMONTHDAY=28,29,30;BYSETPOS=-1",
            "on day 30 of each month (its last day, where it is shorter) at 09:30",
            "每月 30 日（没有这一天的月份在最后一天） 09:30",
        ),
        (
            "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=1",
            "on working day 1 of each month at 09:30",
            "每月第 1 个工作日 09:30",
        ),
    ],
)
def test_a_rule_is_in_words(rule: str, english: str, chinese: str) -> None:
    trigger = RecurrenceRule(f"DTSTART:20261201T093000 RRULE:{rule};BYHOUR=9;BYMINUTE=30;BYSECOND=0")
    assert [trigger_words(trigger, UTC, "en"), trigger_words(trigger, UTC, "zh")] == [english, chinese]


@pytest.mark.parametrize(
    "rule",
    [
        "FREQ=YEARLY;BYEASTER=0",
        "FREQ=MONTHLY;BYDAY=FR;BYSETPOS=1,2;BYHOUR=9;BYMINUTE=0",
        "FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13;BYHOUR=9;BYMINUTE=0",
        "FREQ=MONTHLY;BYMONTHDAY=28,29,30;BYSETPOS=1;BYHOUR=9;BYMINUTE=0",
        "FREQ=YEARLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=1;BYHOUR=9;BYMINUTE=0",
        "FREQ=MONTHLY;BYMONTHDAY=-1;BYHOUR=9;BYMINUTE=0",
    ],
)
def test_a_rule_of_another_form_stays_as_it_is(rule: str) -> None:
    assert trigger_words(RecurrenceRule(f"RRULE:{rule}"), UTC, "en") == f"rrule RRULE:{rule}"


def test_each_interval_has_words_in_both_languages() -> None:
    assert [trigger_words(Every(each), UTC, "en") for each in (60, 7_200, 86_400, 1_209_600, 90)] == [
        "every minute", "every 2 hours", "every day", "every 2 weeks", "every 90 seconds",
    ]  # fmt: skip
    assert trigger_words(Cron("30 7 * * 1"), UTC, "zh") == "每周一 07:30"
    assert trigger_words(Cron("30 7 * * 1,3"), UTC, "zh") == "每周一、周三 07:30"


def test_a_rate_is_said_in_times_a_day_or_a_week() -> None:
    said = {
        24.0: "about 24 times a day",
        1.0: "about once a day",
        5 / 7: "about 5 times a week",
        1 / 7: "about once a week",
    }
    assert {rate: often_words(rate, "en") for rate in said} == said
    assert often_words(0.05, "en") == "about 0.35 times a week" and often_words(1.0, "zh") == "大约每天一次"


def test_a_moment_is_said_in_the_zone_of_the_job() -> None:
    tokyo = ZoneInfo("Asia/Tokyo")
    assert trigger_words(At(datetime(2026, 12, 24, 9)), tokyo, "en") == "once, 2026-12-24 09:00"
    assert trigger_words(At(datetime(2026, 12, 24, tzinfo=UTC)), tokyo, "zh") == "一次，2026-12-24 09:00"
