"""What says the same is found among many texts as if each were compared with each."""

from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.memory.understanding.rules import is_same
from agent.memory.understanding.wording import jaccard, similarity, wording
from agent.memory.upkeep.longterm import repeats
from tests.memory.pairs import DIFFERENT, SAME

WORDS = "garden printer violin Bergen likes bought lost green Anna Ben tea old room budget meeting"
HAN = "花园 打印机 小提琴 早上 喜欢 买了 卖了 绿色 李雷 王芳 茶 会议"
ENGLISH, CHINESE = WORDS.split(), HAN.split()
EXTRA = ["not", "never", "3 pm", "4 pm", "12", "I", "you", "不", "我", "他", "三点", "please", "and", ","]


def by_comparing_each(texts: Sequence[str]) -> dict[int, list[int]]:
    """The plain formula: a text follows the first one before it that says the same."""
    found: dict[int, list[int]] = {}
    for number, text in enumerate(texts):
        same = next((first for first in found if is_same(texts[first], text)), None)
        if same is None:
            found[number] = []
        else:
            found[same].append(number)
    return {first: others for first, others in found.items() if others}


def crowd(pick: Random, count: int, longest: int) -> list[str]:
    """So many texts in a few words, many of them another text with a word more, less, replaced, or turned around."""
    texts: list[str] = []
    for _ in range(count):
        if texts and pick.random() < 0.6:
            words = pick.choice(texts).split()
            at = pick.randrange(len(words))
            match pick.randrange(5):
                case 0:
                    words.insert(at, pick.choice(EXTRA))
                case 1 if len(words) > 1:
                    del words[at]
                case 2:
                    words[at] = pick.choice(ENGLISH + CHINESE)
                case 3:
                    words = words[at:] + words[:at]
                case _:
                    pick.shuffle(words)
        else:
            words = pick.choices(ENGLISH + CHINESE, k=pick.randint(1, longest))
        texts.append(" ".join(words))
    return texts


@pytest.mark.parametrize("longest", [4, 12, 40])
@given(seed=st.integers(0, 10**9))
@settings(max_examples=6, deadline=None)
def test_texts_that_say_the_same_are_those_of_the_plain_formula(longest: int, seed: int) -> None:
    texts = crowd(Random(seed), 120, longest)
    assert dict(repeats(list(enumerate(texts)))) == by_comparing_each(texts)


def test_the_pairs_that_we_know_are_found_among_all_of_them() -> None:
    texts = [text for pair in (*SAME, *DIFFERENT) for text in pair] * 2
    assert dict(repeats(list(enumerate(texts)))) == by_comparing_each(texts)


SENTENCES = st.lists(st.sampled_from([*ENGLISH, *CHINESE, *EXTRA]), max_size=30).map(" ".join)


@given(SENTENCES | st.text(max_size=80), SENTENCES | st.text(max_size=80))
@settings(max_examples=300, deadline=None)
def test_similarity_is_jaccards_over_terms_and_numbers(one: str, other: str) -> None:
    first, second = wording(one), wording(other)
    assert not first.terms & first.numbers
    assert similarity(first, second) == jaccard(first.terms | first.numbers, second.terms | second.numbers)
