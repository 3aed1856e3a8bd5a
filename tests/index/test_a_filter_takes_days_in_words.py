"""`after:` and `before:` take days as people say them, from this day on which they ask."""

from datetime import date

import pytest

from agent.errors import UserError
from agent.index.query import parse_query, with_whole_days

MONDAY = date(2026, 11, 23)


@pytest.mark.parametrize(
    ("query", "whole"),
    [
        ("after:yesterday tomatoes", "after:2026-11-22 tomatoes"),
        ('after:"last week" tomatoes', "after:2026-11-16 tomatoes"),
        ('before:"last week" tomatoes', "before:2026-11-22 tomatoes"),
        ("after:上周 番茄", "after:2026-11-16 番茄"),
        ("before:5月3日 番茄", "before:2026-05-03 番茄"),
        ('before:"5 月 3 日" 番茄', "before:2026-05-03 番茄"),
        ("after:2026-03 before:2026-04-02 -after:yesterday", "after:2026-03 before:2026-04-02 -after:yesterday"),
        ("path:notes tag:last week: yesterday", "path:notes tag:last week: yesterday"),
        ("what came after: yesterday", "what came after: yesterday"),
    ],
)
def test_days_in_words_become_days(query: str, whole: str) -> None:
    assert with_whole_days(query, MONDAY) == whole


def test_words_that_name_no_day_are_refused_and_not_searched_for() -> None:
    with pytest.raises(UserError, match="soon is not a day"):
        parse_query(with_whole_days("after:soon tomatoes", MONDAY))
