"""Counting tokens: by the tokenizer that ships, once for each text, and by estimate where there is none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.context.budget import MESSAGE, count_message, count_tool, counter, estimate, with_cache
from agent.index.embedder import load_wordllama
from agent.llm.messages import Assistant, ToolCall, User
from tests.context.talk import by_fours, tool


def test_the_shipped_tokenizer_counts_english_and_chinese() -> None:
    count = counter(load_wordllama())
    assert count("") == 0
    assert 9 <= count("The quick brown fox jumps over the lazy dog.") <= 14
    assert 8 <= count("敏捷的棕色狐狸跳过了懒狗。") <= 40
    assert count("word " * 1_000) >= 1_000


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("tea", 1), ("green tea", 3), ("绿茶", 2), ("绿茶 tea", 3)])
def test_without_one_the_characters_tell(text: str, tokens: int) -> None:
    assert estimate(text) == tokens
    assert counter(None)(text) == tokens


@given(st.text(), st.text())
def test_an_estimate_never_shrinks_when_text_is_added(one: str, other: str) -> None:
    assert estimate(one + other) >= estimate(one)


def test_a_text_is_counted_once() -> None:
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return len(text)

    again = with_cache(count)
    assert [again("tea"), again("tea"), again("cup")] == [3, 3, 3]
    assert counted == ["tea", "cup"]


def test_everything_that_goes_with_a_message_counts() -> None:
    plain = Assistant("x" * 40)
    assert count_message(User("x" * 40), by_fours) == count_message(plain, by_fours) == 10 + MESSAGE
    call = ToolCall("1", "vault_write", {"path": "a.md", "content": "文" * 400})
    assert count_message(Assistant("x" * 40, (call,)), by_fours) > 110
    assert count_message(Assistant("x" * 40, thinking=({"signature": "s" * 400},)), by_fours) > 110
    assert count_tool(tool("vault_read", "d" * 400), by_fours) > 110
