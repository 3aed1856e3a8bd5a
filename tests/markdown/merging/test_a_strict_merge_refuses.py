"""The strict merge: two versions of a note become one, or nothing; never a broken one."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.errors import BadNote
from agent.markdown import note
from agent.markdown.merging.strict import merge, merge_append
from agent.markdown.yaml_write import Value
from tests.markdown.generate import git_merge_file, notes


def header(data: bytes) -> dict[str, Value]:
    return {entry.key: entry.value for entry in note.entries(note.split(data))}


def readable(data: bytes) -> bool:
    try:
        header(data)
    except BadNote:
        return False
    return True


def merged(base: str, ours: str, theirs: str) -> str | None:
    result = merge(base.encode(), ours.encode(), theirs.encode(), git_merge_file)
    return None if result is None else result.decode()


@given(notes(), notes())
@settings(max_examples=50)
def test_one_changed_side_wins(base: bytes, other: bytes) -> None:
    assert merge(base, base, other, git_merge_file) == other
    assert merge(base, other, base, git_merge_file) == other
    assert merge(base, other, other, git_merge_file) == other


# No two of them mean the same: another way to write a value gives way to a new value, and that loses nothing. None is
# empty: a new key without a value gives way to the same one with a value.
values = st.sampled_from(["open", "done", '"yes"', "\n  - b", "3", "\n  - a\n  - b", "\n  - b\n  - c"])
headers = st.dictionaries(st.sampled_from(["status", "tags", "due", "owner"]), values, max_size=4)
bodies = st.lists(st.sampled_from(["one", "two", "three", "- [ ] four", "", "# five"]), max_size=6)


def write(given_header: dict[str, str], body: list[str]) -> bytes:
    lines = [f"{key}: {value}".replace(": \n", ":\n") for key, value in given_header.items()]
    head = ["---", *lines, "---"] if lines else []
    return "".join(line + "\n" for line in [*head, *body]).encode()


@given(headers, bodies, st.data())
@settings(max_examples=150, deadline=None)
def test_every_line_that_a_side_added_is_in_the_result(
    base_header: dict[str, str], base_body: list[str], data: st.DataObject
) -> None:
    def version() -> bytes:
        changed = dict(base_header)
        for key, value in data.draw(headers).items():
            if data.draw(st.booleans()):
                changed[key] = value
            else:
                changed.pop(key, None)
        body = list(base_body)
        if data.draw(st.booleans()):
            body.insert(data.draw(st.integers(0, len(body))), data.draw(st.sampled_from(["new", "other"])))
        return write(changed, body)

    base, ours, theirs = write(base_header, base_body), version(), version()
    result = merge(base, ours, theirs, git_merge_file)
    if result is None:
        return
    lines = set(result.split(b"\n"))
    for side in (ours, theirs):
        added = set(side.split(b"\n")) - set(base.split(b"\n"))
        assert added <= lines | {b"---"}
    assert not any(line.startswith((b"<<<<<<<", b"=======", b">>>>>>>")) for line in lines)
    assert set(header(result)) <= set(header(ours)) | set(header(theirs))


@given(notes(), notes(), notes())
@settings(max_examples=100, deadline=None)
def test_a_result_can_always_be_read_again(base: bytes, ours: bytes, theirs: bytes) -> None:
    result = merge(base, ours, theirs, git_merge_file)
    if result is not None and readable(ours) and readable(theirs):
        assert readable(result)
        assert b"<<<<<<<" not in result


def test_keys_added_side_by_side_are_both_kept() -> None:
    base, ours, theirs = "---\na: 1\n---\n", "---\na: 1\nb: 2\n---\n", "---\na: 1\nc: 3\n---\n"
    assert merged(base, ours, theirs) == "---\na: 1\nb: 2\nc: 3\n---\n"
    assert git_merge_file(base.encode(), ours.encode(), theirs.encode()) is None


def test_the_same_key_twice_is_one_key() -> None:
    assert merged("---\na: 1\n---\n", "---\nb: 2\na: 1\n---\n", "---\na: 1\nb: 2\n---\n") == "---\nb: 2\na: 1\n---\n"
    assert merged("text\n", "---\nb: 2\n---\ntext\n", "---\nb: '2'\n---\ntext\n") is None
    assert merged("text\n", "---\nb: x\n---\ntext\n", "---\nb: 'x'\n---\ntext\n") == "---\nb: 'x'\n---\ntext\n"


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("status: done", "status: dropped"),
        ("", "status: dropped"),
        ("status: done # a", "status: done # b"),
        ("status: [a]", "status: b"),
        ("status: [[a]]", "status: [[b]]"),
    ],
)
def test_the_same_key_changed_differently_is_a_conflict(ours: str, theirs: str) -> None:
    assert merged("---\nstatus: open\n---\n", f"---\n{ours}\n---\n", f"---\n{theirs}\n---\n") is None


def test_lists_merge_by_item() -> None:
    base = "---\ntags:\n  - a\n  - b\n---\n"
    ours = "---\ntags:\n  - a\n  - b\n  - mine # c\n---\n"
    theirs = "---\ntags:\n  - b\n  - theirs\n---\n"
    assert merged(base, ours, theirs) == "---\ntags:\n  - b\n  - mine # c\n  - theirs\n---\n"
    assert (
        merged("---\nt: [a]\n---\n", "---\nt: [a, 'b']\n---\n", "---\nt: [c, a]\n---\n") == "---\nt: [c, a, 'b']\n---\n"
    )


def test_mappings_merge_by_key() -> None:
    base, ours, theirs = "s:\n  a: 1\n", "s:\n  a: 1\n  b: 2\n", "s:\n  a: 1\n  c: 3\n"
    assert merged(*(f"---\n{side}---\n" for side in (base, ours, theirs))) == "---\ns:\n  a: 1\n  b: 2\n  c: 3\n---\n"
    assert merged("---\ns: {}\n---\n", "---\ns:\n  k: 1\n---\n", "---\ns:\n  k: 2\n---\n") is None


def test_comments_stay_with_their_key() -> None:
    base = "---\n# one\na: 1\nb: 2\n# end\n---\nx\n"
    ours = "---\n# one\na: 5\nb: 2\n# end\n---\nx\n"
    theirs = "---\n# one, really\na: 1\n# two\nb: 2\nc: 3\n# end\n---\nx\ny\n"
    assert merged(base, ours, theirs) == "---\n# one, really\na: 5\n# two\nb: 2\nc: 3\n# end\n---\nx\ny\n"


def test_a_header_and_a_body_that_change_apart_merge() -> None:
    assert merged("text\n", "---\na: 1\n---\ntext\n", "text\nmore\n") == "---\na: 1\n---\ntext\nmore\n"
    assert merged("---\na: 1\n---\nx\n", "x\n", "---\na: 1\n---\ny\n") == "y\n"
    assert merged("one\n", "two\n", "three\n") is None


def test_headers_that_cannot_be_read_merge_by_line() -> None:
    base = "---\nt: {{x}}\n---\none\ntwo\nthree\nfour\n"
    assert merged(base, base.replace("one", "1"), base.replace("four", "4")) == base.replace("one", "1").replace(
        "four", "4"
    )
    assert merged("---\n{a: 1}\n---\n\n\nx\n", "---\n{a: 2}\n---\n\n\nx\n", "---\n{a: 1}\n---\n\n\ny\n") == (
        "---\n{a: 2}\n---\n\n\ny\n"
    )


@given(bodies, bodies, bodies, st.booleans(), st.booleans())
def test_appended_lines_come_once_below_theirs(
    base: list[str], mine: list[str], other: list[str], bare: bool, changed: bool
) -> None:
    start = write({}, base)[: -1 if bare and base else None]
    gap = b"\n" if start and not start.endswith(b"\n") else b""
    ours = start + gap + write({}, mine)
    theirs = (b"edited\n" if changed else b"") + start + gap + write({}, other)
    result = merge_append(start, ours, theirs)
    assert result is not None
    assert result.startswith(theirs[: len(theirs) - 1])
    there = result == theirs and theirs.startswith(ours.rstrip(b"\n"))
    assert there or result.rstrip(b"\n").endswith(write({}, mine).rstrip(b"\n"))
    assert merge_append(start, ours, result) == result


def test_what_is_not_an_append_is_refused() -> None:
    assert merge_append(b"a\nb\n", b"a\nB\n", b"a\nb\nc\n") is None
    assert merge_append(b"a\nb", b"a\nb and more\n", b"a\nb\nc\n") is None
    assert merge_append(b"", b"---\nid: 1\n---\nx\n", b"---\nid: 2\n---\ny\n") is None
    assert merge_append(b"", b"---\nid: 1\n---\nx\n", b"---\nid: 1\n---\ny\n") == b"---\nid: 1\n---\ny\nx\n"
    assert merge_append(b"a\n", b"a\nx", b"a\nxyz\n") == b"a\nxyz\nx"
    assert merge_append(b"a\n", b"a\nx\n", b"a\nx") == b"a\nx"


def test_a_comment_that_was_put_above_a_key_is_not_deleted_with_it() -> None:
    base = "---\nstatus: open\ndue: friday\n---\nbody\n"
    ours, theirs = base.replace("due: friday\n", ""), base.replace("due:", "# ask Ann first\ndue:")
    assert merged(base, ours, theirs) is None and merged(base, theirs, ours) is None


@pytest.mark.parametrize(
    ("base", "ours", "theirs"),
    [
        ("uses: 4", "uses: 5", "uses: 3"),
        ("updated: 2026-01-02", "updated: 2026-01-03", "updated: 2026-01-01"),
        ("people: [{name: Ann, age: 1}]", "people: [{name: Ann, age: 2}]", "people: [{name: Ann, age: 3}]"),
        ("about: {x: 1, y: 2}", "about: {x: 3, y: 2}", "about: {y: 2}"),
    ],
)
def test_a_value_that_both_have_changed_is_not_chosen(base: str, ours: str, theirs: str) -> None:
    sides = [f"---\n{each}\n---\nbody\n" for each in (base, ours, theirs)]
    assert merged(*sides) is None
