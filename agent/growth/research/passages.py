"""The parts of a long text that fit a question best, in the order in which they stand there."""

import re
from collections.abc import Mapping, Sequence
from math import sqrt

from agent.growth.research.claims import split_sentences
from agent.growth.topic_words import words_of

_PARAGRAPH = 700
"""Characters up to which lines are kept together."""
_SHORTEST, _LONGEST = 15, 400
"""Characters of a sentence that can be quoted."""
_NUMBERS = re.compile(r"\[\s?\d{1,3}(?:\s?[,–-]\s?\d{1,3})*\s?\]|[【［]\d{1,3}[】］]")
_LINK = re.compile(r"!?\[([^\[\]\n]{0,300})\]\([^()\s]{0,1000}\)")
_WIKI = re.compile(r"(!?)\[\[([^\[\]|\n]{0,300})(?:\|([^\[\]\n]{0,300}))?\]\]")
_MARKS = re.compile(r"^\s*(?:>\s?)*(?:[-*+]\s+|\d{1,3}[.)]\s+|#{1,6}\s+)*|\*\*|`")


def without_reference_marks(text: str) -> str:
    """The text without numbers in brackets: in a report they stand for its own sources, and a page may have some."""
    return _NUMBERS.sub("", text)


def best_passages(text: str, query: str, room: int) -> str:
    """At most `room` characters of a text: its beginning, which says what it is, and what has most of the query's
    words."""
    if len(text) <= room:
        return text
    pieces = _pieces(text)
    words = words_of(query)
    scores = [_score(piece, words) + (2.0 if at == 0 else 0.0) for at, piece in enumerate(pieces)]
    chosen: set[int] = set()
    left = room
    for at in sorted(range(len(pieces)), key=lambda at: (-scores[at], at)):
        if len(pieces[at]) + 2 <= left:
            chosen.add(at)
            left -= len(pieces[at]) + 2
    if not chosen:
        return pieces[0][:room]
    shown = ""
    before = -1
    for at in sorted(chosen):
        shown += ("\n" if at == before + 1 else "\n[…]\n") * bool(shown) + pieces[at]
        before = at
    return shown[:room]


def best_sentences(text: str, query: str, most: int) -> list[str]:
    """The sentences of a text with most of the query's words, at most so many, in their order; none without one."""
    words = words_of(query)
    lines = (_MARKS.sub("", _WIKI.sub(_shown, _LINK.sub(r"\1", without_reference_marks(row)))) for row in _rows(text))
    found = [" ".join(each.split()) for row in lines for each in split_sentences(row)]
    fit = [each for each in dict.fromkeys(found) if _SHORTEST <= len(each) <= _LONGEST or _is_short_chinese(each)]
    rated = [(len(words & words_of(each)), at) for at, each in enumerate(fit)]
    best = sorted((each for each in rated if each[0]), key=lambda each: (-each[0], each[1]))[:most]
    return [fit[at] for _, at in sorted(best, key=lambda each: each[1])]


def fitted(texts: Mapping[int, str], query: str, room: int) -> dict[int, str]:
    """The texts with an equal share of so many characters each; what short ones leave goes to the long ones."""
    left, shares = room, dict[int, int]()
    by_size = sorted(texts, key=lambda number: len(texts[number]))
    for at, number in enumerate(by_size):
        shares[number] = min(len(texts[number]), left // (len(by_size) - at))
        left -= shares[number]
    return {number: best_passages(text, query, shares[number]) for number, text in texts.items()}


def _shown(link: re.Match[str]) -> str:
    """What a reader sees of a link between notes; nothing of a note that is put in."""
    target = link[2].rpartition("#")[2].rpartition("/")[2]
    return "" if link[1] else link[3] or target


def _is_short_chinese(sentence: str) -> bool:
    return 6 <= len(sentence) < _SHORTEST and not sentence.isascii()


def _score(piece: str, words: frozenset[str]) -> float:
    return len(words & words_of(piece)) / sqrt(1 + len(piece) / _PARAGRAPH)


def _rows(text: str) -> Sequence[str]:
    """The lines of a text that are sentences: no code, no rows of tables, no headings."""
    rows: list[str] = []
    is_code = False
    for row in text.split("\n"):
        if row.lstrip().startswith(("```", "~~~")):
            is_code = not is_code
        elif not is_code and not row.lstrip().startswith(("|", "#")):
            rows.append(row)
    return rows


def _pieces(text: str) -> list[str]:
    """The text in paragraphs; a long one is cut at its lines or sentences."""
    pieces: list[str] = []
    for block in re.split(r"\n\s*\n", text):
        part = ""
        for row in block.split("\n"):
            for each in split_sentences(row) if len(row) > _PARAGRAPH else [row]:
                if part and len(part) + len(each) > _PARAGRAPH:
                    pieces.append(part)
                    part = ""
                part += ("\n" if part and each == row else "") + each[: _PARAGRAPH * 4]
        if part.strip():
            pieces.append(part)
    return pieces or [text]
