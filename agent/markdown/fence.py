"""Code fences around text that may hold fences itself."""

import re

_TICKS = re.compile(r"`+")


def format_fenced(text: str, language: str = "text") -> str:
    """The text between fences longer than any run of backticks in it."""
    longest = max((len(run) for run in _TICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"
