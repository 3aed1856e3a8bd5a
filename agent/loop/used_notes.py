"""Which of the notes before the model an answer used: those that it names, and those that say what it says.

A passage says what an answer says if one of its sentences has words in common with it that the task does not have, at
least a third of them: "Your sister is Mara" uses "My sister Mara lives in Porto" when the task was "Who is my sister?".
"""

import re
from collections.abc import Callable, Sequence
from pathlib import PurePosixPath

from agent.memory.understanding.wording import wording
from agent.tools.tool import Cited

_LINK = re.compile(r"\[\[([^\]|#\n]+)")
_SENTENCE = re.compile(r"[^.!?。！？；;\n]+")
_SHARE = 3
"""One word in so many of a sentence's new words must be in the answer."""
_LONGEST = 4_000
"""The characters of a passage that are compared."""


def used_notes(
    answer: str, task: str, cited: Sequence[Cited], read: Callable[[str], bytes | None]
) -> tuple[Cited, ...]:
    """The passages that the answer used, in their order. `read` returns a note's bytes, None if there is none."""
    linked = {PurePosixPath(link.strip()).name.removesuffix(".md").casefold() for link in _LINK.findall(answer)}
    known, said = _words(task), _words(answer)
    return tuple(
        each
        for each in cited
        if PurePosixPath(each.path).stem.casefold() in linked
        or each.path in answer
        or _says(_passage(each, read), said, known)
    )


def _says(passage: str, said: frozenset[str], known: frozenset[str]) -> bool:
    for sentence in _SENTENCE.findall(passage):
        new = _words(sentence) - known
        if new and _SHARE * len(new & said) >= len(new):
            return True
    return False


def _passage(cited: Cited, read: Callable[[str], bytes | None]) -> str:
    """The cited lines without a header, links and marks."""
    data = read(cited.path) if not PurePosixPath(cited.path).is_absolute() else None
    rows = (data or b"").decode("utf-8", "replace").splitlines()[cited.lines[0] - 1 : cited.lines[1]]
    return _LINK.sub(" ", "\n".join(rows))[:_LONGEST]


def _words(text: str) -> frozenset[str]:
    said = wording(text)
    return said.words | said.numbers
