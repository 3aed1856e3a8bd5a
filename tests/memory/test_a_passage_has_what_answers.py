"""A passage has the lines around it that belong to it, and never ends with a question."""

from hypothesis import given
from hypothesis import strategies as st

from agent.memory.recall.widening import HEADER, LINES, WORDS, merged, widened, with_header

TALK = ["# Talk", "", "A: hello", "B: where do you live?", "", "A: in Porto", "## Later", "B: bye"]


def test_the_reply_belongs_to_the_question() -> None:
    assert widened(["one " * WORDS, "Where is it?", "In Porto."], (1, 2)) == (1, 3)
    assert widened(TALK, (4, 4)) == (1, 6)


def test_a_passage_stays_in_its_section_and_in_its_size() -> None:
    assert widened(TALK, (8, 8)) == (7, 8)
    rows = [f"line {at} {'word ' * 38}" for at in range(50)]
    assert widened(rows, (20, 22)) == (20, 23)
    short = [f"- item {at}" for at in range(50)]
    assert widened(short, (20, 21)) == (20 - LINES, 21 + LINES)


def test_the_header_is_no_part_of_it() -> None:
    assert widened(["---", "id: x", "---", "text", "more"], (5, 5), first=4) == (4, 5)


def test_the_top_of_a_note_has_its_short_header() -> None:
    rows = ["---", "phone: 912 000 111", "---", "", "# Nuno", "text", "more"]
    assert with_header(rows, (5, 7), 4) == (1, 7)
    assert with_header(rows, (6, 7), 4) == (6, 7)
    assert with_header(rows[3:], (2, 4), 1) == (2, 4)
    assert with_header(["---", *["a: 1"] * HEADER, "---", "text"], (15, 15), 15) == (15, 15)


def test_neighbours_are_one_passage_in_reading_order() -> None:
    assert merged([(30, 34), (1, 4), (6, 9), (8, 12)]) == [(1, 12), (30, 34)]


_ROWS = st.lists(st.sampled_from(["", "# Head", "text here", "who?", "谁？", "- item"]), min_size=1, max_size=30)


@given(_ROWS, st.data())
def test_it_has_what_was_found_and_no_question_at_its_end_but_at_the_note_s(
    rows: list[str], data: st.DataObject
) -> None:
    first = data.draw(st.integers(1, len(rows)))
    last = data.draw(st.integers(first, min(first + 3, len(rows))))
    begin, end = widened(rows, (first, last))
    core = [at for at in range(first, last + 1) if rows[at - 1].strip() and not rows[at - 1].startswith("#")]
    assert 1 <= begin <= end <= len(rows)
    assert all(begin <= at <= end for at in core)
    rest = [row for row in rows[end:] if row.strip()]
    assert not rows[end - 1].endswith(("?", "？")) or not rest or rest[0].startswith("#")
