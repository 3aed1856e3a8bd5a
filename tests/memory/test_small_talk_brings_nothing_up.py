"""Nothing that is known belongs to a greeting or a thank-you; whatever says anything at all is no small talk."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.memory.understanding.statements import is_small_talk, without_phrases


@pytest.mark.parametrize(
    "said",
    ["Thanks!", "thank you so much", "Good morning, how are you today?", "ok, do that", "OK — go on.", "yes please"]
    + ["你好", "谢谢你，辛苦了！", "好的，就这样", "继续吧", "早上好，最近怎么样？", "嗯嗯"]
    + ["That’s great, thanks", "hi", "👍 thanks"],
)
def test_what_is_said_in_passing(said: str) -> None:
    assert is_small_talk(said)


@pytest.mark.parametrize(
    "said",
    [
        "Where does my sister live?",
        "and when is it due?",
        "what can you do?",
        "他住哪里？",
        "你是谁？",
        "我对什么过敏？",
        "tea",
    ]
    + [
        "thanks, and the boiler?",
        "好的，猫叫什么？",
        "继续教育的学费是多少？",
        "do it in Lisbon",
        "Who am I?",
        "6 pm",
        "",
        " ",
    ],
)
def test_what_says_anything_at_all_is_not(said: str) -> None:
    assert not is_small_talk(said)


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("Thanks! And where is the ring?", "And where is the ring"),
        ("What do I drink in the morning?", "What do I drink in the morning"),
        ("好的，猫叫什么？", "猫叫什么"),
        ("the ok-button", "the ok-button"),
    ],
)
def test_what_is_said_besides_stays(said: str, left: str) -> None:
    assert without_phrases(said) == left


@given(st.sampled_from(["thanks, ", "好的，", "OK — ", "hi! "]), st.sampled_from(["Clara", "杭州", "VeraCrypt", "412"]))
def test_a_name_or_a_number_is_never_small_talk(before: str, name: str) -> None:
    assert not is_small_talk(before + name) and name in without_phrases(before + name)


def test_laughter_is_cut_in_one_way_only() -> None:
    laughter = "哈" * 120 + "哦" * 120
    assert without_phrases(laughter) == ""
    assert without_phrases(f"{laughter}猫") == f"{laughter}猫"
