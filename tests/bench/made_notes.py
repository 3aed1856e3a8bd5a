"""Prepared notes of made-up words, as the index stores them: no file is parsed, no text is cut into tokens, and no git
is asked, so that a million of them are soon there.

Words come as often as in real text (Zipf), each is three tokens, and each token has a direction of its own: the vector
of a passage is the sum of them, as with a real model.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache

import numpy as np

from agent.index.arrays import Floats, Ints
from agent.index.document import Document, DocumentUnit
from agent.index.embedder import EmbedderChoice
from agent.index.encode import encode
from agent.index.ingest import Prepare
from agent.index.keyword import FIELDS
from agent.index.prepare import NoteBytes, PreparedGroup, PreparedNote, count_terms, stored_note

WORDS = 30_000
_PIECES = 3
_LINE = 26
_NUMBER = re.compile(r"w(\d+)")


@cache
def _heights() -> Floats:
    heights = np.cumsum(1 / (np.arange(WORDS) + 3.0))
    found: Floats = (heights / heights[-1]).astype(np.float32)
    return found


@cache
def _matrix() -> Floats:
    rows = np.random.default_rng(7).standard_normal((WORDS * _PIECES, 256))
    ranks = np.arange(WORDS * _PIECES)[:, None] // _PIECES
    found: Floats = (rows / (1 + np.sqrt(WORDS / (ranks + 3)) / 10)).astype(np.float32)
    return found


@dataclass(frozen=True, slots=True)
class MadeEmbedder:
    """The tokens of words `w0` to `w29999`; frequent ones weigh less, as in the models that ship."""

    name: str = "made-256"
    dimensions: int = 256

    def tokens(self, texts: Sequence[str]) -> list[Ints]:
        words = [np.array([int(each) for each in _NUMBER.findall(text)], np.int32) for text in texts]
        return [np.add.outer(each * _PIECES, np.arange(_PIECES)).reshape(-1).astype(np.int32) for each in words]

    def vectors(self, tokens: Ints) -> Floats:
        return _matrix()[tokens]


MADE = EmbedderChoice(MadeEmbedder())


@dataclass(frozen=True, slots=True)
class MadeNotes:
    """`count` notes of so many words each, always the same."""

    count: int
    words: int = 130

    def listed(self) -> dict[str, str]:
        """Every path with a content hash."""
        return {f"notes/{number % 100:02}/note-{number:07}.md": f"{number:040x}" for number in range(self.count)}

    def words_of(self, number: int) -> list[str]:
        """The words of a note."""
        chance = np.random.default_rng(number)
        return [f"w{each}" for each in np.searchsorted(_heights(), chance.random(self.words)).tolist()]

    def questions(self, count: int, seed: int = 2) -> list[str]:
        """Seven words each, as they stand in some note."""
        chance = np.random.default_rng(seed)
        texts = [self.words_of(number) for number in chance.integers(self.count, size=count).tolist()]
        return [" ".join(chance.choice(words, 7, replace=False)) for words in texts]

    def read(self, path: str) -> bytes:
        """The bytes of a note, which nothing looks into."""
        return b"made"

    @contextmanager
    def preparing(self, notes: int, chosen: EmbedderChoice, fields: Mapping[str, float]) -> Iterator[Prepare]:
        """In place of `agent.index.processes.preparing`."""
        yield lambda groups: (self._group(group, chosen, fields) for group in groups)

    def _group(self, group: Sequence[NoteBytes], chosen: EmbedderChoice, fields: Mapping[str, float]) -> PreparedGroup:
        documents = [self._document(each.path) for each in group]
        encoded = encode(documents, chosen.embedder, fields)
        rows = [each.arrays.to_bytes() for each in encoded]
        notes = tuple(
            PreparedNote(stored_note(note.number, note.digest, found, row), found.fields, each.chunks)
            for note, found, row, each in zip(group, documents, rows, encoded, strict=True)
        )
        return PreparedGroup(notes, count_terms(rows))

    def _document(self, path: str) -> Document:
        number = int(path[-10:-3])
        words = self.words_of(number)
        lines = [words[at : at + _LINE] for at in range(0, len(words), _LINE)]
        title = f"{words[0]} {words[1]}"
        day = f"2026-{number % 12 + 1:02}-{number % 28 + 1:02}"
        head = DocumentUnit(0, 0, (), title, (words[0], words[1]))
        units = [
            DocumentUnit(at * 2 + 3, at * 2 + 3, (title,), " ".join(line), tuple(line)) for at, line in enumerate(lines)
        ]
        folder = path.split("/")[1]
        fields = dict.fromkeys(FIELDS, ()) | {
            "title": (words[0], words[1]), "path": ("notes", folder), "dates": (day,), "body": tuple(words)
        }  # fmt: skip
        text = f"# {title}\n\n" + "\n\n".join(map(" ".join, lines)) + "\n"
        return Document(path, title, str(number), day, fields, (head, *units), (("type", "note"),), text)
