"""Texts as pieces, such as words with the space before them: what recurs is tokenized and summed once.

Of a model without merges across such borders, the tokens of a text are those of its pieces, one after the other. Most
pieces of a text have been met before, so that cutting it at these borders and looking its pieces up takes a fraction of
the time of the tokenizer, which goes through every line anew.
"""

import re
from array import array
from collections.abc import Callable, Sequence
from itertools import chain
from typing import TYPE_CHECKING
from weakref import WeakMethod, WeakSet

import numpy as np

from agent.dataclass import dataclass
from agent.index.arrays import Floats, Ints

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_SPACE = "▁"
"""What the tokenizer puts in place of a space, and before each text."""
_UNSPACED = "\u2e80-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff"
"""Characters of scripts without spaces: each is a piece, as runs of them hardly recur."""
_LONGEST_RUN = 16
"""Characters of a run without merges that are one piece: Thai and Khmer have no spaces either."""
_MOST_KNOWN = 1 << 17
_LONGEST_KNOWN = 64
"""Characters of the longest piece that is remembered; a longer one is data."""
_SHORT = 8
"""Tokens of the longest piece that is summed together with others of its length."""
_PROBE = ("a cup  of green\ttea", "一杯绿茶 and more", "Привет, мир \ue000", "١٢٣ ça va ▁▁x", " ", "a\u0301")


@dataclass(frozen=True, slots=True)
class Pieces:
    """Some texts. `tokens` are those of their distinct pieces, each of which ends at its place in `ends`; `places` has
    the number of each piece of the texts in order, `counts` the number of pieces of each text."""

    tokens: Ints
    ends: Ints
    places: Ints
    counts: Ints


def whole_pieces(tokens: Sequence[Ints]) -> Pieces:
    """Texts that cannot be cut, given their tokens: each is one piece."""
    joined = np.concatenate([np.zeros(0, np.int32), *tokens])
    ends = np.cumsum([len(each) for each in tokens], dtype=np.int32)
    return Pieces(joined, ends, np.arange(len(tokens), dtype=np.int32), np.ones(len(tokens), np.int32))


class _Known(dict[str, bytes]):
    """The tokens of pieces met lately, in the bytes of an array; of others they are made when they are asked for.

    `tokenize` is a method of the owner, which is freed when nobody uses it, not when garbage is looked for.
    """

    def __init__(self, tokenize: Callable[[str], bytes]) -> None:
        self._tokenize = WeakMethod(tokenize)

    def __missing__(self, piece: str) -> bytes:
        tokenize = self._tokenize()
        assert tokenize is not None, "only its owner asks"
        found = tokenize(piece)
        if len(piece) <= _LONGEST_KNOWN:
            if len(self) >= _MOST_KNOWN:
                self.clear()
            self[piece] = found
        return found


class PieceTokenizer:
    """A tokenizer of texts in pieces; used by one thread at a time.

    `is_special` finds names of tokens in a text, which the tokenizer takes for these tokens; `merged` are the
    characters that may be merged with their neighbours.
    """

    def __init__(
        self, tokenizer: "Tokenizer", piece: re.Pattern[str], is_special: re.Pattern[str], merged: frozenset[str]
    ) -> None:
        self._tokenizer, self._piece, self._is_special, self._merged = tokenizer, piece, is_special, merged
        self._characters, self._known = _Known(self._tokenize), _Known(self._tokenize)
        _made.add(self)

    def pieces(self, texts: Sequence[str]) -> Pieces:
        """The texts in pieces, whose tokens are those of the texts."""
        found = [self._cut(text) for text in texts]
        places = [*chain.from_iterable(found)]
        numbers = {piece: number for number, piece in enumerate(dict.fromkeys(places))}
        tokens = [*map(self._known.__getitem__, numbers)]
        return Pieces(
            np.frombuffer(b"".join(tokens), np.int32),
            np.cumsum(np.fromiter(map(len, tokens), np.int32, len(tokens)) // 4, dtype=np.int32),
            np.fromiter(map(numbers.__getitem__, places), np.int32, len(places)),
            np.fromiter(map(len, found), np.int32, len(found)),
        )

    def forget(self, few: int) -> None:
        """Forget the pieces met, if they are more than a few; by any thread."""
        if len(self._known) > few:
            self._known.clear()

    def _cut(self, text: str) -> Sequence[str]:
        """The pieces of a text; one that names special tokens is cut at no border, and keeps its spaces to be known."""
        if not text:
            return ()
        if "<" in text and self._is_special.search(text):
            return (f" {text}",)  # no piece begins with a space
        found: list[str] = self._piece.findall(_SPACE + text.replace(" ", _SPACE))
        return found

    def _tokenize(self, piece: str) -> bytes:
        if piece[0] == " ":
            tokens = self._tokenizer.encode(piece[1:], add_special_tokens=False).ids
        elif len(piece) > 1 and piece[-1] not in self._merged:  # no merges: twice as fast as the tokenizer
            bare = piece.lstrip(_SPACE)
            spaces = self._known[piece[: len(piece) - len(bare)]] if len(bare) < len(piece) else b""
            return spaces + b"".join(map(self._characters.__getitem__, bare))
        else:
            tokens = [each.id for each in self._tokenizer.model.tokenize(piece)]
        return array("i", tokens).tobytes()


_made: WeakSet[PieceTokenizer] = WeakSet()


def forget_pieces(few: int) -> None:
    """Forget the pieces that any tokenizer of this process has met, if they are more than a few."""
    for each in list(_made):
        each.forget(few)


def piece_tokenizer(tokenizer: "Tokenizer") -> PieceTokenizer | None:
    """The tokenizer by pieces; None when it has another form, so that texts must be tokenized whole."""
    names = [*tokenizer.get_vocab(with_added_tokens=False)]
    special = [each.content for each in tokenizer.get_added_tokens_decoder().values()]
    of_bytes = re.compile("<0x[0-9A-F]{2}>")
    longer = [name for name in names if len(name) > 1 and not of_bytes.fullmatch(name) and name not in special]
    if tokenizer.pre_tokenizer is not None or any(_SPACE in name.lstrip(_SPACE) for name in longer):
        return None
    merged = frozenset(chain.from_iterable(longer)) | {_SPACE}
    plain = re.escape("".join(sorted(merged - {_SPACE})))
    run = f"[^{_SPACE}{plain}{_UNSPACED}]{{1,{_LONGEST_RUN}}}"
    piece = re.compile(f"{_SPACE}*[{plain}]+|{_SPACE}*[{_UNSPACED}]|{_SPACE}*{run}|{_SPACE}+")
    found = PieceTokenizer(tokenizer, piece, re.compile("|".join(map(re.escape, special)) or "(?!)"), merged)
    expected = [each.ids for each in tokenizer.encode_batch_fast(list(_PROBE), add_special_tokens=False)]
    return found if [_joined(found, text) for text in _PROBE] == expected else None


def _joined(tokenizer: PieceTokenizer, text: str) -> list[int]:
    numbers: list[int] = tokens_of(tokenizer.pieces([text]))[0].tolist()
    return numbers


def tokens_of(pieces: Pieces) -> tuple[Ints, Ints]:
    """The tokens of the texts, and where each text ends among them."""
    lengths = np.diff(pieces.ends, prepend=0)[pieces.places]
    ends = np.concatenate(([0], np.cumsum(lengths)))
    starts = pieces.ends[pieces.places] - ends[1:]  # of each piece, less its place among the tokens of the texts
    tokens = pieces.tokens[np.arange(ends[-1]) + np.repeat(starts, lengths)]
    return tokens, ends[np.cumsum(pieces.counts)].astype(np.int32)


def sums_of(pieces: Pieces, rows: Floats, places: Ints) -> Floats:
    """The sum of each text's vectors; `places` has the row of each token of the pieces in `rows`.

    The order of the additions depends on the text alone, so that a text has the same sum beside whatever others.
    """
    parts = _sums_of_pieces(pieces.ends, rows, places)
    ends = np.cumsum(pieces.counts)
    sums = np.zeros((len(ends), rows.shape[1]), np.float32)
    alone = np.flatnonzero(pieces.counts == 1)
    sums[alone] = parts[pieces.places[ends[alone] - 1]]
    several = np.flatnonzero(pieces.counts > 1)
    starts = (ends - pieces.counts)[several]
    for at, start, end in zip(several.tolist(), starts.tolist(), ends[several].tolist(), strict=True):
        # far faster than `np.add.reduceat`, which goes down the columns
        np.add.reduce(parts.take(pieces.places[start:end], axis=0), axis=0, out=sums[at])
    return sums


def _sums_of_pieces(ends: Ints, rows: Floats, places: Ints) -> Floats:
    """The sum of each piece's vectors; short ones of the same length are summed together."""
    lengths = np.diff(ends, prepend=0)
    sums = np.zeros((len(ends), rows.shape[1]), np.float32)
    for length in range(1, _SHORT + 1):
        which = np.flatnonzero(lengths == length)
        starts = ends[which] - length
        total = rows[places[starts]]
        for at in range(1, length):
            total += rows[places[starts + at]]
        sums[which] = total
    for at in np.flatnonzero(lengths > _SHORT).tolist():
        np.add.reduce(rows[places[ends[at] - lengths[at] : ends[at]]], axis=0, out=sums[at])
    return sums
