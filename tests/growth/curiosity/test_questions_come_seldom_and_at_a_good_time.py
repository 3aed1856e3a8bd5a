"""Random streams of gaps against a second writing of the rules: one question a day, none in quiet hours, never more
than two open, none twice. The small size is in every check."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from agent.attention.quiet import parse_quiet
from agent.growth.curiosity.gap import CuriousGap, Urgency
from agent.growth.curiosity.look import may_ask, most_urgent

START = datetime(2026, 11, 2, tzinfo=UTC)
QUIET = parse_quiet("22-8", UTC)


def gap(subject: str, urgency: Urgency = "low") -> CuriousGap:
    return CuriousGap("knowledge", subject, f"What of {subject}?", "It matters.", "I go on.", urgency=urgency)


@dataclass
class Person:
    """Answers some questions after a while, and lets others run out."""

    open: list[datetime] = field(default_factory=list)
    at: list[datetime] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)


def lived(random: Random, days: int) -> list[tuple[datetime, CuriousGap]]:
    """What was asked in so many days, looked at every ten minutes."""
    person, gaps, asked = Person(), list[CuriousGap](), list[tuple[datetime, CuriousGap]]()
    now = START
    while now < START + timedelta(days=days):
        person.open = [until for until in person.open if until > now]
        if random.random() < 0.03:
            gaps.append(gap(f"{len(gaps)}", "high" if random.random() < 0.2 else "low"))
        found = most_urgent([each for each in gaps if each.key not in person.keys])
        if found is not None and may_ask(len(person.open), person.at, QUIET, now):
            asked.append((now, found))
            person.at.append(now)
            person.keys.add(found.key)
            person.open.append(now + timedelta(hours=random.choice((1, 5, 30, 72))))
            assert len(person.open) <= 2, now
        now += timedelta(minutes=10)
    return asked


def check(seed: int, days: int) -> int:
    asked = lived(Random(seed), days)
    for now, _ in asked:  # the second writing
        assert 8 <= now.hour < 22, now
    assert len({each.key for _, each in asked}) == len(asked), "none twice"
    times = [now for now, _ in asked]
    assert all(later - earlier >= timedelta(hours=20) for earlier, later in zip(times, times[1:], strict=False))
    return len(asked)


def test_no_question_in_quiet_hours_and_never_more_than_two_open() -> None:
    assert sum(check(seed, 14) for seed in range(10)) > 80, "and it does ask"


@pytest.mark.chaos
def test_the_same_over_many_streams() -> None:
    assert sum(check(seed, 28) for seed in range(300)) > 2_500


def test_what_is_urgent_comes_first_at_a_good_time() -> None:
    noon = START + timedelta(hours=12)
    found = most_urgent([gap("a"), gap("b", "high")])
    assert found is not None and found.subject == "b"
    assert may_ask(0, (), QUIET, noon)
    assert not may_ask(0, [noon - timedelta(hours=2)], QUIET, noon), "one a day"
    assert not may_ask(0, (), QUIET, noon + timedelta(hours=11)), "not at night"
