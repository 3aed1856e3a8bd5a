"""Choosing tools: all while there is room, else the core ones, those that are needed, and those that fit best."""

from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from agent.context.tokens import count_tool
from agent.context.tool_choice import CORE, ToolRoom, choose_tools, rank_tools
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
    tool("skill_list", "List the skills."),
    tool("skill_show", "Show a skill's text."),
    tool("skill_feedback", "Say how good a skill was."),
    tool("shell_run", "Run a program."),
]
SEARCH = tool("tool_search", "Find further tools.")
OTHERS = [tool(f"device_{number}", f"Read sensor {number} of the house.") for number in range(30)]


def room(most: int, tokens: int = 100_000) -> ToolRoom:
    return ToolRoom(most, tokens, len)


def names(specs: Sequence[ToolSpec]) -> list[str]:
    return [spec.name for spec in specs]


def test_all_are_described_while_there_is_room_and_there_is_nothing_left_to_find() -> None:
    assert choose_tools("嗯", [*SPECS, SEARCH], None, room(16)) == tuple(SPECS)
    assert "tool_search" in names(choose_tools("嗯", [*SPECS, SEARCH], None, room(15)))


def test_too_many_tokens_are_too_many_tools() -> None:
    tokens = sum(count_tool(spec, len) for spec in SPECS)
    assert choose_tools("hm", [*SPECS, SEARCH], None, room(99, tokens)) == tuple(SPECS)
    chosen = names(choose_tools("hm", [*SPECS, SEARCH], None, room(99, tokens - 1)))
    assert len(chosen) < len([*SPECS, SEARCH]) and "tool_search" in chosen


def test_the_core_and_what_is_needed_are_described_whatever_their_size() -> None:
    chosen = names(choose_tools("Fetch https://example.org", [*OTHERS, *SPECS, SEARCH], None, room(3, 0), ["delegate"]))
    assert set(chosen) == CORE | {"delegate"}


@pytest.mark.parametrize(("others", "least"), [(0, 1.0), (30, 0.95)])
def test_what_ordinary_tasks_take_is_described(others: int, least: float) -> None:
    """Beside 30 other tools, by words only; with the model of meanings it is .974."""
    specs = [*OTHERS[:others], *SPECS, SEARCH]
    described = [set(names(choose_tools(each["task"], specs, None, room(24)))) for each in TASKS]
    wanted = [(each["task"], name, name in chosen) for each, chosen in zip(TASKS, described, strict=True)
              for name in each["needs"]]  # fmt: skip
    assert sum(found for _, _, found in wanted) / len(wanted) >= least, [each for each in wanted if not each[2]]


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
    assert name in names(rank_tools(task, SPECS, None)[:3])


def test_meaning_counts_beside_words() -> None:
    def score(texts: Sequence[str], task: str) -> Sequence[float]:
        return [1.0 if text.startswith("delegate: ") else 0.0 for text in texts]

    assert rank_tools("Divide et impera", SPECS, score)[0].name == "delegate"


@given(st.text(max_size=80), st.integers(0, 60), st.permutations([*SPECS, SEARCH, *OTHERS[:9]]))
def test_each_is_described_once_and_always_the_same_are(task: str, most: int, specs: list[ToolSpec]) -> None:
    chosen = choose_tools(task, specs, None, room(most))
    assert len(chosen) <= max(most, len(CORE))
    assert len(set(names(chosen))) == len(chosen)
    assert CORE - {"tool_search"} <= set(names(chosen))
    assert choose_tools(task, specs, None, room(most)) == chosen
