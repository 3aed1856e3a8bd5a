"""The parts of a long text that fit a question best, in the order in which they stand there."""

import re
from collections.abc import Iterator, Mapping
from math import sqrt

from agent.growth.research.claims import split_sentences
from agent.growth.topic_words import words_of

_PARAGRAPH = 700
"""Characters up to which lines are kept together."""
_SHORTEST, _SHORTEST_CHINESE, _LONGEST = 15, 6, 400
"""Characters of a sentence that can be quoted."""
_NUMBERS = re.compile(r"\[\s?\d{1,3}(?:\s?[,–-]\s?\d{1,3})*\s?\]|[【［]\d{1,3}[】］]")
_LINK = re.compile(r"!?\[([^\[\]\n]{0,300})\]\([^()\s]{0,1000}\)")
_WIKI = re.compile(r"(!?)\[\[(?:[^\[\]|\n]{0,300}[#/])?([^\[\]|\n#/]{0,300})(?:\|([^\[\]\n]{0,300}))?\]\]")
_MARKS = re.compile(r"^\s*(?:>\s?)*(?:[-*+]\s+|\d{1,3}[.)]\s+|#{1,6}\s+)*|\*\*|`")


def without_reference_marks(text: str) -> str:
    """The text without numbers in brackets: in a report they stand for its own sources, and a page may have some."""
    return _NUMBERS.sub("", text)


def fitted(texts: Mapping[int, str], query: str, room: int) -> dict[int, str]:
    """The texts with an equal share of so many characters each; what short ones leave goes to the long ones."""
    left, shares = room, dict[int, int]()
    by_size = sorted(texts, key=lambda number: len(texts[number]))
    for at, number in enumerate(by_size):
        shares[number] = min(len(texts[number]), left // (len(by_size) - at))
        left -= shares[number]
    return {number: _best_passages(text, query, shares[number]) for number, text in texts.items()}


def best_sentences(text: str, query: str, most: int) -> list[str]:
    """The sentences of a text with most of the query's words, at most so many, in their order; none without one."""
    words = words_of(query)
    found = [" ".join(each.split()) for row in _prose(text) for each in split_sentences(row)]
    fit = list(dict.fromkeys(filter(_is_quotable, found)))
    rated = [(-len(words & words_of(each)), at) for at, each in enumerate(fit)]
    best = sorted(each for each in rated if each[0])[:most]
    return [fit[at] for at in sorted(at for _, at in best)]


def _best_passages(text: str, query: str, room: int) -> str:
    """At most `room` characters of a text: its beginning, which says what it is, and what has most of the query's
    words."""
    if len(text) <= room:
        return text
    pieces, words = _pieces(text), words_of(query)
    scores = [len(words & words_of(piece)) / sqrt(1 + len(piece) / _PARAGRAPH) for piece in pieces]
    scores[0] += 2.0
    chosen: set[int] = set()
    left = room
    for at in sorted(range(len(pieces)), key=lambda at: (-scores[at], at)):
        if len(pieces[at]) + 2 <= left:
            chosen.add(at)
            left -= len(pieces[at]) + 2
    if not chosen:
        return pieces[0][:room]
    first = min(chosen)
    shown = pieces[first]
    for at in sorted(chosen - {first}):
        shown += ("\n" if at - 1 in chosen else "\n[…]\n") + pieces[at]
    return shown[:room]


def _is_quotable(sentence: str) -> bool:
    return (_SHORTEST if sentence.isascii() else _SHORTEST_CHINESE) <= len(sentence) <= _LONGEST


def _prose(text: str) -> Iterator[str]:
    """The lines of a text that are sentences, as a reader sees them: no code, no rows of tables, no headings; of a link
    between notes its words, and nothing of a note that is put in."""
    is_code = False
    for row in text.split("\n"):
        if row.lstrip().startswith(("```", "~~~")):
            is_code = not is_code
        elif not is_code and not row.lstrip().startswith(("|", "#")):
            plain = _LINK.sub(r"\1", without_reference_marks(row))
            yield _MARKS.sub("", _WIKI.sub(lambda link: "" if link[1] else link[3] or link[2], plain))


def _pieces(text: str) -> list[str]:
    """The text in paragraphs; a long one is cut at its lines or sentences."""
    pieces: list[str] = []
    for block in re.split(r"\n\s*\n", text):
        part = ""
        for row in block.split("\n"):
            for at, each in enumerate(split_sentences(row) if len(row) > _PARAGRAPH else [row]):
                if part and len(part) + len(each) > _PARAGRAPH:
                    pieces.append(part)
                    part = ""
                part += ("\n" if part and not at else "") + each[: _PARAGRAPH * 4]
        pieces += [part] if part.strip() else []
    return pieces or [text]
