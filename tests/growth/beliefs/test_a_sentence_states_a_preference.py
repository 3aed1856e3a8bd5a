"""What a sentence says about what its person prefers, in both languages; and the many that say nothing to count."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.growth.beliefs.stated import stated_preferences


@pytest.mark.parametrize(
    ("sentence", "shown"),
    [
        ("I prefer short answers with a list.", [("style", "length", "shorter"), ("style", "list", "items")]),
        ("I prefer short answers to long ones.", [("style", "length", "shorter")]),
        ("I hate long reports.", [("style", "length", "shorter")]),
        ("Don't make it too short", [("style", "length", "longer")]),
        ("My answers are too long", [("style", "length", "shorter")]),
        ("No bullet points, please", [("style", "list", "prose")]),
        ("Please never use emojis.", [("style", "emoji", "without")]),
        ("From now on answer in Chinese.", [("style", "language", "zh")]),
        ("Please write dates as 2026-11-23", [("style", "dates", "iso")]),
        ("I prefer tea to coffee", [("rather", "coffee | tea", "tea")]),
        ("I'd rather have tea than coffee", [("rather", "coffee | tea", "tea")]),
        ("My favourite colour is green", [("favourite", "colour", "green")]),
        ("I don't like opera anymore.", [("taste", "opera", "dislikes")]),
        ("Never call me before ten", [("practice", "call me before ten", "without")]),
        ("Always use SI units.", [("practice", "use SI units", "with")]),
        ("我喜欢简短的回答", [("style", "length", "shorter")]),
        ("我不喜欢太长的回复", [("style", "length", "shorter")]),
        ("回答请详细一点", [("style", "length", "longer")]),
        ("不要用表情符号", [("style", "emoji", "without")]),
        ("以后请用中文回答", [("style", "language", "zh")]),
        ("我更喜欢茶而不是咖啡", [("rather", "咖啡 | 茶", "茶")]),
        ("比起咖啡，我更喜欢茶", [("rather", "咖啡 | 茶", "茶")]),
        ("我讨厌周一的视频会议", [("taste", "周一的视频会议", "dislikes")]),
        ("我最喜欢的颜色是绿色", [("favourite", "颜色", "绿色")]),
    ],
)
def test_a_preference_is_heard(sentence: str, shown: list[tuple[str, str, str]]) -> None:
    assert [(each.kind, each.topic, value) for each, value in stated_preferences(sentence)] == shown


@pytest.mark.parametrize(
    "sentence",
    [
        "Write a short report on moss",
        "My boss prefers short reports",
        "Do you prefer short answers?",
        "The long letter came back unopened.",
        "I don't mind long answers",
        "She likes tea more than coffee.",
        "The meeting is at ten.",
        "写一份简短的报告",
        "老板喜欢简短的报告",
        "你更喜欢茶还是咖啡？",
        "会议改到周三。",
    ],
)
def test_what_is_no_preference_of_theirs_is_none(sentence: str) -> None:
    assert stated_preferences(sentence) == ()


@given(st.text(max_size=200))
def test_no_text_is_an_error(text: str) -> None:
    stated_preferences(text)
