"""Markdown on a terminal: whole words, no lost text, nothing active, and the same blocks however the text is cut."""

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from agent.interfaces.cli.terminal.markdown import THEME, MarkdownBlocks, markdown_rows

ANSWER = """# The roof

You planned **two things** in [[house/roof]]:
tiles, and a call.

1. Buy tiles
   - red ones

2. Call Anna

```python
import roof

def tiles():
    return "tiles"
```

| what  | cost |
|-------|-----:|
| tiles |  1200 |
"""


def rows(text: str, width: int = 40) -> list[str]:
    console = Console(width=width, force_terminal=True, color_system=None, theme=THEME)
    return ["".join(segment.text for segment in row) for row in markdown_rows(text, console)]


WORDS = st.lists(st.text(st.sampled_from("abcdefgäßжα"), min_size=1, max_size=30), min_size=1, max_size=40)


@given(WORDS, st.integers(30, 60))
def test_words_are_never_broken(words: list[str], width: int) -> None:
    shown = rows(" ".join(words), width)
    assert [word for row in shown for word in row.split()] == words
    assert all(cell_len(row) <= width for row in shown)


@given(st.text(st.sampled_from("你好，。“”（）屋顶roof 12"), min_size=1, max_size=200))
def test_chinese_fills_its_rows_and_begins_none_with_a_closing_mark(text: str) -> None:
    line = "屋" + " ".join(text.split())
    shown = rows(line, 40)
    assert re.sub(r"\s", "", "".join(shown)) == re.sub(r"\s", "", line)
    assert all(cell_len(row) <= 40 for row in shown)


def test_a_chinese_sentence_is_wrapped_as_people_write_it() -> None:
    text = "笔记里有关于屋顶（roof）的两件事：第一件是十一月要买瓦片，第二件是打电话给小安。“请注意”，另外还有一篇。"
    shown = rows(text)
    assert len(shown) == -(-cell_len(text) // 38), "rows are left half empty"
    assert not any(row.startswith(tuple("，。：）”")) or row.endswith(tuple("（“")) for row in shown)


def test_chinese_and_words_share_a_row_and_a_mark_stays_with_its_word() -> None:
    assert rows("屋" * 20 + "，" + "瓦" * 5) == ["屋" * 19, "屋，瓦瓦瓦瓦瓦"]
    assert rows("用 Python 写" + "瓦" * 30) == ["用 Python 写" + "瓦" * 14, "瓦" * 16]


def test_lists_code_and_tables_are_readable_without_their_marks() -> None:
    shown = rows(ANSWER)
    assert shown[0] == "The roof" and "You planned two things in [[house/roof]]:" in " ".join(shown[2:4])
    assert "tiles, and a call." in shown, "a line end of the answer is kept"
    assert '      return "tiles"' in shown
    assert not any("```" in row or "|--" in row for row in shown)


def test_a_number_in_a_list_has_its_dot_and_all_begin_in_one_column() -> None:
    assert rows("1. Buy tiles\n   - red ones\n2. Call Anna") == [" 1. Buy tiles", "     • red ones", " 2. Call Anna"]
    assert rows("9. nine\n10. " + "ten " * 12) == ["  9. nine", " 10." + " ten" * 9, "    " + " ten" * 3]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("press <Enter> <b>now</b>", "press <Enter> <b>now</b>"),
        ("[the firm](https://firm.example)", "the firm (https://firm.example)"),
        ("<https://firm.example>", "https://firm.example"),
        ("![plan](roof.png)", "![plan](roof.png)"),
    ],
)
def test_no_part_of_the_text_is_left_out(text: str, kept: str) -> None:
    assert rows(text, 80) == [kept]


@pytest.mark.parametrize(
    "text", ["&#27;[8m", "&#x202e;gpj", "&#x250f; May I?", "`\x1b[8m`", "    \x1b]0;x\x07", "a\x1fb", "\x1b[8m **x**"]
)
def test_no_character_is_active_however_it_is_written(text: str) -> None:
    (row,) = rows(text)
    assert row.isprintable() and not set(row) & set("\u202e\x1b┏")


def blocks_of(text: str, chance: random.Random | None = None) -> list[str]:
    """The blocks of a text that comes in random pieces, or as a whole."""
    blocks, came = MarkdownBlocks(), list[str]()
    while text:
        step = chance.randint(1, 9) if chance else len(text)
        came += blocks.feed(text[:step])
        text = text[step:]
    return [*came, blocks.end()]


@pytest.mark.parametrize("seed", range(20))
def test_blocks_are_the_same_however_the_text_is_cut(seed: int) -> None:
    found = blocks_of(ANSWER, random.Random(seed))
    assert found == blocks_of(ANSWER) and "".join(found) == ANSWER
    assert [block.split("\n")[0] for block in found] == [
        "# The roof", "You planned **two things** in [[house/roof]]:", "1. Buy tiles", "2. Call Anna", "```python",
        "| what  | cost |",
    ]  # fmt: skip
