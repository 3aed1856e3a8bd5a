"""Loads a tokenizer from its file; run as a program, it tokenizes one text for `tokenizer`, which loads something else
meanwhile.

Run as `python -I -S tokenizer_process.py PACKAGES FILE`: PACKAGES is the folder with the package `tokenizers`, FILE the
tokenizer's. It reads the text from its standard input, prints its tokens as JSON, and imports nothing from the rest of
the package.
"""

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokenizers import Tokenizer


def main(packages: str, file: str) -> None:
    """Print the tokens of what stands on standard input."""
    sys.path.append(packages)
    text = sys.stdin.buffer.read().decode("utf-8")
    json.dump(encoded(tokenizer_in(file), [text])[0], sys.stdout)


def tokenizer_in(file: str) -> "Tokenizer":
    """The tokenizer in a file."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(file)
    tokenizer.no_padding()
    tokenizer.no_truncation()
    # Its cache keeps whole lines, which are rarely repeated: 110 MB after a large burst, and no faster.
    tokenizer.model._resize_cache(0)
    return tokenizer


def encoded(tokenizer: "Tokenizer", texts: Sequence[str]) -> list[list[int]]:
    """The tokens of each text, without those that mark its ends."""
    return [each.ids for each in tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)]


if __name__ == "__main__":
    main(*sys.argv[1:])
