"""Sentences that say how somebody wants things, in English and Chinese; and those that only look like it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.markdown.preferences import preferences


@pytest.mark.parametrize(
    "text",
    [
        "I prefer short answers",
        "I'd rather have tables than prose.",
        "I really like green tea",
        "Please always answer in German.",
        "Never write to my daily notes!",
        "From now on, use metric units.",
        "Don't use emojis.",
        "Please don’t use emojis.",
        "And remember that the meeting is on Fridays.",
        "My favourite editor is vim.",
        "You must never delete notes",
        "By default, save drafts in inbox/.",
        "Call me Anna.",
        "我喜欢简短的回答。",
        "我更喜欢表格而不是长段落",
        "我不喜欢表情符号。",
        "以后都用中文回答。",
        "请不要修改我的日记！",
        "从现在开始，日期都写成 ISO 格式",
        "默认用公制单位。",
        "记住，周五开会。",
        "好的，不要加标题。",
        "我们一般习惯先写摘要。",
        "务必先备份。",
        "叫我安娜。",
    ],
)
def test_a_wish_is_recognised(text: str) -> None:
    assert preferences(text) == (text.replace("’", "'"),)


@pytest.mark.parametrize(
    "text",
    [
        "What do I like?",
        "Do you remember what I prefer?",
        "I want a list of all my notes.",
        "The report is ready.",
        "She said that it works like a charm.",
        "How do I always get the newest version?",
        "```\nalways: true\nI prefer tabs\n```",
        "> Always answer in German.",
        "I prefer " + "very " * 80 + "long sentences.",
        "我喜欢什么茶？",
        "你记得我喜欢什么吗",
        "列出所有关于绿茶的笔记。",
        "这篇文章讲了别人的故事。",
        "要不要加标题？",
        "",
    ],
)
def test_what_is_no_wish_is_left_alone(text: str) -> None:
    assert preferences(text) == ()


def test_wishes_are_found_among_other_sentences_in_order() -> None:
    text = "Tidy my notes. I prefer v1.2 of the plan. Thanks!\n- Never touch daily/\n- 以后都写摘要；谢谢"
    assert preferences(text) == ("I prefer v1.2 of the plan.", "Never touch daily/", "以后都写摘要；")


@given(st.text(alphabet="Iprefe .,!我喜欢不要\n`>~-’", max_size=400))
def test_any_text_can_be_looked_at(text: str) -> None:
    for sentence in preferences(text):
        assert sentence in text.replace("’", "'")


@pytest.mark.parametrize("piece", ["please ", "a.b", "> x\n", "```\n", "我也都更", "my preferred ", "I really "])
def test_no_long_text_sends_a_pattern_astray(piece: str) -> None:
    """A pattern gone wild would never come back."""
    assert len(preferences(piece * 20_000)) <= 20_000
