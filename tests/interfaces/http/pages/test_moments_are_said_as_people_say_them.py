"""Times on pages: an age within the hour, then the day and the time, and a far day with its month, never as ISO."""

from datetime import datetime, timedelta, timezone

import pytest

from agent.interfaces.http.pages.frame import date_words, moment_words, month_words
from agent.texts import Language

NOW = datetime(2026, 11, 30, 14, 45, tzinfo=timezone(timedelta(hours=1)))


@pytest.mark.parametrize(
    ("away", "en", "zh"),
    [
        (timedelta(seconds=-20), "just now", "刚刚"),
        (timedelta(minutes=-1), "1 minute ago", "1 分钟前"),
        (timedelta(minutes=59), "in 59 minutes", "59 分钟后"),
        (timedelta(hours=-1), "today 13:45", "今天 13:45"),
        (timedelta(hours=9), "today 23:45", "今天 23:45"),
        (timedelta(hours=10), "tomorrow 00:45", "明天 00:45"),
        (timedelta(hours=-15), "yesterday 23:45", "昨天 23:45"),
        (timedelta(days=-3), "Fri 14:45", "周五 14:45"),
        (timedelta(days=-7), "23 November", "11月23日"),
        (timedelta(days=40), "9 January 2027", "2027年1月9日"),
    ],
)
def test_a_moment_beside_now(away: timedelta, en: str, zh: str) -> None:
    assert moment_words(NOW + away, NOW, "en") == en
    assert moment_words(NOW + away, NOW, "zh") == zh


@pytest.mark.parametrize(
    ("language", "day", "month"), [("en", "2 March 2025", "March 2025"), ("zh", "2025年3月2日", "2025年3月")]
)
def test_a_date_of_another_year(language: Language, day: str, month: str) -> None:
    of_then = datetime(2025, 3, 2).date()
    assert date_words(of_then, NOW.date(), language) == day
    assert month_words(of_then, language) == month
