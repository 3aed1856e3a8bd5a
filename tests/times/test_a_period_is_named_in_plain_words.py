"""Words for a stretch of days, English and Chinese, counted back from a Sunday."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.times.periods import find_periods, parse_period

SUNDAY = date(2026, 11, 22)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("today", "2026-11-22", "2026-11-22"),
        ("昨天", "2026-11-21", "2026-11-21"),
        ("Last week", "2026-11-09", "2026-11-15"),
        ("上周", "2026-11-09", "2026-11-15"),
        ("上上周", "2026-11-02", "2026-11-08"),
        ("this month", "2026-11-01", "2026-11-22"),
        ("上个月", "2026-10-01", "2026-10-31"),
        ("past 3 days", "2026-11-20", "2026-11-22"),
        ("最近三天", "2026-11-20", "2026-11-22"),
        ("the last two weeks", "2026-11-09", "2026-11-22"),
        ("3 days ago", "2026-11-19", "2026-11-19"),
        ("last Friday", "2026-11-20", "2026-11-20"),
        ("last Sunday", "2026-11-15", "2026-11-15"),
        ("上周五", "2026-11-13", "2026-11-13"),
        ("last weekend", "2026-11-14", "2026-11-15"),
        ("2026-11", "2026-11-01", "2026-11-22"),
        ("3 May", "2026-05-03", "2026-05-03"),
        ("12月25日", "2025-12-25", "2025-12-25"),
        ("2026-11-01..2026-11-05", "2026-11-01", "2026-11-05"),
        ("from 2026-11-01 to yesterday", "2026-11-01", "2026-11-21"),
        ("11月1日到11月5日", "2026-11-01", "2026-11-05"),
        ("since Monday", "2026-11-16", "2026-11-22"),
        ("自上周一以来", "2026-11-09", "2026-11-22"),
        ("去年", "2025-01-01", "2025-12-31"),
    ],
)
def test_words_name_days(text: str, first: str, last: str) -> None:
    found = parse_period(text, SUNDAY)
    assert found is not None and (str(found.first), str(found.last)) == (first, last)


@pytest.mark.parametrize("text", ["", "bananas", "tomorrow", "next week", "2026-02-31", "2027", "last 9999 years"])
def test_what_is_not_past_or_not_clear_is_not_guessed(text: str) -> None:
    assert parse_period(text, SUNDAY) is None


@given(st.integers(1, 9_000), st.dates(date(1990, 1, 1), date(2099, 1, 1)))
def test_so_many_days_are_so_many_days_up_to_today(count: int, today: date) -> None:
    found = parse_period(f"past {count} days", today)
    assert found is not None and len(found.days) == count and found.days[0] == today
    assert parse_period(f"{found.first}..{found.last}", today) == found
    assert found.days[-1] == today - timedelta(days=count - 1)


@given(st.text(max_size=40))
def test_no_text_is_an_error(text: str) -> None:
    found = parse_period(text, SUNDAY)
    assert found is None or found.first <= found.last <= SUNDAY


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (
            "What did I do yesterday, and today?",
            [("2026-11-21", "2026-11-21", True), ("2026-11-22", "2026-11-22", False)],
        ),
        ("the day before yesterday's talk", [("2026-11-20", "2026-11-20", True)]),
        ("on Tuesday we met", [("2026-11-17", "2026-11-17", False)]),
        ("last Tuesday we met", [("2026-11-17", "2026-11-17", True)]),
        ("Summarise October", [("2026-10-01", "2026-10-31", True)]),
        ("Summarise December", [("2025-12-01", "2025-12-31", True)]),
        ("2025年的预算和大前天的饭", [("2025-01-01", "2025-12-31", True), ("2026-11-19", "2026-11-19", True)]),
        ("两天以前 and three days ago", [("2026-11-20", "2026-11-20", True), ("2026-11-19", "2026-11-19", True)]),
        ("next Tuesday, every Monday, by Friday, tomorrow, 下周二, 每周一", []),
        ("It may rain, march on, a sunny sat, todaylike, 2026 screws", []),
        ("On 11 November, in October 2023, 2025年3月 (dates are found by others)", []),
    ],
)
def test_a_sentence_names_times_that_have_begun(text: str, named: list[tuple[str, str, bool]]) -> None:
    assert [(str(each.first), str(each.last), each.is_over) for each in find_periods(text, SUNDAY)] == named


@given(st.text(alphabet="last week monday上周前天一3 ago", max_size=40), st.dates(date(1, 1, 1), date(9999, 12, 31)))
def test_the_times_of_a_text_lie_apart_and_have_begun(text: str, today: date) -> None:
    end = 0
    for each in find_periods(text, today):
        assert end <= each.begin < each.end <= len(text) and each.first <= each.last <= today
        end = each.end
