"""What a sentence of the person's says about what they prefer, by rules: the dimension and the value. Pure text.

Few sentences do: how texts are to be (length, lists, headings, emoji, language, dates), what is better than what, what
is liked, what is always or never to be done. Any other sentence shows nothing that can be counted, and stays what it
is: a statement.
"""

import re
from collections.abc import Iterator

from agent.config.resources import first_match, pattern
from agent.growth.beliefs.sign import OPTIONS, Dimension, DimensionKind, without_separator
from agent.index.analysis import terms
from agent.markdown.preferences import preferences
from agent.memory.edits.form import dates_in
from agent.memory.understanding.statements import is_question

_STYLES = (
    ("length", "shorter", "longer", True),
    ("list", "items", "prose", True),
    ("headings", "more", "fewer", False),
    ("emoji", "with", "without", False),
)
"""The measures that have two sides: the topic, its sides, and whether the second side has words of its own, too. A
"not" before the words of one side means the other one."""
_SIDES: tuple[tuple[str, DimensionKind, str], ...] = (
    ("wish_dislikes", "taste", "dislikes"),
    ("wish_likes", "taste", "likes"),
    ("wish_never", "practice", "without"),
    ("wish_always", "practice", "with"),
)
"""Lists of patterns, with the value of the thing that they name."""
_CLAUSE = re.compile(r"[,;:，；：。.!?！？](?!\d)")
_NEAR = 40
"""The characters before a word in which a "not" turns it around."""
_LONGEST = 60

StatedPreference = tuple[Dimension, str]


def stated_preferences(sentence: str) -> tuple[StatedPreference, ...]:
    """The preferences that a sentence states, each dimension once."""
    plain = " ".join(sentence.replace("’", "'").split()).strip(" .。!！;；-*•")
    if not plain or is_question(sentence) or pattern("style_any").search(plain):
        return ()
    found: dict[tuple[str, str], StatedPreference] = {}
    for dimension, value in (*_of_style(plain), *_of_wish(plain)):
        found.setdefault(dimension.key, (dimension, value))
    if any(dimension.is_of_style for dimension, _ in found.values()):  # "never use emoji" is no practice besides
        return tuple(each for each in found.values() if each[0].is_of_style)
    return tuple(found.values())


def styles_in(sentence: str) -> tuple[StatedPreference, ...]:
    """The measures of style that a sentence names, whatever it is about: for what is said of a text just read."""
    return tuple(_measures(" ".join(sentence.replace("’", "'").split())))


def is_wish(sentence: str) -> bool:
    """True for a sentence that says how something is to be, and not only now."""
    return bool(preferences(sentence)) or pattern("style_wish").search(sentence.strip()) is not None


def _of_style(sentence: str) -> Iterator[StatedPreference]:
    if not is_wish(sentence):
        return
    if (pair := first_match("wish_rather", sentence)) is not None:
        sentence = pair["value"]  # "short answers" of "I prefer short answers to long ones"
    for dimension, value in _measures(sentence):
        needs_text = dimension.topic == "length"
        if not needs_text or pattern("style_about").search(sentence):
            yield dimension, value


def _measures(sentence: str) -> Iterator[StatedPreference]:
    for topic, one, other, both in _STYLES:
        value = _side(sentence, topic, one, other) or (_side(sentence, topic, other, one) if both else "")
        if value:
            yield Dimension("style", topic), value
    for language in ("en", "zh"):
        match = pattern(f"style_language_{language}").search(sentence)
        if match is not None and not _is_turned(sentence, match):
            yield Dimension("style", "language"), language
    if pattern("style_dates").search(sentence) and len(styles := {each.style for each in dates_in(sentence)}) == 1:
        yield Dimension("style", "dates"), styles.pop()


def _side(sentence: str, topic: str, side: str, opposite: str) -> str:
    match = pattern(f"style_{topic}_{side}").search(sentence)
    if match is None:
        return ""
    return opposite if _is_turned(sentence, match) else side


def _is_turned(sentence: str, match: re.Match[str]) -> bool:
    """True if a "not" stands before the words, in their clause."""
    before = _CLAUSE.split(sentence[: match.start()])[-1][-_NEAR:]
    return pattern("style_not").search(before) is not None


def _of_wish(sentence: str) -> Iterator[StatedPreference]:
    if found := first_match("wish_rather", sentence):
        value, other = _thing(found["value"]), _thing(found["other"])
        if value and other:
            yield Dimension("rather", OPTIONS.join(sorted((value, other), key=str.casefold))), value
    elif found := first_match("wish_favourite", sentence):
        what, value = _thing(found["what"]), _thing(found["value"])
        if what and value:
            yield Dimension("favourite", what), value
    else:
        matches = ((first_match(name, sentence), kind, value) for name, kind, value in _SIDES)
        things = ((_thing(match["what"]), kind, value) for match, kind, value in matches if match)
        yield from [(Dimension(kind, what), value) for what, kind, value in things if what][:1]


def _thing(words: str) -> str:
    """What a wish is about, without what is said behind it; empty if that is nothing."""
    plain = without_separator(words.replace("|", "/")).strip(" \"“”'")
    while found := pattern("wish_tail").search(plain):
        plain = plain[: found.start()].rstrip()
    return plain if plain and len(plain) <= _LONGEST and terms(plain) else ""
