"""Texts as tokens, quicker than the tokenizer by itself: it treats a text as one word, and is slow to load.

Each of its 61,000 rules joins two tokens whose joint text is a token too, all such pairs have a rule, and of two rules
the one with the lower ids (joint, left, right) goes first; a word never joins with the next. So many texts are cut word
by word, each word once, in a sixth of the time; and a question is cut with the list of tokens alone, in 12 ms where
reading the rules takes 75. That was proven for one file, known by its checksum, and does not hold for runs of blanks;
anything else is left to the tokenizer.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from zlib import crc32

if TYPE_CHECKING:
    from tokenizers import Tokenizer

LONGEST = 400
"""Characters of a text that is cut up here; the tokenizer has read its rules before it would take as long."""
_PROVEN = 1068455936
_BLANK = "▁"
_MARKS = ("<unk>", "<s>", "</s>")
_KEPT, _LONG = 100_000, 30
"""Words that are remembered, and the characters that such a word may have: text in Chinese has long ones, seen once."""
_VOCABULARY, _RULES = b'"vocab":', b'"merges":'


@dataclass(slots=True)
class Pieces:
    """The tokenizer in a file, read as far as it is needed.

    `proven`: its texts may be cut by word. `text` is the file's while no more was read.
    """

    file: Path
    proven: bool
    text: bytes = b""
    _vocabulary: Mapping[str, int] = field(default_factory=dict, init=False)
    _tokenizer: "Tokenizer | None" = field(default=None, init=False)
    _words: dict[str, list[int]] = field(default_factory=dict, init=False)

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Each text's tokens."""
        if self.proven and self._tokenizer is None and len(texts) == 1 and _is_question(texts[0]):
            self._vocabulary = self._vocabulary or _vocabulary(self.text)
            return [cut(texts[0], self._vocabulary)]
        return self._by_word(texts) if self.proven else self._whole(texts)

    def _by_word(self, texts: Sequence[str]) -> list[list[int]]:
        words = [text.split(" ") if _is_plain(text) else [] for text in texts]
        if len(self._words) > _KEPT:
            self._words.clear()
        missing = list({word for each in words for word in each}.difference(self._words))
        odd = [text for text, each in zip(texts, words, strict=True) if not each]
        cut_now = self._whole([*missing, *odd])
        self._words.update(zip(missing, cut_now, strict=False))
        rest = iter(cut_now[len(missing) :])
        known = self._words
        found = [[token for word in each for token in known[word]] if each else next(rest) for each in words]
        for word in missing:
            if len(word) > _LONG:
                del known[word]
        return found

    def _whole(self, texts: Sequence[str]) -> list[list[int]]:
        return [each.ids for each in self.tokenizer().encode_batch_fast(list(texts), add_special_tokens=False)]

    def tokenizer(self) -> "Tokenizer":
        """The whole tokenizer, loaded at the first need."""
        if self._tokenizer is None:
            from tokenizers import Tokenizer

            self._tokenizer = Tokenizer.from_file(str(self.file))
            self._tokenizer.no_padding()
            self._tokenizer.no_truncation()
            # It keeps whole lines, which hardly ever come twice: 110 MB after a large burst, and no quicker.
            self._tokenizer.model._resize_cache(0)
            self.text, self._vocabulary = b"", {}
        return self._tokenizer


def open_pieces(file: Path) -> Pieces:
    """The tokenizer in a file; one that nothing is proven of is loaded at once. Raises `OSError` or `ImportError`."""
    if find_spec("tokenizers") is None:
        raise ImportError("the package tokenizers is not installed")
    text = file.read_bytes()
    pieces = Pieces(file, crc32(text) == _PROVEN, text)
    if not pieces.proven:
        pieces.tokenizer()
    return pieces


def _is_question(text: str) -> bool:
    return len(text) <= LONGEST and _is_plain(text)


def _is_plain(text: str) -> bool:
    """Whether the text has single blanks between words only, and nothing that the tokenizer takes for a mark."""
    blanks = "  " in text or text.startswith(" ") or text.endswith(" ") or _BLANK in text
    return bool(text) and not blanks and not ("<" in text and any(mark in text for mark in _MARKS))


def _vocabulary(text: bytes) -> Mapping[str, int]:
    """Each token's id."""
    start, end = text.index(_VOCABULARY) + len(_VOCABULARY), text.index(_RULES)
    found: dict[str, int] = json.loads(text[start:end].rstrip().removesuffix(b","))
    return found


def cut(text: str, vocabulary: Mapping[str, int]) -> list[int]:
    """The tokens of a text without runs of blanks, as byte-pair encoding joins them."""
    return [token for word in text.split(" ") for token in _cut_word(_BLANK + word, vocabulary)]


def _cut_word(word: str, vocabulary: Mapping[str, int]) -> list[int]:
    pieces = [piece for character in word for piece in _known(character, vocabulary)]
    while len(pieces) > 1:
        joins = [
            (vocabulary[one + other], vocabulary[one], vocabulary[other], at)
            for at, (one, other) in enumerate(zip(pieces, pieces[1:], strict=False))
            if one + other in vocabulary
        ]
        if not joins:
            break
        at = min(joins)[3]
        pieces[at : at + 2] = [pieces[at] + pieces[at + 1]]
    return [vocabulary[piece] for piece in pieces]


def _known(character: str, vocabulary: Mapping[str, int]) -> list[str]:
    """The character, or its bytes where it is no token."""
    if character in vocabulary:
        return [character]
    return [f"<0x{byte:02X}>" for byte in character.encode("utf-8", "surrogatepass")]
