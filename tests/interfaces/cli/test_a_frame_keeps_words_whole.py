"""Text in a frame, such as what an approval is asked for, is read by a person: words are whole, and nothing is lost."""

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from agent.asking.questions.question import Question
from agent.interfaces.cli.decide import question_frame
from agent.interfaces.cli.printing import wrapped

CALL = '  "content": "# Packing for Porto\\n\\n- [ ] passport\\n- [ ] the charger that was missing in June"'


def test_a_call_breaks_between_words() -> None:
    assert wrapped(CALL, 40) == [
        '  "content": "# Packing for Porto\\n\\n- [',
        "] passport\\n- [ ] the charger that was ",
        'missing in June"',
    ]


def test_a_word_longer_than_a_row_is_cut_and_chinese_fills_its_rows() -> None:
    assert wrapped("abcdefghijklmnop q", 10) == ["abcdefghij", "klmnop q"]
    assert wrapped("带上护照和充电器 for the trip", 12) == ["带上护照和充", "电器 for the", "trip"]
    assert [row for row in wrapped("abcdefghi😀\ufe0fabc", 10) if row.startswith("\ufe0f")] == [], (
        "it stays with its sign"
    )


@given(st.text(st.sampled_from("ab é你好， "), max_size=200), st.integers(10, 40))
def test_rows_fit_and_hold_the_whole_line(line: str, width: int) -> None:
    rows = wrapped(line, width)
    assert all(cell_len(row) <= width for row in rows)
    left = line
    for row in rows:
        left = left if left.startswith(row) else left.removeprefix(" ")
        assert left.startswith(row)
        left = left.removeprefix(row)
    assert not left.strip()


@given(st.lists(st.text(st.sampled_from("abc-/"), min_size=1, max_size=10), min_size=1), st.integers(10, 40))
def test_no_word_that_fits_is_cut(words: list[str], width: int) -> None:
    assert [word for row in wrapped(" ".join(words), width) for word in row.split()] == words


@pytest.mark.parametrize("seed", range(20))
def test_a_long_line_loses_whole_words_in_its_middle(seed: int) -> None:
    chance = random.Random(seed)
    line = " ".join("word"[: chance.randint(1, 4)] * chance.randint(1, 3) for _ in range(200))
    shown = next(row for row in question_frame(asking(line), "en", 80, 24) if "…" in str(row))
    begin, number, end = re.split(r" …\[(\d+)\]… ", str(shown))
    assert (
        line.startswith(f"{begin} ") and line.endswith(f" {end}") and len(begin) + int(number) + len(end) == len(line)
    )
    assert len(wrapped(str(shown), 78)) <= 4


def asking(line: str) -> Question:
    return Question("q", "questions/q.md", line, (), "r", None, "")
