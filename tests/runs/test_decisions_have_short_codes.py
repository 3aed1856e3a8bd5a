"""Codes for what waits are short, differ, and never change; a reply is told from ordinary words."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.asking.codes import CODE, LONGEST, with_codes
from agent.asking.replies import DecisionReply, parse_decision
from agent.deeds.decisions import yes_or_no
from agent.errors import UserError

IDS = st.lists(st.text("0123456789ABCDEFGHJKMNPQRSTVWXYZ", min_size=26, max_size=26), unique=True, max_size=200)


@given(IDS)
def test_every_note_has_a_code_of_its_own_that_newer_notes_do_not_change(ids: list[str]) -> None:
    notes = [(id, f"approvals/{id}.md") for id in sorted(ids)]
    coded = with_codes(notes)
    assert len({each.code for each in coded}) == len(notes)
    assert all(re.fullmatch(CODE, each.code) and 3 <= len(each.code) <= LONGEST for each in coded)
    assert with_codes(notes[: len(notes) // 2]) == coded[: len(notes) // 2]


@pytest.mark.parametrize(
    ("words", "reply"),
    [
        ("yes 7K2", DecisionReply("7K2", True, "yes")),
        ("No, 7k2 it is too long", DecisionReply("7K2", False, "No", "it is too long")),
        ("7K2 yes", DecisionReply("7K2", True, "yes")),
        ("7K2 2", DecisionReply("7K2", None, "", "2")),
        ("同意7K2", DecisionReply("7K2", True, "同意")),
        ("不 7K2", DecisionReply("7K2", False, "不")),
        ("不同意 7K2。太长", DecisionReply("7K2", False, "不同意", "太长")),
        ("yes 7K2M4", DecisionReply("7K2M4", True, "yes")),
        ("7K2 好的，谢谢", DecisionReply("7K2", True, "好的", "谢谢")),
        ("ｙｅｓ　７Ｋ２", DecisionReply("7K2", True, "yes")),
        ("７Ｋ２ ＮＯ：太长，重写", DecisionReply("7K2", False, "ＮＯ", "太长，重写")),
    ],
)
def test_a_reply_is_understood(words: str, reply: DecisionReply) -> None:
    assert parse_decision(words) == reply


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("ｙ", (True, "")),
        ("好的，谢谢", (True, "谢谢")),
        ("不行：太长", (False, "太长")),
        (" Yes! go on", (True, "go on")),
    ],
)
def test_a_yes_without_a_code_is_understood_as_one_with_it(words: str, meant: tuple[bool, str]) -> None:
    assert yes_or_no(words) == meant


def test_a_word_that_only_begins_with_a_no_is_none() -> None:
    with pytest.raises(UserError):
        yes_or_no("不要紧")


ORDINARY = ["no way", "yes please do", "yes", "What is 7K2?", "yes yes 7K2", "not 7K2", "7K", ""]


@pytest.mark.parametrize("words", ORDINARY)
def test_other_words_are_no_reply(words: str) -> None:
    assert parse_decision(words) is None
