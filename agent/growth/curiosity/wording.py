"""How words of a run or a model stand in a question: on one line, short, and doing nothing in an editor."""

from agent.markdown.title import clipped
from agent.memory import daily

MOST_OPTIONS = 4
"""The most options of a question."""
_WORDS = 160


def shown(words: str, most: int = _WORDS) -> str:
    """Words on one line that an editor neither loads nor links."""
    plain = daily.inert(" ".join(words.split())).replace("[[", "[ [").replace("]]", "] ]").replace("^", "'")
    return clipped(plain, most)


def quoted(words: str) -> str:
    """Words to be quoted in a sentence: without the stop at their end."""
    return shown(words).rstrip(" .。")
