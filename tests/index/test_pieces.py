"""A question is cut into the tokens that the tokenizer itself would give."""

import json
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.index.pieces import LONGEST, Pieces, open_pieces

pytest.importorskip("wordllama")
pytest.importorskip("tokenizers")


def _file() -> Path:
    spec = find_spec("wordllama")
    assert spec is not None and spec.submodule_search_locations
    return Path(next(iter(spec.submodule_search_locations)), "tokenizers", "l2_supercat_tokenizer_config.json")


QUICK = open_pieces(_file())
WHOLE = Pieces(_file(), proven=False)
MANY = open_pieces(_file())
TOKENS = sorted(json.loads(_file().read_bytes())["model"]["vocab"])


def _same(text: str) -> None:
    assert list(QUICK.ids([text])[0]) == list(WHOLE.ids([text])[0])
    assert QUICK.text, "the tokenizer was loaded, so nothing was compared"


def _is_cut_here(text: str) -> bool:
    return 0 < len(text) <= LONGEST and text == text.strip(" ") and not set("<▁") & set(text) and "  " not in text


@pytest.mark.parametrize(
    "text",
    [
        "green tea",
        "when did Anna see the 茶道 teacher?",
        "naïve café ẞ",
        "a\nb\tc",
        "🙂 v1.2.3",
        "hahaha aaaaaaa",
        "1 < 2",
    ],
)
def test_questions_are_cut_alike(text: str) -> None:
    _same(text)


@given(st.text(min_size=1, max_size=60).filter(_is_cut_here))
def test_any_text_is_cut_alike(text: str) -> None:
    _same(text)


@settings(max_examples=400, suppress_health_check=[HealthCheck.filter_too_much])
@given(st.lists(st.sampled_from(TOKENS), min_size=1, max_size=12))
def test_tokens_in_any_order_are_cut_alike(tokens: list[str]) -> None:
    text = "".join(tokens).replace("▁", " ").strip()
    if _is_cut_here(text):
        _same(text)


@given(st.text("abn ", min_size=1, max_size=30).filter(_is_cut_here))
def test_repetitions_are_cut_alike(text: str) -> None:
    _same(text)


@pytest.mark.parametrize("text", ["", " a", "two  blanks", "<s>", "▁", "x ", "word " * 200])
def test_what_is_not_proven_is_left_to_the_tokenizer(text: str) -> None:
    pieces = open_pieces(_file())
    assert list(pieces.ids([text])[0]) == list(WHOLE.ids([text])[0])
    assert not pieces.text


@given(st.lists(st.text(max_size=40) | st.lists(st.sampled_from(TOKENS), max_size=9).map("".join), max_size=9))
def test_many_texts_are_cut_alike(tokens: list[str]) -> None:
    texts = [text.replace("▁", " ") if "s" in text else text for text in tokens]
    assert MANY.ids(texts) == WHOLE.ids(texts)


@given(st.lists(st.text("ab < s>/\n", max_size=20), max_size=9))
def test_blanks_and_marks_are_cut_alike(texts: list[str]) -> None:
    assert MANY.ids(texts) == WHOLE.ids(texts)


def test_words_beyond_what_is_remembered_are_cut_alike() -> None:
    texts = [f"{number} {number * 7} {'long' * 9}{number}" for number in range(60_000)]
    pieces = open_pieces(_file())
    for start in range(0, len(texts), 20_000):
        some = texts[start : start + 20_000]
        assert pieces.ids(some) == WHOLE.ids(some)
    assert len(pieces._words) < 100_000 + 3 * 20_000


def test_another_file_is_left_to_the_tokenizer(tmp_path: Path) -> None:
    document = json.loads(_file().read_bytes())
    document["model"]["merges"] = []
    other = tmp_path / "tokenizer.json"
    other.write_text(json.dumps(document), "utf-8")
    pieces = open_pieces(other)
    assert not pieces.text
    assert list(pieces.ids(["green tea"])[0]) != list(QUICK.ids(["green tea"])[0])
