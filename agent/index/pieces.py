"""The tokens of a question without the tokenizer: reading its 61,000 rules takes longer than the rest of a search.

Each rule of wordllama's tokenizer joins two tokens whose joint text is a token too, all such pairs have a rule, and of
two rules the one with the lower ids (joint, left, right) goes first; a word never joins with the next. So the list of
tokens says everything: 12 ms instead of 75. That was proven for one file, known by its checksum, and does not hold for
runs of blanks; anything else is left to the tokenizer.
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
_VOCABULARY, _RULES = b'"vocab":', b'"merges":'


@dataclass(slots=True)
class Pieces:
    """The tokenizer in a file, read as far as it is needed. `text` is the file while only that much was read."""

    file: Path
    text: bytes
    _vocabulary: Mapping[str, int] = field(default_factory=dict, init=False)
    _tokenizer: "Tokenizer | None" = field(default=None, init=False)

    def ids(self, texts: Sequence[str]) -> list[Sequence[int]]:
        """Each text's tokens."""
        if self._tokenizer is None and len(texts) == 1 and _is_plain(texts[0]):
            self._vocabulary = self._vocabulary or _vocabulary(self.text)
            return [cut(texts[0], self._vocabulary)]
        return [each.ids for each in self.tokenizer().encode_batch_fast(list(texts), add_special_tokens=False)]

    def tokenizer(self) -> "Tokenizer":
        """The whole tokenizer, loaded at the first need."""
        if self._tokenizer is None:
            from tokenizers import Tokenizer

            self._tokenizer = Tokenizer.from_file(str(self.file))
            self._tokenizer.no_padding()
            self._tokenizer.no_truncation()
            self.text, self._vocabulary = b"", {}
        return self._tokenizer


def open_pieces(file: Path) -> Pieces:
    """The tokenizer in a file; one that nothing is proven of is loaded at once. Raises `OSError` or `ImportError`."""
    if find_spec("tokenizers") is None:
        raise ImportError("the package tokenizers is not installed")
    pieces = Pieces(file, file.read_bytes())
    if crc32(pieces.text) != _PROVEN:
        pieces.tokenizer()
    return pieces


def _is_plain(text: str) -> bool:
    """Whether the text is short and has no run of blanks, and nothing that could be one of the tokenizer's marks."""
    blanks = "  " in text or text.startswith(" ") or _BLANK in text
    return 0 < len(text) <= LONGEST and not blanks and "<" not in text


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
