"""Changes between two versions are told in a person's terms."""

import pytest
from hypothesis import given

from agent.markdown import changes
from agent.markdown.changes import PropertySet, TaskAdded, TaskRemoved, TaskTicked
from agent.markdown.note import Note
from agent.texts import translated
from tests.markdown.generate import notes


def told(old: str, new: str) -> list[str]:
    return [*changes.format_changes(changes.compare_notes(Note.parse(old.encode()), Note.parse(new.encode())))]


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        ("- [ ] Buy milk", "- [x] Buy milk", ["ticked: Buy milk"]),
        ("- [x] Buy milk", "- [ ] Buy milk", ["unticked: Buy milk"]),
        ("- [ ] Buy milk", "- [/] Buy milk", ["marked: Buy milk"]),
        ("- [ ] a ^id", "- [x] b ^id", ["ticked: b"]),
        ("", "- [ ] new", ["task added: new"]),
        ("- [ ] old", "", ["task removed: old"]),
        ("- [ ] a\n- [ ] b\n# H\n", "# H\n- [ ] b\n- [ ] a\n", []),
        ("- [ ] a\n- [ ] a", "- [ ] a\n- [x] a", ["ticked: a"]),
        ("x", "x #tag", ["tag added: #tag", "section changed: (top)"]),
        ("---\ntags: [a, B]\n---\n", "---\ntags: [b]\n---\n", ["tag removed: #a"]),
        ("---\ntags: [a, b]\n---\n", "---\ntags: [b, a]\n---\n", ["tags: a, b → b, a"]),
        ("[[A]]", "[[A|x]] [[B#c]]", ["link added: B#c", "section changed: (top)"]),
        ("---\nstatus: open\n---\n", "---\nstatus: done\n---\n", ["status: open → done"]),
        ("---\nn: 1\n---\n", "---\nn: true\n---\n", ["n: 1 → true"]),
        ("---\nn: .nan # c\n---\n", "---\n'n': .nan\n---\n", []),
        ("x", "---\ndue: 2026-01-01\n---\nx", ["due: 2026-01-01"]),
        ("---\ndue: 2026-01-01\n---\nx", "x", ["due removed (was 2026-01-01)"]),
        ("---\na: {{x}}\n---\n", "---\na: 1\nb: 2\n---\n", []),
        ("# Plan\na", "# Plan\nb", ["section changed: Plan"]),
        ("# Plan\n## Week\na", "# Plan\n## Week\nb", ["section changed: Plan › Week"]),
        ("# A\nx", "# B\nx", ["section added: B", "section removed: A"]),
        ("x\n", "x \n\n\n", []),
        ("same", "same", []),
    ],
)
def test_a_change_is_one_plain_line(old: str, new: str, lines: list[str]) -> None:
    assert told(old, new) == lines


def test_changes_carry_what_a_reaction_needs() -> None:
    old = Note.parse(b"---\nstatus: open\n---\n- [ ] approve\n- [ ] gone\n")
    new = Note.parse(b"---\nstatus: done\nx: 1\n---\n- [x] approve\n- [ ] new\n")
    assert changes.compare_notes(old, new) == (
        PropertySet("status", "open", "done"),
        PropertySet("x", None, 1),
        TaskTicked("approve", 5),
        TaskAdded("new", 6),
        TaskRemoved("gone"),
    )


@given(notes(), notes())
def test_any_two_versions_can_be_compared(old: bytes, new: bytes) -> None:
    there = changes.compare_notes(Note.parse(old), Note.parse(new))
    assert len(changes.format_changes(there)) == len(there)
    assert all("\n" not in line for line in changes.format_changes(there))
    assert changes.compare_notes(Note.parse(old), Note.parse(old)) == ()


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("", "- [ ] marked: no", "新增任务：marked: no"),
        ("x #a", "x", "删除标签：#a"),
        ("---\ntags: []\n---\n", "---\ntags: a\n---\n", "新增标签：#a"),
        ("---\ndue: ''\n---\n", "---\ndue: ticked\n---\n", "due：（空） → ticked"),
        ("---\ndue: x\n---\n", "", "删除 due（原为 x）"),
        ("a", "b", "修改小节：（开头）"),
        ("# ticked\na", "# ticked\nb", "修改小节：ticked"),
    ],
)
def test_a_line_can_be_told_in_chinese_and_a_persons_words_stay(old: str, new: str, line: str) -> None:
    found = changes.format_changes(changes.compare_notes(Note.parse(old.encode()), Note.parse(new.encode())))
    assert translated(found[0], "zh") == line
