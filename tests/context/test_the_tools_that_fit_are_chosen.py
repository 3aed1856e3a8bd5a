"""Choosing tools: the few that fit the task, always alike, and later only more of them."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.context.tool_choice import choose_tools
from agent.llm.messages import ToolSpec
from tests.context.talk import tool

SPECS = [
    tool("search_vault", "Search the notes of the vault for words or meaning."),
    tool("vault_read", "Read a note, or some lines of it."),
    tool("vault_write", "Write a whole note, new or in place of the old."),
    tool("vault_edit", "Change one passage of a note."),
    tool("vault_append", "Add text at the end of a note."),
    tool("vault_move", "Give a note another path."),
    tool("vault_list", "List the notes in a folder."),
    tool("memory_recall", "Recall what was said or decided before."),
    tool("memory_save", "Save a fact to remember."),
    tool("web_fetch", "Fetch a web page."),
    tool("human_ask", "Ask the person a question."),
    tool("delegate", "Have a part of the task done by itself."),
]


@pytest.mark.parametrize(
    ("task", "name"),
    [
        ("Move the tea note into the folder drinks", "vault_move"),
        ("What does https://example.org say?", "web_fetch"),
        ("Remember that Anna likes green tea", "memory_save"),
        ("List everything in projects", "vault_list"),
        ("搜索一下关于绿茶的笔记", "search_vault"),
        ("把这篇笔记移动到归档", "vault_move"),
        ("打开这个网页看看", "web_fetch"),
        ("记住：安娜喜欢绿茶", "memory_save"),
    ],
)
def test_a_tool_that_fits_is_among_three(task: str, name: str) -> None:
    assert name in [spec.name for spec in choose_tools(task, SPECS, None, 3)]


def test_where_nothing_fits_the_first_are_taken() -> None:
    assert choose_tools("嗯", SPECS, None, 5) == tuple(SPECS[:5])


def test_meaning_counts_beside_words() -> None:
    def score(texts: Sequence[str], task: str) -> Sequence[float]:
        return [1.0 if text.startswith("delegate: ") else 0.0 for text in texts]

    assert choose_tools("Divide et impera", SPECS, score, 3)[0].name == "delegate"


@given(st.text(max_size=80), st.integers(0, 12), st.permutations(SPECS))
def test_there_are_as_many_as_wanted_each_once_and_always_the_same(
    task: str, limit: int, specs: list[ToolSpec]
) -> None:
    chosen = choose_tools(task, specs, None, limit)
    assert len(chosen) == max(limit, 3)
    assert len({spec.name for spec in chosen}) == len(chosen)
    assert choose_tools(task, specs, None, limit) == chosen
