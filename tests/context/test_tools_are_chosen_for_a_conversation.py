"""Choosing tools: all while they take less than a tenth of the window, else the core; a search finds the rest."""

from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from agent.context.assemble import CORE, choose_tools, find_tools
from agent.context.budget import count_tool
from agent.llm.messages import ToolSpec
from tests.context.talk import tool

TASKS = yaml.safe_load(Path(__file__).with_name("ordinary_tasks.yaml").read_text("utf-8"))
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
    tool("skills", "list: the skills\nshow(name): a skill's text"),
    tool("shell_run", "Run a program."),
    tool("tool_search", "Find further tools."),
]
TOKENS = sum(count_tool(spec, len) for spec in SPECS)


def names(specs: Sequence[ToolSpec]) -> list[str]:
    return [spec.name for spec in specs]


def test_all_are_described_while_they_take_less_than_a_tenth_of_the_window() -> None:
    assert choose_tools(SPECS, 10 * TOKENS + 1, len) == tuple(SPECS)


def test_else_the_core_is_in_its_order() -> None:
    chosen = names(choose_tools(SPECS, 10 * TOKENS, len))
    assert chosen == [name for name in names(SPECS) if name in CORE]
    assert set(chosen) == CORE


def test_the_core_has_what_most_ordinary_tasks_take() -> None:
    needs = [name for each in TASKS for name in each["needs"]]
    assert sum(name in CORE for name in needs) / len(needs) >= 0.8


@pytest.mark.parametrize(
    ("purpose", "name"),
    [
        ("move a note into another folder", "vault_move"),
        ("fetch a web page", "web_fetch"),
        ("vault_list", "vault_list"),
        ("run a program", "shell_run"),
    ],
)
def test_a_search_finds_tools_by_their_words(purpose: str, name: str) -> None:
    assert name in names(find_tools(purpose, SPECS)[:3])


def test_a_search_finds_nothing_that_shares_no_word() -> None:
    assert find_tools("嗯 xylophone", SPECS) == ()


def test_a_word_that_most_tools_have_finds_none() -> None:
    assert find_tools("export a note as PDF", SPECS) == () == find_tools("print a file of the vault", SPECS)


@given(st.text(max_size=80), st.permutations(SPECS))
def test_a_search_finds_each_tool_once_and_always_the_same(purpose: str, specs: list[ToolSpec]) -> None:
    found = find_tools(purpose, specs)
    assert len(set(names(found))) == len(found)
    assert find_tools(purpose, specs) == found
