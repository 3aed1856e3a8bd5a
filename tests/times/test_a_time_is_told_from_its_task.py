"""Times in plain words with a task around them: what is the time, what is the task, and what is asked back."""

from datetime import datetime, timedelta, timezone

import pytest

from agent.times.reading import Unclear, Understood
from agent.times.when import parse_when

MONDAY = datetime(2026, 11, 23, 10, 0, 20, tzinfo=timezone(timedelta(hours=1)))

EVERY_OTHER_DAY = "DTSTART:20261125T090000 RRULE:FREQ=DAILY;INTERVAL=2;BYHOUR=9;BYMINUTE=0;BYSECOND=0"
UNDERSTOOD = [
    ("工作日七点半给我简报", "cron 30 7 * * 1-5", "给我简报"),
    ("周一到周五 8:00 给我简报", "cron 0 8 * * 1-5", "给我简报"),
    ("周末早上九点给花浇水", "cron 0 9 * * 6,0", "给花浇水"),
    ("每天九点写工作日报", "cron 0 9 * * *", "写工作日报"),
    ("every day at 9 brief me", "cron 0 9 * * *", "brief me"),
    ("every day at 9am brief me", "cron 0 9 * * *", "brief me"),
    ("every day at 9:30 pm brief me", "cron 30 21 * * *", "brief me"),
    ("Every day at 21.15, brief me.", "cron 15 21 * * *", "brief me"),
    ("each day at noon tell me the news", "cron 0 12 * * *", "tell me the news"),
    ("every day at midnight tidy up", "cron 0 0 * * *", "tidy up"),
    ("daily at 07:45: weather", "cron 45 7 * * *", "weather"),
    ("every weekday at 9 brief me", "cron 0 9 * * 1-5", "brief me"),
    ("brief me every weekday at 9", "cron 0 9 * * 1-5", "brief me"),
    ("brief me at 9 every weekday", "cron 0 9 * * 1-5", "brief me"),
    ("at 9 every weekday, brief me", "cron 0 9 * * 1-5", "brief me"),
    ("every weekday brief me at 9", "cron 0 9 * * 1-5", "brief me"),
    ("on weekdays at 9 brief me", "cron 0 9 * * 1-5", "brief me"),
    ("every weekend at 10 plan a walk", "cron 0 10 * * 6,0", "plan a walk"),
    ("every Monday at 9 plan the week", "cron 0 9 * * 1", "plan the week"),
    ("on Mondays at 9 plan the week", "cron 0 9 * * 1", "plan the week"),
    ("every Mon, Wed and Fri at 18:00 ask how training went", "cron 0 18 * * 1,3,5", "ask how training went"),
    ("every Tuesday and Thursday at 8 am list the open tasks", "cron 0 8 * * 2,4", "list the open tasks"),
    ("every Sunday at 9 o'clock look back", "cron 0 9 * * 0", "look back"),
    ("every other day at 9 water the plants", f"rrule {EVERY_OTHER_DAY}", "water the plants"),
    ("every second day at 9 water the plants", f"rrule {EVERY_OTHER_DAY}", "water the plants"),
    ("every morning at 8 brief me", "cron 0 8 * * *", "brief me"),
    ("every evening at 8 sum up the day", "cron 0 20 * * *", "sum up the day"),
    ("every night at 11 sum up the day", "cron 0 23 * * *", "sum up the day"),
    ("every night at 2 tidy up", "cron 0 2 * * *", "tidy up"),
    ("every weekday morning at half past seven brief me", "cron 30 7 * * 1-5", "brief me"),
    ("every day at quarter to six in the evening check the mail", "cron 45 17 * * *", "check the mail"),
    ("at nine in the morning every day brief me", "cron 0 9 * * *", "brief me"),
    ("every 2 hours check the inbox", "every 7200", "check the inbox"),
    ("check the inbox every two hours", "every 7200", "check the inbox"),
    ("every hour check the inbox", "every 3600", "check the inbox"),
    ("hourly check the inbox", "every 3600", "check the inbox"),
    ("every 30 minutes check the inbox", "every 1800", "check the inbox"),
    ("every half hour check the inbox", "every 1800", "check the inbox"),
    ("every 90 seconds look", "every 90", "look"),
    ("on the first of each month at 9 pay the rent", "cron 0 9 1 * *", "pay the rent"),
    ("on the 15th of every month at 18:00 pay the rent", "cron 0 18 15 * *", "pay the rent"),
    ("every month on the 1st at 9 pay the rent", "cron 0 9 1 * *", "pay the rent"),
    ("on the last day of each month at 5pm close the books", "cron 0 17 L * *", "close the books"),
    ("tomorrow at 8 call Anna", "at 2026-11-24 08:00:00", "call Anna"),
    ("call Anna tomorrow at 8", "at 2026-11-24 08:00:00", "call Anna"),
    ("remind me tomorrow at 8 to call Anna", "at 2026-11-24 08:00:00", "remind me to call Anna"),
    ("remind me to call Anna tomorrow at 8", "at 2026-11-24 08:00:00", "remind me to call Anna"),
    ("remind me tomorrow to call Anna at 9", "at 2026-11-24 09:00:00", "remind me to call Anna"),
    ("tomorrow evening at 7 call Anna", "at 2026-11-24 19:00:00", "call Anna"),
    ("today at 18:00 call Anna", "at 2026-11-23 18:00:00", "call Anna"),
    ("tonight at 9 call Anna", "at 2026-11-23 21:00:00", "call Anna"),
    ("at 9pm call Anna", "at 2026-11-23 21:00:00", "call Anna"),
    ("at 08:00 call Anna", "at 2026-11-24 08:00:00", "call Anna"),
    ("on Friday at 5pm send the report", "at 2026-11-27 17:00:00", "send the report"),
    ("this Friday at 5pm send the report", "at 2026-11-27 17:00:00", "send the report"),
    ("next Friday at 5pm send the report", "at 2026-12-04 17:00:00", "send the report"),
    ("Friday at 5pm send the report", "at 2026-11-27 17:00:00", "send the report"),
    ("on Monday at 9 send the report", "at 2026-11-30 09:00:00", "send the report"),
    ("on 24 December at 9 wish me well", "at 2026-12-24 09:00:00", "wish me well"),
    ("on December 24th at 9 wish me well", "at 2026-12-24 09:00:00", "wish me well"),
    ("on the 3rd of March 2027 at 9 wish me well", "at 2027-03-03 09:00:00", "wish me well"),
    ("on 1 Jan at 9 wish me well", "at 2027-01-01 09:00:00", "wish me well"),
    ("on 2026-12-24 at 09:00 wish me well", "at 2026-12-24 09:00:00", "wish me well"),
    ("in 20 minutes check the oven", "at 2026-11-23 10:20:20+01:00", "check the oven"),
    ("check the oven in twenty minutes", "at 2026-11-23 10:20:20+01:00", "check the oven"),
    ("in an hour check the oven", "at 2026-11-23 11:00:20+01:00", "check the oven"),
    ("in half an hour check the oven", "at 2026-11-23 10:30:20+01:00", "check the oven"),
    ("in 2 days ask again", "at 2026-11-25 10:00:20", "ask again"),
    ("every day at 9 tell me what is on today", "cron 0 9 * * *", "tell me what is on today"),
    ("every Friday at 17:00 plan next Monday", "cron 0 17 * * 5", "plan next Monday"),
    ("每天早上九点给我简报", "cron 0 9 * * *", "给我简报"),
    ("每天9点给我简报", "cron 0 9 * * *", "给我简报"),
    ("每个工作日九点给我简报", "cron 0 9 * * 1-5", "给我简报"),
    ("每个工作日9点半给我简报", "cron 30 9 * * 1-5", "给我简报"),
    ("给我简报，每个工作日9点半", "cron 30 9 * * 1-5", "给我简报"),
    ("每周五下午五点总结这一周", "cron 0 17 * * 5", "总结这一周"),
    ("每周一、三、五晚上八点问我训练得怎么样", "cron 0 20 * * 1,3,5", "问我训练得怎么样"),
    ("每星期日晚上8点15分回顾一周", "cron 15 20 * * 0", "回顾一周"),
    ("每周末上午十点安排散步", "cron 0 10 * * 6,0", "安排散步"),
    (
        "每隔一天早上七点浇花",
        "rrule DTSTART:20261125T070000 RRULE:FREQ=DAILY;INTERVAL=2;BYHOUR=7;BYMINUTE=0;BYSECOND=0",
        "浇花",
    ),
    ("每晚十一点整理笔记", "cron 0 23 * * *", "整理笔记"),
    ("每天凌晨两点整理笔记", "cron 0 2 * * *", "整理笔记"),
    ("每天中午十二点提醒我吃饭", "cron 0 12 * * *", "提醒我吃饭"),
    ("每天21:30提醒我睡觉", "cron 30 21 * * *", "提醒我睡觉"),
    ("每天下午三点一刻提醒我喝水", "cron 15 15 * * *", "提醒我喝水"),
    ("每两小时检查收件箱", "every 7200", "检查收件箱"),
    ("每2个小时检查收件箱", "every 7200", "检查收件箱"),
    ("每小时检查收件箱", "every 3600", "检查收件箱"),
    ("每隔三十分钟检查收件箱", "every 1800", "检查收件箱"),
    ("每半小时检查收件箱", "every 1800", "检查收件箱"),
    ("每月1号上午9点提醒我交房租", "cron 0 9 1 * *", "提醒我交房租"),
    ("每个月十五号晚上七点记账", "cron 0 19 15 * *", "记账"),
    ("每月最后一天下午五点结账", "cron 0 17 L * *", "结账"),
    ("明天上午8点给安娜打电话", "at 2026-11-24 08:00:00", "给安娜打电话"),
    ("提醒我明天上午8点给安娜打电话", "at 2026-11-24 08:00:00", "提醒我给安娜打电话"),
    ("后天晚上七点半给安娜打电话", "at 2026-11-25 19:30:00", "给安娜打电话"),
    ("今晚九点给安娜打电话", "at 2026-11-23 21:00:00", "给安娜打电话"),
    ("明早八点给安娜打电话", "at 2026-11-24 08:00:00", "给安娜打电话"),
    ("周五下午五点交报告", "at 2026-11-27 17:00:00", "交报告"),
    ("下周一上午九点交报告", "at 2026-11-30 09:00:00", "交报告"),
    ("12月24日上午9点祝我快乐", "at 2026-12-24 09:00:00", "祝我快乐"),
    ("2027年3月3日上午9点祝我快乐", "at 2027-03-03 09:00:00", "祝我快乐"),
    ("20分钟后看看烤箱", "at 2026-11-23 10:20:20+01:00", "看看烤箱"),
    ("半小时后看看烤箱", "at 2026-11-23 10:30:20+01:00", "看看烤箱"),
    ("两个小时之后看看烤箱", "at 2026-11-23 12:00:20+01:00", "看看烤箱"),
    ("every day at 9", "cron 0 9 * * *", ""),
]


def said(text: str, now: datetime = MONDAY) -> tuple[str, str] | None:
    """The only trigger of a sentence, and its task."""
    found = parse_when(text, now)
    if isinstance(found, Unclear):
        return None
    triggers = [
        *(f"at {each}" for each in found.moments),
        *(f"cron {each}" for each in found.crons),
        *(f"rrule {each}" for each in found.rules),
        *([f"every {found.every}"] if found.every else []),
    ]
    (trigger,) = triggers
    return trigger, found.rest


@pytest.mark.parametrize(("text", "trigger", "task"), UNDERSTOOD, ids=[each[0] for each in UNDERSTOOD])
def test_plain_times_are_understood(text: str, trigger: str, task: str) -> None:
    assert said(text) == (trigger, task)
    found = parse_when(text, MONDAY)
    assert isinstance(found, Understood) and not found.zone and not found.taken


REFUSED = [
    "",
    "brief me",
    "at 9 call Anna",
    "sometimes at 9 brief me",
    "every day at 25 brief me",
    "every day at 9:75 brief me",
    "every day at 13 pm brief me",
    "every morning at 20:00 brief me",
    "every 30 seconds look",
    "every 0 hours look",
    "every day at 9 and at 17:00 brief me",
    "every weekday at 9 and every weekend at 10 brief me",
    "every day at 9 until Christmas brief me",
    "every day at 9 except on holidays brief me",
    "every 2 hours from 9 to 17 check the inbox",
    "on 30 February at 9 wish me well",
    "on 2026-01-01 at 9 wish me well",
    "today at 8 call Anna",
    "tomorrow at 3 call Anna",
    "明天三点给安娜打电话",
    "every Monday at 9 on Tuesday at 10 look",
    "in a while check the oven",
    "every day at 9, 12 and 18 brief me",
    "every day at 9 for two weeks brief me",
    "brief me every day at 9 starting tomorrow",
    "九点给我简报",
    "每天二十五点给我简报",
    "每天晚上十二点给我简报",
    "每两周五下午五点交报告",
    "今天早上八点给安娜打电话",
    "2月30日上午9点祝我快乐",
    "过一会儿看看烤箱",
    "每天早上九点到下午五点看看",
]


@pytest.mark.parametrize("text", REFUSED)
def test_what_may_mean_two_things_is_asked_back_with_two_guesses(text: str) -> None:
    found = parse_when(text, MONDAY)
    assert isinstance(found, Unclear)
    for guess in found.guesses:
        assert isinstance(parse_when(guess, MONDAY), Understood), guess


@pytest.mark.parametrize(
    ("text", "trigger", "task"),
    [
        ("remind me on Friday to call Anna", "at 2026-11-27 09:00:00", "remind me to call Anna"),
        ("remind me Friday to call Anna", "at 2026-11-27 09:00:00", "remind me to call Anna"),
        ("remind me to call Anna on Friday afternoon", "at 2026-11-27 15:00:00", "remind me to call Anna"),
        ("remind me tonight to lock up", "at 2026-11-23 19:00:00", "remind me to lock up"),
        ("remind me on 3 December to pay", "at 2026-12-03 09:00:00", "remind me to pay"),
        ("remind me every Friday to water the fern", "cron 0 9 * * 5", "remind me to water the fern"),
        ("周五提醒我交表", "at 2026-11-27 09:00:00", "提醒我交表"),
        ("提醒我下周五下午交表", "at 2026-12-04 15:00:00", "提醒我交表"),
        ("明天晚上提醒我交表", "at 2026-11-24 19:00:00", "提醒我交表"),
    ],
)
def test_a_day_without_an_hour_has_the_usual_one_which_is_said(text: str, trigger: str, task: str) -> None:
    assert said(text) == (trigger, task)
    found = parse_when(text, MONDAY)
    assert isinstance(found, Understood) and found.taken


@pytest.mark.parametrize(
    "text",
    [
        "remind me today to call Anna",
        "remind me to buy fish for Friday",
        "remind me to send the report that is due on Friday",
        "remind me on Friday to call Anna on Monday",
        "remind me sometime to call Anna",
        "今天提醒我交表",
        "下个月提醒我交表",
    ],
)
def test_a_day_that_is_over_or_belongs_to_the_task_gets_no_hour(text: str) -> None:
    assert said(text) is None


@pytest.mark.parametrize(
    ("text", "zone", "trigger"),
    [
        ("every day at 9 Europe/Berlin brief me", "Europe/Berlin", "cron 0 9 * * *"),
        ("every day at 9 New York time brief me", "America/New_York", "cron 0 9 * * *"),
        ("brief me every day at 9 UTC", "UTC", "cron 0 9 * * *"),
        ("每天北京时间早上九点给我简报", "Asia/Shanghai", "cron 0 9 * * *"),
        ("tomorrow at 8 Asia/Tokyo call Kenji", "Asia/Tokyo", "at 2026-11-24 08:00:00"),
        ("today at 20:00 Asia/Tokyo call Kenji", "Asia/Tokyo", "at 2026-11-23 20:00:00"),
    ],
)
def test_a_zone_stands_in_the_header_only_if_it_was_said(text: str, zone: str, trigger: str) -> None:
    found = parse_when(text, MONDAY)
    assert isinstance(found, Understood)
    assert found.zone == zone
    assert said(text) == (trigger, found.rest)
    assert zone.split("/")[-1] not in found.rest


def test_an_unknown_zone_is_refused() -> None:
    assert said("every day at 9 Europe/Nowhere brief me") is None


@pytest.mark.parametrize("length", [2_000, 200_000])
def test_a_long_text_is_no_trouble(length: int) -> None:
    assert said("every " * length) is None
    assert said("每" * length) is None
    assert said("12:30 " * (length // 6)) is None
