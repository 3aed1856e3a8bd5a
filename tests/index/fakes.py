"""An embedder with made-up vectors: as quick as nothing, the same for everybody, and words of one kind lie together."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np

from agent.index.arrays import Floats, Ints
from agent.index.embedder import EmbedderChoice

_MATRIX = np.random.default_rng(7).standard_normal((4096, 256)).astype(np.float32)
_WORD = re.compile(r"\w+")
ALIKE = {"feline": "cat", "kitten": "cat", "automobile": "car"}
"""Words that the fake model takes for the same, so that a test can search by meaning."""


@dataclass(frozen=True, slots=True)
class FakeEmbedder:
    """A token for each word, each in a direction of its own, almost."""

    name: str = "fake-256"
    dimensions: int = 256

    def tokens(self, texts: Sequence[str]) -> list[Ints]:
        return [
            np.array(
                [crc32(ALIKE.get(word, word).encode()) % 4096 for word in _WORD.findall(text.casefold())],
                dtype=np.int32,
            )
            for text in texts
        ]

    def vectors(self, tokens: Ints) -> Floats:
        return _MATRIX[tokens]


FAKE = EmbedderChoice(FakeEmbedder())
NONE = EmbedderChoice(None, "no embedding model")
