"""Links follow a note that has another name or folder."""

import pytest

from agent.markdown.relink import relinked

MOVES = {"plan.md": "trips/schedule.md", "a/tea.md": "b/tea.md"}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("See [[plan]].", "See [[schedule]]."),
        ("![[plan#Week 1|the plan]]", "![[schedule#Week 1|the plan]]"),
        ("[[plan.md]] [[Plan]] [[planning]]", "[[schedule.md]] [[Plan]] [[planning]]"),
        ("[x](plan.md#a) and [y](<plan.md>)", "[x](trips/schedule.md#a) and [y](<trips/schedule.md>)"),
        ("[[a/tea]] [[tea]] [z](a/tea.md)", "[[b/tea]] [[tea]] [z](b/tea.md)"),
        ("| [[plan\\|p]] |", "| [[schedule\\|p]] |"),
        ("https://example.org/plan.md and plan.md", "https://example.org/plan.md and plan.md"),
        ("关于 [[plan]]。", "关于 [[schedule]]。"),
    ],
)
def test_a_link_follows(before: str, after: str) -> None:
    assert relinked(before.encode(), MOVES).decode() == after


def test_a_name_that_another_note_has_is_left() -> None:
    moves = {"a/tea.md": "b/coffee.md"}
    assert relinked(b"[[tea]] [[a/tea]]", moves, {"tea"}).decode() == "[[tea]] [[b/coffee]]"
    assert relinked(b"[[tea]] [[a/tea]]", moves).decode() == "[[coffee]] [[b/coffee]]"


def test_bytes_that_are_no_text_stay() -> None:
    data = b"\xff\xfe [[plan]] \r\n"
    assert relinked(data, {}) == data
    assert relinked(data, MOVES) == b"\xff\xfe [[schedule]] \r\n"
