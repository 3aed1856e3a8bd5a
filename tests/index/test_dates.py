"""Days in questions: which are read, and which notes they reach."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.index import query
from agent.times.named_days import NamedDay, parse_days


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("on 8 May, 2023", {NamedDay(2023, 5, 8)}),
        ("on the 8th of May 2023", {NamedDay(2023, 5, 8)}),
        ("May 8, 2023", {NamedDay(2023, 5, 8)}),
        ("in January 2022", {NamedDay(2022, 1)}),
        ("in June", {NamedDay(0, 6)}),
        ("on December 8th", {NamedDay(0, 12, 8)}),
        ("2023-05-08 and 2024-01", {NamedDay(2023, 5, 8), NamedDay(2024, 1)}),
        ("2023年5月8日", {NamedDay(2023, 5, 8)}),
        ("五月 3月", {NamedDay(0, 3)}),
        ("may I march on", set()),
        ("31 February 2023, 2023-13-40", set()),
    ],
)
def test_days_and_months_are_read(text: str, expected: set[NamedDay]) -> None:
    assert set(parse_days(text)) == expected


def test_the_day_itself_counts_most_and_the_days_after_less_and_less() -> None:
    asked = parse_days("8 May 2023")
    values = [query.closeness(asked, f"2023-05-{day:02}") for day in range(7, 21)]
    assert values[0] == 0.0
    assert values[1] == 1.0
    assert values[1:12] == sorted(values[1:12], reverse=True)
    assert values[-1] == 0.0


def test_a_month_without_a_year_is_that_month_of_any_year() -> None:
    asked = parse_days("in December")
    assert query.closeness(asked, "2019-12-31") == query.closeness(asked, "2024-12-01") == 1.0
    assert 0 < query.closeness(asked, "2024-01-02") < 1


@given(st.text(max_size=60), st.text(max_size=12))
def test_any_text_is_read_without_an_error(text: str, day: str) -> None:
    found = parse_days(text)
    assert 0 <= query.closeness(found, day) <= 1
    for each in found:
        assert not each.year or query.answering_days(each)[0] <= query.answering_days(each)[1]
