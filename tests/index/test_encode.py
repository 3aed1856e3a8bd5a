"""What a note becomes: its lines' tokens with their counts, and a vector for each paragraph or so."""

import numpy as np

from agent.index.arrays import times_in, tokens_in
from agent.index.document import parse_document
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
