"""No line is lost, both machines decide the same, merging again changes nothing, and a header stays readable."""

import re
from collections import Counter

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from agent.errors import BadNote
from agent.markdown import note
from agent.markdown.merging.notes import MergedNote, merge_notes
from agent.markdown.note import split
from agent.markdown.yaml_write import Value, is_list, same
from tests.markdown.generate import notes
from tests.markdown.merging.generate import three_versions

Versions = tuple[bytes, bytes, bytes]
_BLOCK_ID = re.compile(rb"(?:^|[ \t])\^([A-Za-z0-9-]+)[ \t\r]*$", re.MULTILINE)
_WORD = re.compile(r"[\u2e80-\u9fff]|[^\W_\u2e80-\u9fff]+")
_MARKERS = (b"<<<<<<<", b"|||||||", b"=======", b">>>>>>>")
few = settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
many = settings(few, max_examples=100_000)


def header(data: bytes) -> dict[str, Value] | None:
    """The keys of a note; None if they cannot be parsed."""
    try:
        return {entry.key: entry.value for entry in note.entries(split(data))}
    except BadNote:
        return None


def rows(data: bytes) -> Counter[str]:
    """The lines of a body that are not blank, without their indentation and the numbers of a list."""
    lines = split(data).body.decode("utf-8", "replace").splitlines()
    return Counter(re.sub(r"^[0-9]+(?=[.)] )", "1", line.strip()) for line in lines if line.strip())


def untick(lines: Counter[str]) -> set[str]:
    """The lines with their tasks unticked: a task that is ticked on one side stays ticked."""
    return {re.sub(r"^[-*+] \[.\]", "- [ ]", line) for line in lines}


def as_items(lines: Counter[str]) -> set[str]:
    """The tasks as plain items: an item that is a task on one side stays one."""
    return {re.sub(r"^([-*+]) \[.\]", r"\1", line) for line in lines}


def words(*texts: str) -> set[str]:
    return {word for text in texts for word in _WORD.findall(text)}


def check_lines(versions: Versions, merged: MergedNote) -> None:
    """What a side added is in the result: the line, or in a line that both sides changed, each of its new words."""
    base, *sides = (rows(data) for data in versions)
    kept = {line for line, count in base.items() if sides[0][line] + sides[1][line] > count}
    found = rows(merged.data) + (rows(merged.other) if merged.other is not None else Counter())
    before, after = words(*base), words(*found)
    for line in kept | set(sides[0]) - set(base) | set(sides[1]) - set(base):
        assert line in found or words(line) - before <= after, (line, versions, merged)


def items(value: Value) -> set[str]:
    return {repr(item) for item in value} if is_list(value) else {repr(value)}


def check_header(versions: Versions, merged: MergedNote) -> None:
    """Both readable: the result is too, has no other keys, and every value that a side set, there or in `other`."""
    found, base = header(merged.data), header(versions[0]) or {}
    ours, theirs = header(versions[1]), header(versions[2])
    if ours is None or theirs is None:
        return
    assert found is not None, (versions, merged)
    assert found.keys() <= ours.keys() | theirs.keys()
    if merged.other is not None:
        return
    for side in (ours, theirs):
        for key, value in side.items():
            if key not in base or not same(base[key], value):
                assert key in found, (key, versions, merged)
                if is_list(value):
                    assert items(value) - items(base.get(key)) <= items(found[key]), (key, versions, merged)


def check_laws(versions: Versions) -> None:
    base, ours, theirs = versions
    merged = merge_notes(base, ours, theirs)
    assert merge_notes(base, theirs, ours) == merged, versions
    assert merge_notes(base, ours, base) == MergedNote(ours)
    assert merge_notes(base, base, theirs) == MergedNote(theirs)
    assert merge_notes(base, ours, ours) == MergedNote(ours)
    check_lines(versions, merged)
    check_header(versions, merged)
    markers = [line for line in merged.data.split(b"\n") if line.startswith(_MARKERS)]
    assert all(line.rstrip(b"\r") in ours + theirs for line in markers)
    for name, count in Counter(_BLOCK_ID.findall(split(merged.data).body)).items():
        assert count == 1 or max(_BLOCK_ID.findall(split(side).body).count(name) for side in (ours, theirs)) > 1
    if merged.other is None:
        assert merge_notes(base, merged.data, theirs) == merged, versions
        assert merge_notes(base, ours, merged.data) == merged, versions
    else:
        assert merged.other in (ours, theirs)


@given(three_versions())
@few
def test_the_laws_hold_for_a_person_s_edits(versions: Versions) -> None:
    check_laws(versions)


@given(notes(), notes(), notes())
@example(b"", b"---\n\n\n---\n", b"---\ntext: |+\n---\n")
@settings(max_examples=300, deadline=None)
def test_the_laws_hold_for_odd_notes(base: bytes, ours: bytes, theirs: bytes) -> None:
    check_laws((base, ours, theirs))


@given(st.binary(max_size=20), st.binary(max_size=20), st.binary(max_size=20))
@settings(max_examples=200, deadline=None)
def test_bytes_that_are_no_text_are_kept_whole(base: bytes, ours: bytes, theirs: bytes) -> None:
    check_laws((base + b"\0", ours + b"\0", theirs + b"\xff"))


@given(three_versions())
@example((b"", b"# T\n- [x] eggs\n- red\n", b"# T\n- [x] red\n- a\n"))
@example(
    (
        b"",
        "a new thing is here\na # Title\n## Plan\n1. first\n## 计划\n- red\n".encode(),
        "blue # Title\n## Plan\n1. red\n## 计划\na new thing is here\n- a\n".encode(),
    )
)
@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
def test_without_a_base_everything_of_both_is_kept(versions: Versions) -> None:
    _, ours, theirs = versions
    for is_log in (False, True):
        merged = merge_notes(None, ours, theirs, is_log=is_log)
        assert merge_notes(None, theirs, ours, is_log=is_log) == merged
        found = rows(merged.data) + (rows(merged.other) if merged.other is not None else Counter())
        assert untick(rows(ours)) | untick(rows(theirs)) <= untick(found) | as_items(found)


@pytest.mark.chaos
@given(three_versions())
@many
def test_the_laws_hold_in_a_hundred_thousand_cases(versions: Versions) -> None:
    check_laws(versions)
