"""Laws of times in plain words: how a text is spaced changes nothing, and a reminder is never in the past."""

import re
from datetime import datetime, timedelta
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.schedule.occurrences import next_times
from agent.schedule.trigger_lines import format_lines, parse_lines
from agent.schedule.triggers import parse_triggers
from agent.times.plain import HAN
from agent.times.reading import Unclear, Understood
from agent.times.when import parse_when
from tests.times.phrases import Phrase, meaning_of, phrases

AHEAD = phrases("ahead")
BESIDE_HAN = re.compile(rf"(?<={HAN.pattern}) | (?={HAN.pattern})")
WIDE = {ord(char): chr(ord(char) - 0x21 + 0xFF01) for char in "0123456789:/"}
PHRASE = st.sampled_from(AHEAD)
SOON = st.integers(min_value=0, max_value=2 * 365 * 24 * 60)


@pytest.mark.parametrize("phrase", AHEAD, ids=lambda each: each.words)
def test_full_width_digits_mean_the_same(phrase: Phrase) -> None:
    assert meaning_of(phrase.words.translate(WIDE), phrase.now) == phrase.meaning


@pytest.mark.parametrize("phrase", AHEAD, ids=lambda each: each.words)
def test_blanks_mean_nothing(phrase: Phrase) -> None:
    assert meaning_of(f"  {phrase.words.replace(' ', '  ')} ", phrase.now) == phrase.meaning
    if HAN.search(phrase.words):
        assert meaning_of(BESIDE_HAN.sub("", phrase.words), phrase.now) == phrase.meaning
        spaced = "".join(f" {char} " if HAN.match(char) else char for char in phrase.words)
        assert meaning_of(spaced, phrase.now) == phrase.meaning


@given(PHRASE, SOON)
def test_what_is_understood_is_in_the_future_at_any_time(phrase: Phrase, minutes: int) -> None:
    now = phrase.now + timedelta(minutes=minutes)
    found = parse_when(phrase.words, now)
    if isinstance(found, Unclear):
        guesses = [parse_when(each, now) for each in found.guesses]
        assert all(isinstance(each, Understood) for each in guesses)
        return
    zone = now.tzinfo
    assert zone is not None
    for each in found.moments:
        assert (each if each.tzinfo else each.replace(tzinfo=zone)) > now
    if not found.moments:
        (first,) = islice(next_times(parse_triggers(found.on), phrase.zone, now, anchor=now), 1)
        assert first > now


@given(PHRASE, SOON)
def test_what_is_understood_is_kept_as_lines(phrase: Phrase, minutes: int) -> None:
    now = phrase.now + timedelta(minutes=minutes)
    found = parse_when(phrase.words, now)
    if isinstance(found, Understood):
        triggers = parse_triggers(found.on)
        assert parse_triggers(parse_lines(format_lines(triggers), now).on) == triggers


@given(
    st.text(max_size=60),
    st.text(alphabet="0123456789 一二三十月日号点半周每后前:/.-前at in on every day 早晚", max_size=30),
)
def test_no_text_breaks_it(some: str, other: str) -> None:
    now = datetime.fromisoformat("2026-11-23T10:00:00+01:00")
    for each in (some, other, f"remind me {other}", f"{other}提醒我{some}"):
        assert isinstance(parse_when(each, now), Understood | Unclear)
