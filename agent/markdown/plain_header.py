"""A fast parser for the most common headers: one `key: word` a line, and simple lists.

Its values equal those of `yaml_read`; a test compares the two. `yaml_read` parses all other headers and reports errors.
"""

import re

from agent.markdown.values import Value, resolve

_LONGEST = 4_096
_PAIR = re.compile(
    r"([A-Za-z_][A-Za-z0-9_]{0,63}):"
    r"(?: ([A-Za-z0-9_/\u4e00-\u9fff](?:[A-Za-z0-9_/.+\u4e00-\u9fff-]|:(?=[A-Za-z0-9_/.+\u4e00-\u9fff-]))*)\n"
    r"| \[((?:[A-Za-z0-9_/\u4e00-\u9fff][A-Za-z0-9_/.+\u4e00-\u9fff-]*(?:, (?=[^\]])|(?=\])))*)\]\n"
    r"|\n((?:  - \"[ !#-\[\]-~\u4e00-\u9fff]*\"\n)+))"
)


def parse_plain_header(text: str) -> dict[str, Value] | None:
    """The keys of a header with their values, in order; None for any other header."""
    if len(text) > _LONGEST:
        return None
    found: dict[str, Value] = {}
    at = 0
    while at < len(text):
        pair = _PAIR.match(text, at)
        if pair is None or pair[1] in found:
            return None
        key, word, words, lines = pair.groups()
        if word is not None:
            found[key] = resolve(word)
        elif words is not None:
            found[key] = tuple(map(resolve, words.split(", "))) if words else ()
        else:
            found[key] = tuple(line[5:-1] for line in lines.splitlines())
        at = pair.end()
    return found
