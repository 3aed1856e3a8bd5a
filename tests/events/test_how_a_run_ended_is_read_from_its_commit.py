"""The subject of a commit with the record of a run is read in whichever language it was written."""

import pytest

from agent.events.runs import parse_record_subject, session_subject
from agent.texts import LANGUAGES, Language, translated

OUTCOMES = ("finished", "limit", "needs_approval", "question_asked", "interrupted", "failed")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("outcome", OUTCOMES)
def test_a_record_is_read_as_it_was_written(language: Language, outcome: str) -> None:
    subject = translated(session_subject(outcome, "大理: the trip"), language)
    assert parse_record_subject(subject) == (outcome, "大理: the trip")


def test_an_answer_in_a_note_is_one_and_nothing_else_is() -> None:
    assert parse_record_subject("inbox(done): Buy tea") == ("done", "Buy tea")
    assert parse_record_subject("memory(entry): remember it") is None
