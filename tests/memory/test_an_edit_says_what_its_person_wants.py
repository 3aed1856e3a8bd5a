"""What one edit of the agent's text says: the same facts in another form, another value, or a wish; or nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.memory.blame import AuthoredLine
from agent.memory.edits.lesson import lessons_in

LONG = "The meeting with the landlord took place on Friday afternoon in the office; after long talks the rent stays."
NUMBERED = "\n".join(f"Line number {at} says something of its own" for at in range(10))


def said(before: str, after: str) -> list[tuple[str, str, str]]:
    lines = [AuthoredLine(line, own=True) for line in before.split("\n")]
    return [(each.kind, each.topic, each.value) for each in lessons_in(lines, after.split("\n"))]


@pytest.mark.parametrize(
    ("before", "after", "lesson"),
    [
        (LONG, "Meeting with the landlord on Friday: the rent stays.", ("style", "length", "shorter")),
        ("Meeting with the landlord on Friday: the rent stays.", LONG, ("style", "length", "longer")),
        (NUMBERED, "\n".join(NUMBERED.split("\n")[:4]), ("style", "length", "shorter")),
        (
            "Buy bread, milk and eggs, then call Anna and water the plants.",
            "- Buy bread, milk and eggs\n- call Anna\n- water the plants",
            ("style", "list", "items"),
        ),
        (
            "- Buy bread, milk and eggs\n- call Anna\n- water the plants",
            "Buy bread, milk and eggs, then call Anna and water the plants.",
            ("style", "list", "prose"),
        ),
        ("Great idea 🎉 let us go there", "Great idea, let us go there", ("style", "emoji", "without")),
        ("Due on 2026-11-23 in Oslo.", "Due on 23 November 2026 in Oslo.", ("style", "dates", "words")),
        ("Due on Nov 23, 2026 in Oslo.", "Due on 2026-11-23 in Oslo.", ("style", "dates", "iso")),
        ("截止日期是 2026-11-23，请注意。", "截止日期是 2026年11月23日，请注意。", ("style", "dates", "chinese")),
        ("会议在北京举行，明天三点。", "The meeting takes place in Beijing tomorrow.", ("style", "language", "en")),
        ("# A\n\nText of it\n\n# B\n\nMore of it", "Text of it\n\nMore of it", ("style", "headings", "fewer")),
        ("Text of it\n\nMore of it", "# A\n\nText of it\n\n# B\n\nMore of it", ("style", "headings", "more")),
        ("The meeting is in Bergen on Friday.", "The meeting is in Oslo on Friday.", ("correction", "Bergen", "Oslo")),
        ("会议在北京举行，时间是下午。", "会议在上海举行，时间是下午。", ("correction", "北京", "上海")),
        ("Due on 2026-11-23 in Oslo.", "Due on 2026-11-24 in Oslo.", ("correction", "2026-11-23", "2026-11-24")),
        ("# Plan\n\nText\n\n## Next steps\n\n- a\n- b", "# Plan\n\nText", ("preference", "Next steps", "without")),
        ("- Summary: all fine\n- Cost: 3", "- Cost: 3", ("preference", "Summary", "without")),
        ("One", "One\nPlease always use tables.", ("preference", "Please always use tables", "with")),
        ("一", "一\n以后请用表格。", ("preference", "以后请用表格", "with")),
    ],
)
def test_an_edit_is_a_lesson(before: str, after: str, lesson: tuple[str, str, str]) -> None:
    assert lesson in said(before, after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("teh meeting is on Friday", "the meeting is on Friday"),
        ("The rent stays.", "The rent stays.\nAnd we have a garden now."),
        ("First this\nThen that", "Then that\nFirst this"),
        ("The meeting went well", "A wholly different sentence about bicycles"),
        ("The rent stays as it is now.", "The rent of the flat in Malmö stays at 900 for Ida and Per until spring."),
        ("- [ ] call Anna", "- [x] call Anna"),
        ("# Plan\n\nGo to Oslo\n\n## Next steps\n\n- a", ""),
        ("An answer\nof two lines", "My own note of something else entirely, and\n\nmore"),
    ],
)
def test_what_only_says_more_or_otherwise_is_no_lesson(before: str, after: str) -> None:
    assert said(before, after) == []


def test_what_is_cut_down_as_a_whole_is_one_lesson() -> None:
    sections = [f"## Part {at}\n\nA sentence that says something of its own.\n" for at in range(5)]
    assert said("\n".join(sections), sections[0]) == [("style", "length", "shorter")]


def test_what_the_person_wrote_is_theirs_to_change() -> None:
    lines = [AuthoredLine("Mine is in Bergen on Friday.", own=False), AuthoredLine("The agent's.", own=True)]
    assert lessons_in(lines, ["Mine is in Oslo on Friday.", "The agent's."]) == ()
    assert lessons_in(lines[:1], ["Please always use tables."]) == ()


@given(st.text(max_size=300), st.text(max_size=300))
def test_no_text_is_an_error(before: str, after: str) -> None:
    said(before, after)
