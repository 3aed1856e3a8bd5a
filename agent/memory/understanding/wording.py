"""The parts of a text for comparison: words, numbers, persons, negation.

Frozen: the fingerprints of forgotten texts are computed from `words`, `numbers` and `negated`, so after any change the
tombstones in people's vaults no longer match. The comparison of two wordings is left to `rules`.
"""

import re
import unicodedata
from collections import Counter
from functools import cache, lru_cache

from agent.config.resources import characters, number_words, pattern, patterns, words
from agent.dataclass import dataclass
from agent.index.analysis import terms

LABEL = re.compile(r"^(?:User|Assistant|用户|助手)[:：]\s*", re.MULTILINE)
"""The speaker's label at the beginning of a line."""
_SHORT = re.compile(r"'(?:m|re|ve|ll|d|s)\b")
_DIGIT = re.compile(r"\d")
_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"\d+(?:[.:]\d+)*")
_ORDINAL = re.compile(r"(\d)(?:st|nd|rd|th)\b")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_CLOCK = re.compile(r"\b(\d{1,2})(?::(\d{2}))?\s*([ap])\.?m\.?(?!\w)")
_CHINESE_CLOCK = re.compile(r"(早上|上午|中午|下午|晚上|傍晚)?(\d{1,2})(?:[点點时時:](半|\d{1,2})?)分?(?=\D|$)")
_HAN_NUMBER = re.compile(
    r"[零〇一二两三四五六七八九十百]+(?=[点點月号號日岁歲个個年人次天周週块塊元万千公里分小时杯只只楼樓层層])"
    r"|[一二三四五六七八九]十[一二三四五六七八九]?|十[一二三四五六七八九]|(?<=[初第])[一二三四五六七八九十百]+"
)
_HAN_DIGITS = {digit: at for at, digit in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_HAN = re.compile(r"[\u3400-\u9fff\u3040-\u30ff\uac00-\ud7af]")
_LETTER = re.compile(r"[^\W\d_]")


@dataclass(frozen=True, slots=True)
class Wording:
    """The parts of a text. A term contains a letter, so no number is a term.

    `terms` are stems; in scripts without spaces, characters and pairs of them; `words` are the terms without the pairs.
    `plain` is the text in lower case, with numbers in one format, without labels and courtesies.
    """

    terms: frozenset[str]
    numbers: frozenset[str]
    persons: frozenset[int]
    negated: bool
    words: frozenset[str]
    plain: str = ""


@lru_cache(maxsize=16_384)
def wording(text: str) -> Wording:
    """The parts of a text, without speakers' labels and courtesies."""
    plain = _with_digits(unicodedata.normalize("NFKC", LABEL.sub("", text)).casefold().replace("’", "'"))
    plain = _SHORT.sub(" ", plain.replace("n't", " not"))
    is_ascii = plain.isascii()
    persons = frozenset(at for at, person in enumerate(patterns("persons")) if person.search(plain))
    negated = not words("negation_words").isdisjoint(_WORD.findall(plain))
    negated = negated or bool(not is_ascii and pattern("negation_marks").search(plain))
    without_filler = pattern("filler").sub(" ", plain)
    bare = without_filler if is_ascii else pattern("negation_marks").sub("", without_filler)
    found = frozenset(term for term in frozenset(terms(bare)) if _says_something(term))
    single = found if is_ascii else frozenset(term for term in found if len(term) != 2 or not _HAN.match(term))
    return Wording(found, _numbers(plain), persons, negated, single, " ".join(without_filler.split()))


def similarity(one: Wording, other: Wording) -> float:
    """The Jaccard similarity of the terms and numbers of two texts, 0 to 1."""
    return jaccard(one.terms | one.numbers, other.terms | other.numbers)


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of all elements that both sets have; 0 if both are empty."""
    return len(one & other) / len(one | other) if one or other else 0.0


def _numbers(plain: str) -> frozenset[str]:
    """The numbers in a text; a repeated number gets a mark, because 3/3 and 3/13 are two days."""
    counts: Counter[str] = Counter()
    found = set[str]()
    for each in _NUMBER.findall(plain):
        found.add(f"{each}×{counts[each]}" if counts[each] else each)
        counts[each] += 1
    return frozenset(found)


def _says_something(term: str) -> bool:
    return _LETTER.search(term) is not None and (term.isascii() or characters("particles").isdisjoint(term))


def _with_digits(text: str) -> str:
    """The text with its numbers in digits, and hours from 0 to 23."""
    if _DIGIT.search(text):
        text = _ORDINAL.sub(r"\1", _THOUSANDS.sub("", text))
    text = _number_words().sub(lambda found: number_words()[found[0]], text)
    if not text.isascii():
        text = _HAN_NUMBER.sub(lambda found: str(_of_han(found[0])), text)
    if not _DIGIT.search(text):
        return text
    text = _CLOCK.sub(lambda found: _time(int(found[1]), found[2] or "00", late=found[3] == "p"), text)
    return _CHINESE_CLOCK.sub(_chinese_time, text)


@cache
def _number_words() -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(number_words())})\b")


def _chinese_time(found: re.Match[str]) -> str:
    if found[0][-1].isdigit() and ":" in found[0]:
        return found[0]
    minutes = "30" if found[3] == "半" else (found[3] or "00")
    return _time(int(found[2]), minutes, late=found[1] in {"下午", "晚上", "傍晚"})


def _time(hour: int, minutes: str, *, late: bool) -> str:
    hour = hour + 12 if late and hour < 12 else hour
    return f" {hour}:{int(minutes):02} "


def _of_han(digits: str) -> int:
    """The value of a Chinese number below a thousand."""
    total = part = 0
    for digit in digits:
        if digit == "十":
            total, part = total + (part or 1) * 10, 0
        elif digit == "百":
            total, part = total + (part or 1) * 100, 0
        else:
            part = _HAN_DIGITS[digit]
    return total + part
