"""The sentences of a text, and the text without those that are forgotten, of which no fragment stays behind.

What stands in brackets belongs to the sentence around it, though it has points and semicolons of its own. A sentence
that needs the one before it to be understood goes with that one: "It was 920 before."
"""

import re
from collections.abc import Callable, Iterator

from agent.config.resources import pattern
from agent.memory.understanding.statements import is_told

SENTENCE = re.compile(r"[^.!?。！？；;\n]+(?:[.:](?=\w)[^.!?。！？；;\n]*)*[.!?。！？；;]*")
_INNER = r"[^()（）\[\]【】\n]"
_BRACKETS = re.compile(rf"[(（\[【]{_INNER}*(?:[(（\[【]{_INNER}*[)）\]】]{_INNER}*)*[)）\]】]")
_MARKS = re.compile(r"\A[\W_]+")
_ENDS = ".!?。！？；;"


def without_sentences(row: str, is_gone: Callable[[str], bool], mark: str = "") -> str:
    """The line with `mark` in place of each run of sentences that are gone, or need one that is."""
    left, run, end = "", "", 0
    for begin, stop in _spans(row):
        said = row[begin:stop]
        if is_gone(said) or (run and needs_the_one_before(said, row[:begin])):
            run += row[end:stop]
        else:
            left += _as_before(run, mark) + row[end:stop]
            run = ""
        end = stop
    return left + _as_before(run, mark) + row[end:]


def needs_the_one_before(sentence: str, before: str = "") -> bool:
    """True for a sentence that says nothing, or another thing, without what stands before it."""
    bare = sentence.strip()
    words = _MARKS.sub("", bare)
    if not words or _BRACKETS.fullmatch(bare.rstrip(_ENDS)):
        return True
    if any(pattern(name).match(words) for name in ("pronoun", "past")):
        return True
    return before.rstrip().endswith((";", "；")) and (words[0].isdigit() or not (is_told(words) or ":" in words))


def _spans(row: str) -> Iterator[tuple[int, int]]:
    """Begin and end of each sentence, with whole brackets."""
    brackets = [found.span() for found in _BRACKETS.finditer(row)]
    begin: int | None = None
    for found in SENTENCE.finditer(row):
        begin = found.start() if begin is None else begin
        if not any(first < found.end() < last for first, last in brackets):
            yield begin, found.end()
            begin = None
    if begin is not None:
        yield begin, len(row)


def _as_before(text: str, mark: str) -> str:
    """The mark with the spaces that stood around the text; nothing without a mark or a text."""
    return text[: len(text) - len(text.lstrip())] + mark + text[len(text.rstrip()) :] if mark and text else ""
