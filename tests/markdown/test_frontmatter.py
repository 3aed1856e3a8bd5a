"""A header is read strictly, and one changed key changes its own lines only."""

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from agent.errors import BadNote
from agent.markdown.header_edits import remove_key, set_key
from agent.markdown.new_note import StrictYaml, compose
from agent.markdown.note import BOM, entries, split
from agent.markdown.yaml_write import Value, same
from tests.markdown.generate import NOTES, keys, notes, values


def header(data: bytes) -> dict[str, Value]:
    return {entry.key: entry.value for entry in entries(split(data))}


def check_set_then_remove(data: bytes, key: str, value: Value) -> None:
    try:
        if key in header(data):
            return
        changed = set_key(data, key, value)
    except BadNote:
        return
    assert same(header(changed)[key], value)
    assert remove_key(changed, key) == data


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"text",
        b"---",
        b"---\n",
        b"---\n---\n",
        b"---\n---",
        b"---\r\n---\r\nx",
        b"---\n\n---\n",
        b"---\nfoo",
    ]
    + [b"---\n# only a comment\n---\nx", b"---\na: 1\n---", BOM, BOM + b"x\r\ny", BOM + b"---\r\na: 1\r\n---\r\n"]
    + [b"--- \t\n...\n", b"---\na: |+\n  x\n\n---\n", b"---\n  a: 1\n---\n", b"\xff\xfftext", BOM + BOM + b"---\n"],
)
@pytest.mark.parametrize("value", [1, "yes", None, ("a", "b"), {"k": ("v",)}, "two\nlines", "ends\n"])
def test_setting_an_absent_key_and_removing_it_gives_the_same_bytes(data: bytes, value: Value) -> None:
    changed = set_key(data, "brand new", value)
    assert same(header(changed)["brand new"], value)
    assert remove_key(changed, "brand new") == data


@given(notes(), keys, values)
@example(b"---\n# a\xe2\x80\xa8\n---\n", "k", None)
def test_setting_then_removing_is_identity_on_generated_notes(data: bytes, key: str, value: Value) -> None:
    check_set_then_remove(data, key, value)


def test_setting_then_removing_is_identity_on_whole_notes() -> None:
    for path in NOTES:
        data = path.read_bytes()
        header(data)
        check_set_then_remove(data, "brand new", ("a: b", "买牛奶"))


def test_setting_a_key_of_a_whole_note_changes_only_its_lines() -> None:
    changed = 0
    for path in NOTES:
        data = path.read_bytes()
        for entry in entries(split(data)):
            text = split(data).header.decode()
            before, after = text[: entry.start].encode(), text[entry.end :].encode()
            result = split(set_key(data, entry.key, "new: value"))
            assert result.header.startswith(before)
            assert result.header.endswith(after)
            assert result.body == split(data).body
            changed += 1
    assert changed > 30


@given(notes(), st.data(), values)
def test_setting_a_key_leaves_every_other_line(data: bytes, draw: st.DataObject, value: Value) -> None:
    try:
        found = entries(split(data))
        assume(found)
        entry = draw.draw(st.sampled_from(found))
        changed = set_key(data, entry.key, value)
    except BadNote:
        return
    parts, result = split(data), split(changed)
    text = parts.header.decode()
    assert result.header.startswith(text[: entry.start].encode())
    assert result.header.endswith(text[entry.end :].encode())
    assert (result.bom, result.opening, result.closing, result.body) == (
        parts.bom,
        parts.opening,
        parts.closing,
        parts.body,
    )
    assert same(header(changed), {other.key: other.value for other in found} | {entry.key: value})


@given(notes())
def test_the_parts_of_a_note_are_the_note(data: bytes) -> None:
    assert split(data).join() == data


@given(st.binary())
def test_the_parts_of_any_bytes_are_those_bytes(data: bytes) -> None:
    assert split(data).join() == data


@given(st.dictionaries(keys, values, max_size=4), st.text(st.characters(exclude_categories=["Cs"]), max_size=30))
def test_a_composed_note_reads_back_the_same(given_header: dict[str, Value], body: str) -> None:
    data = compose(given_header, body)
    assert same(header(data), given_header)
    assert split(data).body == body.encode()


@pytest.mark.parametrize(
    ("line", "value", "expected"),
    [
        ("status: open  # why", "done", "status: done  # why"),
        ("status:   open", "done", "status:   done"),
        ("'status': open", "a: b", "'status': \"a: b\""),
        ("status:", 3, "status: 3"),
        ("status: 3 # c", None, "status: # c"),
        ("status: # c", True, "status: true # c"),
        ("status: [a, 'b'] # c", ("a", "b", "c, d"), "status: [a, 'b', \"c, d\"] # c"),
        ("status:\n- a # one\n- 'b'", ("b", "c"), "status:\n- 'b'\n- c"),
        ("status:\n    - a # one", ("a", "c"), "status:\n    - a # one\n    - c"),
        ("status: | # c\n  a\n  b", "x", "status: x # c"),
        ("status: a\n  b", "x\ny", "status: |-\n  x\n  y"),
        ("status: open # c", ("a",), "status: # c\n  - a"),
        ("status: [a,\n  b]", ("a",), "status:\n  - a"),
        ("status: {a: 1} # c", {"a": 2}, "status: # c\n  a: 2"),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_changed_key_keeps_its_comment_quoting_and_kind_of_list(
    line: str, value: Value, expected: str, newline: str
) -> None:
    note = f"---\n# first\nbefore: 1\n\n{line}\n# between\nafter: x\n---\nbody"
    changed = set_key(note.replace("\n", newline).encode(), "status", value)
    assert changed.decode() == note.replace(line, expected).replace("\n", newline)


def test_setting_the_value_that_is_there_changes_nothing() -> None:
    data = b"---\na: 'yes'\nb: .nan\nc: 2026-01-01 10:00\n---\n"
    for key, value in header(data).items():
        assert set_key(data, key, value) == data


def test_removing_the_last_key_does_not_turn_the_body_into_a_header() -> None:
    assert remove_key(b"---\na: 1\n---\n---\nb: 2\n---\n", "a") == b"---\n---\n---\nb: 2\n---\n"
    assert remove_key(b"---\na: 1\n---\ntext", "a") == b"text"
    assert remove_key(b"---\na: 1\n---\ntext", "b") == b"---\na: 1\n---\ntext"


@pytest.mark.parametrize(
    ("words", "value"),
    [("yes", "yes"), ("on", "on"), ("12:30", "12:30"), ("0123", 123), ("1_000", "1_000"), ("0o17", 15), ("~", None)]
    + [("2026-02-30", "2026-02-30"), ("TRUE", True), (".inf", float("inf")), ("1e3", 1000.0), ("9" * 5000, "9" * 5000)],
)
def test_plain_words_mean_what_they_mean_in_obsidian(words: str, value: Value) -> None:
    assert same(header(f"---\nk: {words}\n---\n".encode())["k"], value)


@pytest.mark.parametrize(
    ("lines", "problem", "line"),
    [
        ("a: 1\na: 2", "twice", 3),
        ("x:\n  a: 1\n  a: 2", "twice", 4),
        ("a: &x 1\nb: *x", "alias", 2),
        ("a: 1\nb: *x", "alias", 3),
        ("a: !!python/name:os.system x", "tag", 2),
        ("a: ! x", "tag", 2),
        ("- a", "not a list of", 2),
        ("just words", "not a list of", 2),
        ("t: {{title}}", "a key in the header is a list", 2),
        ("\nt: [", "not valid YAML", 4),
        ("a: 1\nb: \x01", "control character", 3),
        ("\ufeffa: 1\nb: [2]", "control character", 2),
        ("a: 1\n--- b", "more than one document", 3),
        ("a: " + "[" * 10_000, "deeper than 32", 2),
        ("a:\n" + "- " * 10_000, "deeper than 32", 3),
        ("a: b\n" * 20_000, "longer than 64 KB", 2),
        ("a: 1\nb: \udcff", "not UTF-8", 3),
    ],
)
def test_a_bad_header_is_refused_with_its_line(lines: str, problem: str, line: int) -> None:
    data = f"---\n{lines}\n---\nbody".encode("utf-8", "surrogateescape")
    with pytest.raises(BadNote, match=problem) as caught:
        set_key(data, "k", 1)
    assert caught.value.line == line


@pytest.mark.parametrize("lines", ["{a: 1, b: 2}", "? a\n: 1", "a: |\n  x\nb: 1\n  # c"])
def test_a_key_that_cannot_change_alone_is_refused(lines: str) -> None:
    with pytest.raises(BadNote, match="cannot be changed"):
        remove_key(f"---\n{lines}\n---\n".encode(), list(header(f"---\n{lines}\n---\n".encode()))[-1])


def test_half_a_character_is_refused() -> None:
    with pytest.raises(BadNote, match="surrogate"):
        set_key(b"", "k", "\ud800")
    with pytest.raises(BadNote, match="surrogate"):
        compose({"k": ["\ud800"]}, "")


def test_python_frontmatter_reads_through_the_strict_reader() -> None:
    import frontmatter as python_frontmatter

    post = python_frontmatter.loads("---\nk: yes\n---\ntext", handler=StrictYaml())
    assert (post["k"], post.content) == ("yes", "text")
