"""Code fences around text that may contain fences."""

import re

_TICKS = re.compile(r"`+")


def format_fenced(text: str, language: str = "text") -> str:
    """The text in a code fence longer than any run of backticks in it."""
    longest = max((len(run) for run in _TICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"
