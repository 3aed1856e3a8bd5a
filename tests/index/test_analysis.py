"""The terms of a text: words in any form, Chinese without spaces, identifiers whole and in parts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.index import analysis
from agent.index.analysis import LONGEST, query_terms, terms, title_terms


@pytest.mark.parametrize(
    ("asked", "written"),
    [
        ("running", "she runs"),
        ("go", "they went home"),
        ("Café", "the CAFÉ"),
        ("ｆｕｌｌ width", "full"),
        ("Melanie", "Melanie’s kids"),
        ("bar", "foo_bar"),
        ("foo_bar", "in foo_bar()"),
        ("fooBar", "call fooBar now"),
        ("bar", "fooBar"),
        ("v1.2.3", "since v1.2.3"),
        ("e1234-5", "failed: E1234-5."),
        ("C++", "written in C++"),
        ("12:30", "at 12:30"),
        ("笔记本", "我的笔记本很新"),
        ("猫", "小猫睡觉"),
        ("カタカナ", "これはカタカナです"),
        ("한국어", "한국어로 말하다"),
    ],
)
def test_what_is_asked_meets_what_is_written(asked: str, written: str) -> None:
    assert set(query_terms(asked)) & set(terms(written))


def test_stop_words_are_left_out_unless_there_is_nothing_else() -> None:
    assert query_terms("what did you do with the kettle") == ["kettl"]
    assert query_terms("the who") == ["the", "who"]
    assert title_terms("The Who") == ["the", "who"]
    assert terms("to be or not to be") == []
    assert query_terms("如何创建笔记") == ["创建", "建笔", "笔记"]
    assert query_terms("罗师傅怎么说") == query_terms("罗师傅 怎么说") == ["罗师", "师傅"]
    assert query_terms("谁") == ["谁"]
    assert query_terms("房子多大") == ["房子"]
    assert "大学" in query_terms("多伦多大学") and "大米" in query_terms("买了很多大米")
    assert query_terms("为什么") == ["为什", "什么", "为", "什", "么"]


@given(st.text(max_size=200))
def test_any_text_has_terms_without_spaces_of_bounded_length(text: str) -> None:
    for term in (*terms(text), *query_terms(text)):
        assert term
        assert not any(character.isspace() for character in term)
        assert len(term) <= LONGEST + 8


@given(st.text(alphabet=st.characters(categories=("L", "N")), min_size=1, max_size=12))
def test_every_word_finds_itself(word: str) -> None:
    assert set(query_terms(word)) <= set(title_terms(word))


@given(st.text(st.characters(max_codepoint=127)))
def test_plain_text_is_cut_as_any_other(text: str) -> None:
    assert analysis._ASCII_RUN.findall(text) == analysis._run().findall(text)
