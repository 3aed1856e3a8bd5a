"""What people write about times means what the table says, in each language; what is not understood is asked back.

The table is held data: `phrases_en.yaml` and `phrases_zh.yaml`.
"""

import pytest

from agent.times.named_days import parse_days
from agent.times.periods import parse_period
from agent.times.reading import Unclear, Understood
from agent.times.when import parse_when
from tests.times.phrases import Phrase, meaning_of, phrases

AHEAD, BACK, DAYS = phrases("ahead"), phrases("back"), phrases("days")


@pytest.mark.parametrize("phrase", AHEAD, ids=lambda each: each.words)
def test_a_time_to_come(phrase: Phrase) -> None:
    assert meaning_of(phrase.words, phrase.now) == phrase.meaning


@pytest.mark.parametrize("phrase", BACK, ids=lambda each: each.words)
def test_days_looked_back_to(phrase: Phrase) -> None:
    found = parse_period(phrase.words, phrase.now.date())
    days = ("none",) if found is None else dict.fromkeys((str(found.first), str(found.last)))
    assert " ".join(days) == phrase.meaning


@pytest.mark.parametrize("phrase", DAYS, ids=lambda each: each.words)
def test_days_in_a_text(phrase: Phrase) -> None:
    days = sorted(f"{each.year:04}-{each.month:02}-{each.day:02}" for each in parse_days(phrase.words))
    assert " ".join(days or ["none"]) == phrase.meaning


@pytest.mark.parametrize("phrase", [each for each in AHEAD if each.meaning == "ask"], ids=lambda each: each.words)
def test_what_is_not_understood_has_two_guesses_that_are(phrase: Phrase) -> None:
    found = parse_when(phrase.words, phrase.now)
    assert isinstance(found, Unclear)
    assert len(set(found.guesses)) == 2
    for guess in found.guesses:
        assert isinstance(parse_when(guess, phrase.now), Understood), guess
