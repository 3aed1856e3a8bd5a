"""What people write about times means what the table says, in each language; what is not understood is asked back.

The table is held data: `phrases_en.yaml` and `phrases_zh.yaml`.
"""

import pytest

from agent.times.reading import Unclear, Understood
from agent.times.when import parse_when
from tests.times.phrases import Phrase, meaning_of, phrases

AHEAD = phrases("ahead")


@pytest.mark.parametrize("phrase", AHEAD, ids=lambda each: each.words)
def test_a_time_to_come(phrase: Phrase) -> None:
    assert meaning_of(phrase.words, phrase.now) == phrase.meaning


@pytest.mark.parametrize("phrase", [each for each in AHEAD if each.meaning == "ask"], ids=lambda each: each.words)
def test_what_is_not_understood_has_two_guesses_that_are(phrase: Phrase) -> None:
    found = parse_when(phrase.words, phrase.now)
    assert isinstance(found, Unclear)
    assert len(set(found.guesses)) == 2
    for guess in found.guesses:
        assert isinstance(parse_when(guess, phrase.now), Understood), guess
