"""A note is its bytes; reading never fails and changing it touches nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import BadNote
from agent.markdown.note import Note
from tests.markdown.generate import NOTES, notes


@given(notes() | st.binary())
def test_any_bytes_are_a_note_and_stay_the_same_bytes(data: bytes) -> None:
    note = Note.parse(data)
    assert note.data == data
    assert not note.body or note.text.count("\n") >= note.body_line - 1


def test_whole_notes_read_without_a_problem_and_stay_the_same_bytes() -> None:
    for path in NOTES:
        data = path.read_bytes()
        note = Note.parse(data)
        assert note.data == data
        assert note.problem is None, path
        assert note.text.split("\n")[note.body_line - 1 :] == note.body.split("\n")


def test_a_note_says_what_its_header_says() -> None:
    note = Note.parse("---\nid: 01H\ntype: chat_turn\naliases: [咖啡, 7]\nn: 3\n---\n# Hi\n".encode())
    assert (note.id, note.type, note.aliases, note.header["n"]) == ("01H", "chat_turn", ("咖啡", "7"), 3)
    assert (note.body, note.body_line) == ("# Hi\n", 7)
    assert note.title("notes/Coffee.md") == "Coffee"
    assert note.with_key("title", "Flat white").title("notes/Coffee.md") == "Flat white"
    assert note.string("n") is None
    assert Note.parse(b"---\nalias: a, b\n---\n").aliases == ("a", "b")


def test_a_bad_header_leaves_the_text_readable_and_cannot_be_edited() -> None:
    data = b"---\ntitle: {{title}}\n---\nSearch for me\n"
    note = Note.parse(data)
    assert note.problem is not None
    assert note.problem.line == 2
    assert "Search for me" in note.body
    assert "{{title}}" in note.text
    with pytest.raises(BadNote):
        note.with_key("a", 1)
    with pytest.raises(BadNote):
        note.without_key("title")
    assert note.with_body("new\n").data == b"---\ntitle: {{title}}\n---\nnew\n"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32"])
def test_a_wide_note_is_readable_and_left_alone(encoding: str) -> None:
    data = (b"\xfe\xff" if encoding == "utf-16-be" else b"") + "---\na: 1\n---\n你好".encode(encoding)
    note = Note.parse(data)
    assert note.problem is not None
    assert "你好" in note.text
    with pytest.raises(BadNote, match="UTF-16"):
        note.with_key("a", 2)


def test_stray_bytes_stay_while_the_header_changes() -> None:
    note = Note.parse(b"---\na: 1\n---\ncaf\xe9\r\n")
    assert "caf\ufffd" in note.body
    assert note.with_key("a", 2).data == b"---\na: 2\n---\ncaf\xe9\r\n"
    with pytest.raises(BadNote, match="not UTF-8"):
        note.with_body("coffee")


def test_a_new_body_keeps_the_header_and_never_joins_it() -> None:
    assert Note.parse(b"---\na: 1 # c\n---").with_body("text").data == b"---\na: 1 # c\n---\ntext"
    assert Note.parse(b"\xef\xbb\xbfold").with_body("new").data == b"\xef\xbb\xbfnew"


def test_a_composed_note_reads_well() -> None:
    note = Note.compose({"id": "01H", "tags": ["a", "b/c"], "slots": {}, "at": "12:30"}, "# 标题\n")
    assert note.data.decode() == ('---\nid: 01H\ntags:\n  - a\n  - b/c\nslots: {}\nat: "12:30"\n---\n# 标题\n')
