"""A row of a list is changed, taken out or added, and every other line of the note stays as it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.markdown.list_row import has_row, with_row

LINES = st.lists(st.sampled_from(["- a", "- b", "text", "", "  - below", "# Head", "```", "- a\u2028x"]), max_size=8)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@given(above=LINES, below=LINES, after=st.sampled_from(["- new", None]))
def test_only_that_row_changes(end: str, above: list[str], below: list[str], after: str | None) -> None:
    data = end.join([*above, "- the row", *below]).encode()
    assert has_row(data, "- the row")
    changed = [after] if after is not None else []
    assert with_row(data, "- the row", after) == end.join([*above, *changed, *below]).encode()
    assert with_row(data, "- another row", "- new") == data


@pytest.mark.parametrize(
    ("note", "wanted"),
    [
        ("", "- new\n"),
        ("# Head\n\nText.\n", "# Head\n\nText.\n\n- new\n"),
        ("# Head\n\nText.\n\n", "# Head\n\nText.\n\n- new\n"),
        ("- a\n- b\n\nText.\n", "- a\n- b\n- new\n\nText.\n"),
        ("---\ntype: x\n---\n- a\n  - below\n\nText", "---\ntype: x\n---\n- a\n  - below\n- new\n\nText\n"),
        ("- a\r\n", "- a\r\n- new\r\n"),
        ("- a", "- a\n- new\n"),
        ("# Head\n\n```\ncode\n", "# Head\n\n```\ncode\n```\n\n- new\n"),
        ("- a\n```\n- code\n```\n", "- a\n- new\n```\n- code\n```\n"),
    ],
)
def test_a_new_one_stands_below_the_last(note: str, wanted: str) -> None:
    assert with_row(note.encode(), None, "- new").decode() == wanted


@given(LINES)
def test_a_new_one_takes_no_line_away(lines: list[str]) -> None:
    after = with_row("\n".join(lines).encode(), None, "- new").decode().split("\n")
    left = [line for line in after if line and line != "- new"]
    before = [line for line in lines if line]
    assert left in (before, [*before, "```"]) and after.count("- new") == 1  # a fence that was left open is closed
