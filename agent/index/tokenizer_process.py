"""A separate program that tokenizes one text for `tokenizer`, which loads something else meanwhile.

Run as `python -I -S tokenizer_process.py PACKAGES FILE`: PACKAGES is the folder with the package `tokenizers`, FILE the
tokenizer's. It reads the text from its standard input, prints its tokens as JSON, and imports nothing from the rest of
the package.
"""

import json
import sys


def main(packages: str, file: str) -> None:
    """Print the tokens of what stands on standard input."""
    sys.path.append(packages)
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(file)
    tokenizer.no_padding()
    tokenizer.no_truncation()
    text = sys.stdin.buffer.read().decode("utf-8")
    json.dump(tokenizer.encode_batch_fast([text], add_special_tokens=False)[0].ids, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
