"""Text of a model or of strangers, in a form that does nothing when an editor shows the note with it."""

import re

from agent.escape import escape_line
from agent.markdown import blocks
from agent.tools.taint import active

_COMMENT = re.compile("%%|<!--")
_TAG = re.compile(
    r"<(?!/?(?:b|br|code|del|em|i|ins|kbd|mark|s|strong|sub|sup|u)\s{0,8}/?>)(?![a-z][a-z0-9+.-]{1,31}:)[a-z/!?]",
    re.IGNORECASE,
)
"""HTML, other than plain words inside it and addresses in angle brackets."""
_BELOW = "Below."
_SHOWING = re.compile(r"[<>`!\[\]]")
_RUNS_OF_TICKS = re.compile(r"`{3,}")


def inert(text: str) -> str:
    """The text, in a code block if an editor showing it would fetch or run something, or hide the text below: an
    untrusted author may have put a secret into an address."""
    return fenced(text) if _acts(text) else text


def inert_line(text: str) -> str:
    """The text on one line, escaped, without characters that make an editor fetch, run or hide something."""
    flat = " ".join(text.split())
    return escape_line(_SHOWING.sub(" ", flat).replace("%%", "% %") if _acts(flat) else flat)


def fenced(text: str, language: str = "text") -> str:
    """The text in a code block that it cannot end."""
    longest = max((len(ticks) for ticks in _RUNS_OF_TICKS.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _acts(text: str) -> bool:
    """True if a note with the text would fetch or run something, or hide the text below it."""
    body = blocks.parse_body(f"{text}\n\n{_BELOW}")
    if body.kinds[-1] != "text" or _COMMENT.search(text) or _TAG.search(body.visible):
        return True
    return bool(active("", text.encode("utf-8", "replace")))
