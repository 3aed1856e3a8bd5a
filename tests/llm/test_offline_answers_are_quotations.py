"""Without a model: quotations with links, and a plain word about what is missing."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import ConfigError
from agent.llm.messages import Request, User
from agent.llm.offline import MOST, Offline, Quoted, QuotedPassage, format_reply
from agent.texts import Language

TEA = QuotedPassage("drinks/tea.md", "Boil water.\n\n- wait three minutes\n", (3, 6), "How to make it", "Tea")


def extracts(passages: Sequence[QuotedPassage], language: Language = "en") -> str:
    return format_reply((), Quoted(passages), language)


def test_the_stand_in_says_that_it_is_none_and_never_answers() -> None:
    assert not Offline().model.present
    with pytest.raises(ConfigError) as raised:
        Offline().chat(Request((User("hello"),)))
    assert "llm.preset" in raised.value.hint


def test_passages_are_quoted_and_linked() -> None:
    answer = extracts([TEA])
    assert "> Boil water.\n>\n> - wait three minutes\n" in answer
    assert "[[drinks/tea#How to make it|Tea]], lines 3–6" in answer
    assert "|Tea]], line 3\n" in extracts([replace(TEA, lines=(3, 3))])
    assert "No language model is configured" in answer and "llm.preset" in answer


def test_chinese_is_answered_in_chinese() -> None:
    answer = extracts([QuotedPassage("茶.md", "水要烧开。", (1, 1))], "zh")
    assert "尚未配置语言模型" in answer and "> 水要烧开。" in answer and "[[茶|茶]]" in answer


@pytest.mark.parametrize("language", ["en", "zh"])
def test_nothing_found_is_said_plainly(language: str) -> None:
    answer = extracts([QuotedPassage("a.md", " \n", (1, 1))], language)
    assert ">" not in answer and "llm.preset" in answer
    assert "nothing in your notes" in answer or "没有找到" in answer


def test_only_the_best_are_quoted_and_none_twice_or_at_full_length() -> None:
    passages = [TEA, TEA, *(QuotedPassage(f"{n}.md", f"text {n} " * 1000, (1, 1)) for n in range(20))]
    answer = extracts(passages)
    assert answer.count("[[") == MOST and answer.count("Boil water") == 1
    assert len(answer) < 8000


@given(st.text(), st.text(), st.text(), st.text())
def test_no_text_breaks_out_of_its_quotation_or_its_link(text: str, heading: str, title: str, question: str) -> None:
    answer = extracts([QuotedPassage("a/b.md", f"x{text}", (1, 2), heading, title)])
    before, _, after = answer.partition("> From [[a/b")
    quoted = before.split("\n\n", 1)[1] if before else ""
    assert all(line.startswith(">") for line in quoted.splitlines())
    assert after.split("\n")[0].count("]]") == 1
