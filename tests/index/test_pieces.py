"""Texts in pieces have the tokens of the tokenizer itself, and sums that depend on nothing but the text."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agent.index.arrays import Floats, Ints, distinct
from agent.index.embedder import StaticEmbedder, load_wordllama
from agent.index.pieces import piece_tokenizer, sums_of, tokens_of

pytest.importorskip("wordllama")
tokenizers = pytest.importorskip("tokenizers")

MODEL = load_wordllama()
_PARTS = ["green", " tea", "  ", "\t", "\n", "▁", "一杯绿茶", "ชาเขียวหนึ่งถ้วยชาเขียวหนึ่งถ้วย", "чай", "شاي", "녹차", "👍🏽"]
_SPECIAL = ["<s>", "</s>", "<unk>", "<0x41>", "<", "\0", "\ud7ff", "e\u0301", "ﬁ", "½"]
TEXTS = st.lists(
    st.lists(st.sampled_from([*_PARTS, *_SPECIAL]) | st.text(max_size=8), max_size=8).map("".join), max_size=6
)


def cut(texts: list[str], model: StaticEmbedder = MODEL) -> tuple[list[list[int]], Floats]:
    """The tokens of each text, and their sums."""
    pieces = model.pieces(texts)
    tokens, ends = tokens_of(pieces)
    found, places = distinct(pieces.tokens)
    sums = sums_of(pieces, model.vectors(found), places)
    return [each.tolist() for each in np.split(tokens, ends[:-1])] if len(ends) else [], sums


def tokenized(texts: list[str]) -> list[list[int]]:
    return [each.tolist() for each in MODEL.tokens(texts)]


@given(TEXTS)
@example(["a <s> b", "<s>", " <s>", "<s> "])
@example([" ", "", "▁", "  a", "a  "])
@example(["x" * 5000, "茶" * 200])
def test_the_tokens_are_those_of_the_tokenizer(texts: list[str]) -> None:
    assert cut(texts)[0] == tokenized(texts)


@given(TEXTS)
def test_a_text_has_the_same_sum_beside_whatever_others(texts: list[str]) -> None:
    together, alone = cut(texts)[1], [cut([text])[1][0] for text in texts]
    assert [row.tobytes() for row in together] == [row.tobytes() for row in alone]


@given(TEXTS)
def test_the_sum_is_that_of_the_tokens_vectors(texts: list[str]) -> None:
    for tokens, row in zip(MODEL.tokens(texts), cut(texts)[1], strict=True):
        assert np.allclose(row, MODEL.vectors(tokens).sum(axis=0), atol=1e-4)


def test_more_pieces_than_are_remembered_are_tokenized_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.index.pieces._MOST_KNOWN", 5)
    texts = ["one two three four five six seven eight", "茶 чай ชา 녹차", "one two"]
    assert cut(texts)[0] == tokenized(texts)


def test_a_tokenizer_that_merges_across_spaces_is_not_cut() -> None:
    vocabulary = {"a": 0, "▁": 1, "b": 2, "▁b": 3, "a▁b": 4}
    model = tokenizers.models.BPE(vocabulary, [("▁", "b"), ("a", "▁b")])
    assert piece_tokenizer(tokenizers.Tokenizer(model)) is None


def test_a_model_that_cannot_be_cut_has_each_text_whole() -> None:
    def ids(texts: Sequence[str]) -> list[list[int]]:
        return [[len(word) for word in text.split()] for text in texts]

    rows: Ints = np.arange(40, dtype=np.int32)
    model = StaticEmbedder("other", ids, rows.reshape(20, 2).astype(np.float32))
    tokens, sums = cut(["a bb", "", "ccc"], model)
    assert tokens == [[1, 2], [], [3]]
    assert sums.tolist() == [[2 + 4, 3 + 5], [0, 0], [6, 7]]
