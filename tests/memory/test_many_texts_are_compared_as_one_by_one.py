"""What says the same is found among many texts as if each were compared with each, and quick looks never decide."""

import re
from collections import Counter
from collections.abc import Sequence
from math import ceil
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.memory.understanding.clusters import clusters
from agent.memory.understanding.similarity import Wording, differ, is_same, likeness, wording
from tests.memory.pairs import DIFFERENT, SAME

WORDS = """garden printer violin morning kettle bicycle ladder harbour station Bergen likes bought sold lost green
wooden Anna Ben tea old room budget deadline invoice meeting"""
HAN = "花园 打印机 小提琴 早上 水壶 自行车 梯子 港口 车站 喜欢 买了 卖了 绿色 木头 李雷 王芳 茶 会议 预算"
ENGLISH, CHINESE = WORDS.split(), HAN.split()
SELDOM = [f"{start}{end}" for start in ("lamp", "bark", "tulip", "moss", "fjord") for end in "abcdefghijklmnopqrst"]
EXTRA = ["not", "never", "3 pm", "4 pm", "12", "I", "you", "we", "不", "我", "他", "三点", "please"]


def by_comparing_each(texts: Sequence[tuple[int, Wording]], least: float) -> dict[int, list[int]]:
    """The plain formula: a text follows the first one kept that shares one of its rarest terms and says the same."""
    sets = [each.terms | each.numbers for _, each in texts]
    common = Counter(term for terms in sets for term in terms)
    found: dict[int, list[int]] = {}
    kept: list[int] = []
    for number, (_, each) in enumerate(texts):
        same = next(
            (
                at
                for at in kept
                if rarest(sets[at], common, least) & rarest(sets[number], common, least)
                and share_enough(sets[at], sets[number], least)
                and is_same(texts[at][1], each, least)
            ),
            None,
        )
        if same is None:
            kept.append(number)
        else:
            found.setdefault(same, []).append(number)
    return found


def rarest(terms: frozenset[str], common: Counter[str], least: float) -> set[str]:
    count = len(terms) - ceil(least * len(terms) - 1e-9) + 1 if terms else 0
    return set(sorted(terms, key=lambda term: (common[term], term))[:count])


def share_enough(one: frozenset[str], other: frozenset[str], least: float) -> bool:
    """As many terms as sets of their sizes must to be so similar, but for two words with a slip."""
    return len(one & other) >= least / (1 + least) * (len(one) + len(other)) - 2


def crowd(pick: Random, count: int, longest: int) -> list[str]:
    """So many texts in a few words, many of them another text with a word more, less, replaced or with a slip."""
    texts: list[str] = []
    for _ in range(count):
        if texts and pick.random() < 0.5:
            words = pick.choice(texts).split()
            at = pick.randrange(len(words))
            match pick.randrange(5):
                case 0:
                    words.insert(at, pick.choice(EXTRA))
                case 1 if len(words) > 1:
                    del words[at]
                case 2:
                    words[at] = pick.choice(ENGLISH + CHINESE)
                case 3 if len(words[at]) > 4:
                    words[at] = words[at][:2] + words[at][3:]
                case _:
                    pick.shuffle(words)
        else:
            language = pick.choice([ENGLISH, CHINESE, ENGLISH + CHINESE])
            words = pick.choices([*language, pick.choice(SELDOM)], k=pick.randint(1, longest))
        texts.append(" ".join(words))
    return texts


@pytest.mark.parametrize("least", [0.4, 0.7, 0.8, 1.0])
@pytest.mark.parametrize("longest", [4, 12, 40])
@given(seed=st.integers(0, 10**9))
@settings(max_examples=6, deadline=None)
def test_texts_that_say_the_same_are_those_of_the_plain_formula(least: float, longest: int, seed: int) -> None:
    texts = [(number, wording(text)) for number, text in enumerate(crowd(Random(seed), 200, longest))]
    assert dict(clusters(texts, least)) == by_comparing_each(texts, least)


def test_the_pairs_that_we_know_are_found_among_all_of_them() -> None:
    said = [wording(text) for pair in (*SAME, *DIFFERENT) for text in pair]
    texts = list(enumerate(said * 2))
    assert dict(clusters(texts, 0.8)) == by_comparing_each(texts, 0.8)


@pytest.mark.parametrize("longest", [4, 8, 40])
@given(seed=st.integers(0, 10**9))
@settings(max_examples=10, deadline=None)
def test_where_any_likeness_will_do_all_that_does_not_differ_is_the_same(longest: int, seed: int) -> None:
    said = [wording(text) for text in crowd(Random(seed), 60, longest)]
    assert all(is_same(one, other, 0.0) is not differ(one, other) for one in said for other in said)


SENTENCES = st.lists(st.sampled_from([*ENGLISH, *CHINESE, *EXTRA]), max_size=30).map(" ".join)


@given(SENTENCES | st.text(max_size=80), SENTENCES | st.text(max_size=80))
@settings(max_examples=300, deadline=None)
def test_likeness_is_jaccards_over_terms_and_numbers(one: str, other: str) -> None:
    first, second = wording(one), wording(other)
    left, right = first.terms | first.numbers, second.terms | second.numbers
    assert not first.terms & first.numbers
    assert likeness(first, second) == (len(left & right) / len(left | right) if left | right else 0.0)


PIECES = "I me you not never hates unable a 1 _ - . , ' é 我 不错"


@given(st.lists(st.sampled_from([*PIECES.split(), " "]), max_size=12))
@settings(max_examples=300, deadline=None)
def test_persons_and_denials_are_whole_words(parts: list[str]) -> None:
    text = "".join(parts).casefold()
    said = wording(text)
    assert ("i" in said.persons) is (re.search(r"\b(?:i|me)\b|我(?!们)", text) is not None)
    assert ("you" in said.persons) is (re.search(r"\byou\b", text) is not None)
    assert said.negated is (re.search(r"\b(?:not|never|hates|unable)\b|不(?!错)", text) is not None)
