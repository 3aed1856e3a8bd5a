"""What the arrays of many notes say is what each note says by itself, term by term and token by token."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.index.arrays import HOOD, NoteArrays, batch, counted_tokens, from_bytes, times_in, tokens_in
from agent.index.keyword import Weights
from agent.index.signals import EncodedQuery, Row, Statistics, meaning_signals, word_signals
from tests.index.fakes import FakeEmbedder

EMBEDDER = FakeEmbedder()
AVERAGES = (12.0, 5.0, 9.0)
TERMS = st.one_of(st.integers(0, 5), st.sampled_from([1 << 16, (1 << 16) + 1, (1 << 32) - 1]))
UNIT = st.tuples(st.lists(TERMS, max_size=6), st.lists(st.integers(0, 20), max_size=6))
NOTE = st.tuples(st.lists(UNIT, min_size=1, max_size=7), st.lists(st.tuples(TERMS, st.sampled_from([0.5, 2.0]))))
Unit = tuple[list[int], list[int]]
Note = tuple[list[Unit], list[tuple[int, float]]]


def pack(note: Note) -> NoteArrays:
    units, extra = note
    sums = [_sum(tokens) for _, tokens in units]
    hoods = [np.sum(sums[max(at - HOOD, 0) : at + HOOD + 1], axis=0) for at in range(len(units))]
    lines = np.arange(len(units), dtype=np.int32)
    tokens = np.array([token for _, tokens in units for token in tokens], dtype=np.int32)
    counted, ends = counted_tokens(tokens, np.cumsum([len(tokens) for _, tokens in units], dtype=np.int32))
    return NoteArrays(
        np.array([term for terms, _ in units for term in terms], dtype=np.uint32),
        np.cumsum([len(terms) for terms, _ in units], dtype=np.int32),
        np.array([term for term, _ in extra], dtype=np.uint32),
        np.array([weight for _, weight in extra], dtype=np.float32),
        counted,
        ends,
        np.linalg.norm(sums, axis=1).astype(np.float32),
        np.linalg.norm(hoods, axis=1).astype(np.float32),
        lines,
        lines,
    )


def _sum(tokens: Sequence[int]) -> Row:
    total: Row = EMBEDDER.vectors(np.array(tokens, dtype=np.int32)).sum(axis=0).astype(np.float64)
    return total


@given(st.lists(NOTE, min_size=1, max_size=5))
def test_rows_become_one_batch_and_lose_nothing(notes: list[Note]) -> None:
    rows = [pack(note) for note in notes]
    found = batch([row.to_bytes() for row in rows])
    start = 0
    for number, row in enumerate(rows):
        end = int(found.note_ends[number])
        assert end - start == len(row.ends) == int((found.unit_note == number).sum())
        for at in range(start, end):
            assert (found.low[at], found.high[at]) == (max(at - HOOD, start), min(at + HOOD + 1, end))
            for ends, values, own_ends, own in (
                (found.arrays.ends, found.arrays.terms, row.ends, row.terms),
                (found.arrays.token_ends, found.arrays.tokens, row.token_ends, row.tokens),
            ):
                mine = values[ends[at - 1] if at else 0 : ends[at]].tolist()
                assert mine == own[own_ends[at - start - 1] if at > start else 0 : own_ends[at - start]].tolist()
        assert found.arrays.norms[start:end].tolist() == row.norms.tolist()
        assert found.arrays.hood_norms[start:end].tolist() == row.hood_norms.tolist()
        assert found.arrays.extra[found.extra_note == number].tolist() == row.extra.tolist()
        assert found.arrays.extra_weights[found.extra_note == number].tolist() == row.extra_weights.tolist()
        assert from_bytes(row.to_bytes()).last.tolist() == found.arrays.last[start:end].tolist()
        start = end


@given(st.lists(st.lists(st.tuples(st.sampled_from([0, 1, 7, (1 << 24) - 1]), st.sampled_from([1, 2, 255, 256, 600])))))
def test_a_unit_keeps_how_often_it_has_each_token(units: list[list[tuple[int, int]]]) -> None:
    texts = [[token for token, times in unit for _ in range(times)] for unit in units]
    tokens = np.array([token for text in texts for token in text], dtype=np.int32)
    counted, ends = counted_tokens(tokens, np.cumsum([len(text) for text in texts], dtype=np.int32))
    assert ends.tolist() == sorted(ends.tolist())
    assert len(ends) == len(texts)
    for text, found in zip(texts, np.split(counted, ends), strict=False):
        names, times = tokens_in(found).tolist(), times_in(found).tolist()
        assert [token for token, count in zip(names, times, strict=True) for _ in range(count)] == sorted(text)
        assert len(names) == sum(-(-text.count(token) // 256) for token in set(text))


def test_a_row_that_is_cut_short_is_refused() -> None:
    row = pack(([([1], [2])], [])).to_bytes()
    for data in (row[:-4], row[:20], b""):
        with pytest.raises(ValueError, match="cut short"):
            batch([row, data])


@given(st.lists(NOTE, min_size=1, max_size=4), st.lists(TERMS, max_size=4), st.lists(st.integers(0, 25), max_size=4))
@settings(max_examples=60)
def test_signals_are_what_the_formulas_say(notes: list[Note], terms: list[int], tokens: list[int]) -> None:
    found = batch([pack(note).to_bytes() for note in notes])
    numbers = np.array(tokens, dtype=np.int32)
    asked = EncodedQuery(terms, numbers, EMBEDDER.vectors(numbers))
    frequency = {term: (term % 3 + 1, term % 5 + 2) for term in terms}
    statistics = Statistics(40, 90, *AVERAGES, frequency)
    words = word_signals(asked, found, statistics, Weights())
    meaning = meaning_signals(asked, found, EMBEDDER)
    by_hand = [_by_hand(note, asked, tokens, statistics) for note in notes]
    for name, values in (words | meaning).items():
        expected = [value for each in by_hand for value in each[name]]
        assert values.tolist() == pytest.approx(expected, abs=2e-5), name


def _by_hand(note: Note, asked: EncodedQuery, tokens: list[int], statistics: Statistics) -> dict[str, list[float]]:
    units, extra = note
    found: dict[str, list[float]] = {name: [] for name in ("unit", "hood", "unit_cosine", "hood_cosine")}
    found |= {"unit_match": [], "hood_match": [], "coverage": [], "missed": []}
    weight = {term: sum(each for other, each in extra if other == term) for term in asked.terms}
    whole = [term for terms, _ in units for term in terms]
    found["note"] = [_bm25(asked, whole, statistics.note_length, statistics, of_notes=True, more=weight)]
    found["title"] = [
        sum(_idf(statistics.notes, statistics.frequency[term][0]) * weight[term] / (weight[term] + Weights().k1)
            for term in asked.terms)
    ]  # fmt: skip
    for at, (own, own_tokens) in enumerate(units):
        hood = units[max(at - HOOD, 0) : at + HOOD + 1]
        around, beside = [term for terms, _ in hood for term in terms], [each for _, some in hood for each in some]
        found["unit"].append(_bm25(asked, own, statistics.unit_length, statistics, of_notes=False))
        found["hood"].append(_bm25(asked, around, statistics.hood_length, statistics, of_notes=True))
        rarity = [(term, _idf(statistics.notes, statistics.frequency[term][0])) for term in asked.terms]
        covered = sum(idf for term, idf in rarity if term in around or weight[term])
        whole_idf = sum(idf for _, idf in rarity)
        found["coverage"].append(covered / max(whole_idf, 1e-9))
        found["missed"].append((whole_idf - covered) / _idf(statistics.notes, 0))
        found["unit_cosine"].append(_cosine(own_tokens, tokens))
        found["hood_cosine"].append(_cosine(beside, tokens))
        found["unit_match"].append(_match(own_tokens, tokens))
        found["hood_match"].append(_match(beside, tokens))
    return found


def _idf(total: int, having: int) -> float:
    return math.log(1 + (total - having + 0.5) / (having + 0.5))


def _bm25(
    asked: EncodedQuery,
    terms: list[int],
    average: float,
    statistics: Statistics,
    *,
    of_notes: bool,
    more: dict[int, float] | None = None,
) -> float:
    k1, b = Weights().k1, Weights().b
    score = 0.0
    for term in asked.terms:
        in_notes, in_units = statistics.frequency[term]
        idf = _idf(statistics.notes, in_notes) if of_notes else _idf(statistics.units, in_units)
        count = terms.count(term) + (more or {}).get(term, 0.0)
        score += idf * count * (k1 + 1) / (count + k1 * (1 - b + b * len(terms) / average))
    return score


def _cosine(one: list[int], other: list[int]) -> float:
    if not one or not other:
        return 0.0
    first, second = _sum(one), _sum(other)
    return float(first @ second / np.linalg.norm(first) / np.linalg.norm(second))


def _match(among: list[int], tokens: list[int]) -> float:
    weights = [float(np.linalg.norm(_sum([token]))) for token in tokens]
    if not among or not sum(weights):
        return 0.0
    nearest = [max(max(_cosine([token], [each]), 0.0) ** 2 for each in among) for token in tokens]
    return sum(weight * near for weight, near in zip(weights, nearest, strict=True)) / sum(weights)
