"""Text is added to one section of a note, and no other line changes."""

from hypothesis import given
from hypothesis import strategies as st

from agent.markdown.appending import add_to_section

NEW = b"### 10:00 - new\n\n- done\n"
ROWS = st.lists(
    st.sampled_from(["# Day", "## Log", "## Mine", "### 09:00 - a", "words", "", "%% mark %%", "> quoted"]),
    max_size=9,
)


def test_a_missing_section_is_added_at_the_end() -> None:
    assert add_to_section(b"# Day\n", b"## Log", NEW) == b"# Day\n\n## Log\n\n" + NEW
    assert add_to_section(b"words", b"## Log", NEW) == b"words\n\n## Log\n\n" + NEW


def test_it_comes_before_the_next_heading_and_before_marks() -> None:
    note = b"# Day\n\n## Log\n\n### 09:00 - a\n\n- x\n\n%% s %%\n## Mine\n\nwords\n"
    after = add_to_section(note, b"## Log", NEW)
    assert after == note.replace(b"- x\n\n", b"- x\n\n" + NEW + b"\n")
    assert add_to_section(b"## Log\r\na\r\n## Mine\r\n", b"## Log", b"b") == b"## Log\r\na\r\n\r\nb\r\n\r\n## Mine\r\n"


def test_a_heading_in_code_is_none() -> None:
    note = b"```\n## Log\n```\n"
    assert add_to_section(note, b"## Log", b"b") == note + b"\n## Log\n\nb\n"


@given(ROWS, st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_every_line_stays_in_its_order(rows: list[str], newline: str, ends: bool) -> None:
    note = newline.join(rows) + (newline if ends else "")
    once = add_to_section(note.encode(), b"## Log", NEW).decode()
    twice = add_to_section(once.encode(), b"## Log", b"again").decode()
    rest = iter(twice.splitlines())
    assert all(row in rest for row in rows if row.strip())
    assert once.count("### 10:00 - new") == 1 and twice.count("## Log") == once.count("## Log")
