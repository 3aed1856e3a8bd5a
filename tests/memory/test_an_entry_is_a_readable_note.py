"""Entries: their header, their path."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.markdown.note import Note
from agent.memory.entry import Entry, slug
from agent.vault.write.paths import check

WHEN = datetime(2026, 11, 21, 14, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Anna likes green tea", "anna-likes-green-tea"),
        ("安娜喜欢绿茶，也喜欢咖啡", "安娜喜欢绿茶-也喜欢咖啡"),
        ("first line\nsecond line", "first-line"),
        ("…!?", ""),
        ("a" * 400, "a" * 16),
    ],
)
def test_the_name_is_the_first_words(text: str, words: str) -> None:
    assert slug(text) == words


@given(st.text(min_size=1, max_size=300))
def test_every_text_gets_a_path_that_a_note_may_have_and_a_note_that_holds_it(text: str) -> None:
    entry = Entry("01HZZZZZZZ0000000000000001", WHEN, text)
    assert check(entry.path) == entry.path
    note = Note.parse(entry.note())
    assert note.problem is None
    assert note.id == entry.id
    assert note.body.encode("utf-8", "replace") == (text.strip("\n") + "\n").encode("utf-8", "replace")
