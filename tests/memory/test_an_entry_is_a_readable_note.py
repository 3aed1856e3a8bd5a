"""Entries: their header, their path."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.markdown.note import Note
from agent.memory.entry import Entry, EntryType, Scope, parse_entry, slug
from agent.vault.worktree.paths import check

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


@pytest.mark.parametrize(
    "text", ["User: Anna likes tea\nAssistant: Noted.", "Task: Anna likes tea\n\n1. x", "Anna likes tea"]
)
def test_the_name_says_what_it_is_about_and_not_who_spoke(text: str) -> None:
    assert Entry("01HZZZZZZZ0000000000000001", WHEN, text).path == "entries/2026/11/2026-11-21-anna-likes-tea-000001.md"


@given(st.text(min_size=1, max_size=300))
def test_every_text_gets_a_path_that_a_note_may_have_and_a_note_that_holds_it(text: str) -> None:
    entry = Entry("01HZZZZZZZ0000000000000001", WHEN, text)
    assert check(entry.path) == entry.path
    note = Note.parse(entry.note())
    assert note.problem is None
    assert note.id == entry.id
    assert note.body.encode("utf-8", "replace") == (text.strip("\n") + "\n").encode("utf-8", "replace")


def test_a_plain_entry_says_no_more_than_it_has() -> None:
    text = Entry("01HZZZZZZZ0000000000000001", WHEN, "Anna likes tea", keywords=("tea",)).note().decode()
    header = text.split("---\n")[1]
    keys = [line.partition(":")[0] for line in header.splitlines() if not line.startswith((" ", "-"))]
    assert keys == ["id", "type", "created", "scope", "channel", "source", "keywords"]


WORDS = st.text(st.characters(categories=("L", "N")), max_size=8)


@given(
    st.sampled_from(EntryType),
    st.sampled_from(Scope),
    st.lists(WORDS.filter(bool), max_size=3),
    st.dictionaries(st.sampled_from(("run", "outcome", "kind", "times")), st.sampled_from(("a", "b c", "auto_flush"))),
    st.none() | st.integers(0, 10**6).map(lambda seconds: WHEN + timedelta(seconds=seconds)),
    st.text(st.characters(categories=("L", "P", "Zs")), min_size=1, max_size=60),
)
def test_an_entry_reads_back_as_it_was_written(
    kind: EntryType,
    scope: Scope,
    keywords: list[str],
    slots: dict[str, str],
    expires: datetime | None,
    text: str,
) -> None:
    entry = Entry(
        *("01HZZZZZZZ0000000000000001", WHEN, text, kind, scope, "lark", "context_compact", tuple(keywords)),
        *("oc_1", "sessions/2026/11/a.md", "ou_2", "om_3"),
        slots=slots,
        expires=expires,
        supersedes="01HZZZZZZZ0000000000000000",
        evidence=("[[daily/2026-11-21]]",),
    )
    assert parse_entry(entry.note()) == entry


@pytest.mark.parametrize("note", [b"", b"plain\n", b"---\nid: x\ntype: daily\n---\n", b"---\na: [\n---\n"])
def test_other_notes_are_no_entries(note: bytes) -> None:
    assert parse_entry(note) is None
