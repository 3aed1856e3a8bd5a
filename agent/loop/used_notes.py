"""Which of the notes before the model an answer used: those that it links or names."""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from agent.tools.tool import Cited

_LINK = re.compile(r"\[\[([^\]|#\n]+)")


def used_notes(answer: str, cited: Sequence[Cited]) -> tuple[Cited, ...]:
    """The passages of the notes that an answer links or names by their paths, in their order."""
    links = {link.strip().removesuffix(".md").casefold() for link in _LINK.findall(answer)}
    return tuple(each for each in cited if each.path in answer or _is_linked(each.path, links))


def _is_linked(path: str, links: set[str]) -> bool:
    """True if a link has the note's path, or its name alone."""
    whole = path.removesuffix(".md").casefold()
    return whole in links or PurePosixPath(whole).name in links
