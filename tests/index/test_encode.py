"""What a note becomes: its lines' tokens with their counts, and a vector for each paragraph or so."""

import numpy as np
import pytest

from agent.index.arrays import times_in, tokens_in
from agent.index.document import parse_document
from agent.index.embedder import load_wordllama
from agent.index.encode import CHUNK_TOKENS, encode
from agent.index.keyword import Weights
from tests.index.fakes import FakeEmbedder

OFTEN = CHUNK_TOKENS * 2 // 3
"""Of a line with so many words no second one fits beside it into a chunk."""


def test_a_word_that_a_line_repeats_is_stored_once_and_counts_each_time() -> None:
    embedder, lines = FakeEmbedder(), ["tea " * OFTEN, "tea and milk", "milk " * OFTEN, "tea " * OFTEN]
    note = parse_document("note.md", "\n\n".join(lines).encode())
    (found,) = encode([note], embedder, Weights().fields)
    arrays = found.arrays
    units = [unit.text for unit in note.units]
    for text, part in zip(units, np.split(arrays.tokens, arrays.token_ends), strict=False):
        names, times = tokens_in(part).tolist(), times_in(part).tolist()
        assert len(names) == len(set(names)), text
        assert [name for name, count in zip(names, times, strict=True) for _ in range(count)] == sorted(
            embedder.tokens([text])[0].tolist()
        )
    assert len(found.chunks) == 3, "one for each long line; the short one is beside the first"
    assert np.allclose(np.linalg.norm(found.chunks, axis=1), 1, atol=1e-5)


def test_a_note_has_the_same_numbers_beside_whatever_others() -> None:
    pytest.importorskip("wordllama")
    model, fields = load_wordllama(), Weights().fields
    texts = ["green tea\n\n一杯绿茶", "", "ชาเขียวหนึ่งถ้วย\n\nчай شاي 녹차 👍🏽", "tea " * 20_000, "x" * 5_000]
    notes = [parse_document(f"{number}.md", text.encode()) for number, text in enumerate(texts)]
    for note, together in zip(notes, encode(notes, model, fields), strict=True):
        (alone,) = encode([note], model, fields)
        assert together.arrays.to_bytes() == alone.arrays.to_bytes()
        assert together.chunks.tobytes() == alone.chunks.tobytes()


def test_a_long_line_has_the_sum_of_its_tokens_vectors() -> None:
    pytest.importorskip("wordllama")
    model = load_wordllama()
    (found,) = encode([parse_document("a.md", b"tea in the morning " * 2_000)], model, Weights().fields)
    (tokens,) = model.tokens(["tea in the morning " * 2_000])
    assert np.allclose(
        found.arrays.norms.max(), np.linalg.norm(model.vectors(tokens).sum(axis=0, dtype=float)), rtol=1e-4
    )
