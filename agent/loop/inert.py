"""Text of a model or of strangers, in a form that does nothing when an editor shows the note with it."""

import re
from itertools import groupby
from operator import itemgetter

from agent.escape import escape_line
from agent.markdown import blocks
from agent.markdown.inertness.active import active_parts, without_marks

_MARK = re.compile("%%|<!--")
"""Also in code: the program's own records in a note begin with one."""
TEMPLATE = "<%"
"""A template plugin runs what begins with this in each new note, also in a code block."""
_BELOW = "Below."
_RUNS_OF_TICKS = re.compile(r"`{3,}")


def inert(text: str) -> str:
    """The text, in a code block if an editor showing it would fetch or run something, or hide the text below: an
    untrusted author may have put a secret into an address. A `TEMPLATE` in it is left to whoever writes it."""
    return fenced(text) if _acts(text) else text


def inert_blocks(text: str) -> str:
    """The text with only those of its blocks in code blocks that would fetch, run or hide something, so that the rest
    is shown as it was meant; all of it, if its blocks do so together."""
    text = text.replace(TEMPLATE, "< %")
    if not _acts(text):
        return text
    blank = (kind == "blank" for kind in blocks.parse_body(text).kinds)
    rows = zip(blank, text.split("\n"), strict=True)
    parts = ["\n".join(row for _, row in some) for is_blank, some in groupby(rows, itemgetter(0)) if not is_blank]
    made = "\n\n".join(map(inert, parts))
    return inert(text) if _acts(made) else made


def inert_line(text: str) -> str:
    """The text on one line, escaped, without characters that make an editor fetch, run or hide something."""
    flat = escape_line(" ".join(text.split()))  # an escape may be a command of a formula: it is judged as it stands
    return " ".join(without_marks(flat).split()) if _acts(flat) else flat


def fenced(text: str, language: str = "text") -> str:
    """The text in a code block that it cannot end."""
    longest = max((len(ticks) for ticks in _RUNS_OF_TICKS.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _acts(text: str) -> bool:
    """True if a note with the text would fetch or run something, or hide the text below it."""
    if _MARK.search(text) or blocks.parse_body(f"{text}\n\n{_BELOW}").kinds[-1] != "text":
        return True
    return bool(active_parts(text))
