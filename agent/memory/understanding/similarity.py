"""How alike two texts are, and whether they say the same: by rule, English and Chinese.

Likeness is Jaccard's, over content words (stemmed, stop words left out) and, where words are not parted by blanks, over
characters and pairs of them. Alike is not the same: two texts in which a number, a "not", a person or a name differs
say different things however many words they share. Whether one says otherwise is `contradiction`'s, what follows from
it is `dedupe`'s.
"""

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import lru_cache

from agent.index.analysis import terms
from agent.memory.understanding.word_order import is_exchanged

FEW = 25
"""Terms up to which one word that was replaced by another makes a different statement."""
_SLACK = 0.08
"""The share of longer texts that may have been put in other words."""
_SENTENCE_OF = 8
"""Characters of a sentence that a character more does not make another one."""
_TORN = 3
"""Pairs of characters that come apart when a part of a text goes elsewhere in it."""

LABEL = re.compile(r"^(?:User|Assistant|用户|助手)[:：]\s*", re.MULTILINE)
_SHORT = re.compile(r"'(?:m|re|ve|ll|d|s)\b")
_NUMBER = re.compile(r"\d+(?:[.:]\d+)*")
_DIGIT = re.compile(r"\d")
_WORD = re.compile(r"\w+")
_NUMBER_WORDS = {
    word: number
    for number, word in {
        "0": "zero", "1": "one", "2": "two", "3": "three", "4": "four", "5": "five", "6": "six", "7": "seven",
        "8": "eight", "9": "nine", "10": "ten", "11": "eleven", "12": "twelve", "15": "fifteen", "20": "twenty",
        "30": "thirty", "40": "forty", "50": "fifty", "60": "sixty", "100": "hundred",
    }.items()
}  # fmt: skip
_WORDS_FOR_NUMBERS = re.compile(rf"\b(?:{'|'.join(_NUMBER_WORDS)})\b")
_ORDINAL = re.compile(r"(\d)(?:st|nd|rd|th)\b")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_CLOCK = re.compile(r"\b(\d{1,2})(?::(\d{2}))?\s*([ap])\.?m\.?(?!\w)")
_CHINESE_CLOCK = re.compile(r"(早上|上午|中午|下午|晚上|傍晚)?(\d{1,2})(?:[点點时時:](半|\d{1,2})?)分?(?=\D|$)")
_HAN_NUMBER = re.compile(
    r"[零〇一二两三四五六七八九十百]+(?=[点點月号號日岁歲个個年人次天周週块塊元万千公里分小时杯只只楼樓层層])"
    r"|[一二三四五六七八九]十[一二三四五六七八九]?|十[一二三四五六七八九]|(?<=[初第])[一二三四五六七八九十百]+"
)
_HAN_DIGITS = {digit: at for at, digit in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_NOT_IN_ENGLISH = frozenset(
    {"not", "no", "never", "without", "nobody", "nothing", "cannot", "hardly", "stopped", "quit", "unable"}
    | {"hate", "hates", "dislike", "dislikes", "avoid", "avoids"}
)
_NOT_IN_CHINESE = re.compile(
    r"不(?!错|过[,，]|仅|但|只|同|如|久|断)|没(?!关系)|别(?!人|的|墅)|无(?!线|论)|未(?!来)|勿|甭|讨厌|避免|戒|禁止"
)
_PERSONS = {
    "i": (frozenset({"i", "me", "my", "mine", "myself"}), re.compile(r"我(?!们)")),
    "you": (frozenset({"you", "your", "yours"}), re.compile(r"你")),
    "he": (frozenset({"he", "him", "his"}), re.compile(r"他(?!们)")),
    "she": (frozenset({"she", "her", "hers"}), re.compile(r"她(?!们)")),
    "we": (frozenset({"we", "us", "our", "ours"}), re.compile(r"我们")),
    "they": (frozenset({"they", "them", "their"}), re.compile(r"他们|她们")),
}
FILLER = re.compile(
    r"\b(?:please|remember|note|that|ok|okay|well|actually|really|very|quite|just|also|so|btw|by the way|always|usually"
    r"|currently|now|kindly|thanks|thank you|hi|hello|hey|fyi|hm+|oh)\b"
    r"|请(?:你)?|记住|记得|其实|真的|非常|特别|比较|一直|目前|现在|一下|哦|哈|呀|嘛|那个|这个|好的|谢谢|你好"
)
_EMPTY = frozenset("的了吗呢么吧啊是在和与很都也就还会个们着过被把给跟同及或")
_HAN = re.compile(r"[\u3400-\u9fff\u3040-\u30ff\uac00-\ud7af]")
_LETTER = re.compile(r"[^\W\d_]")
LOOSE = 4
"""Letters from which on two words one letter apart are one word with a slip."""
_MOST_SLIPS = 400
"""Pairs of words, one of each text, up to which slips are looked for."""


@dataclass(frozen=True, slots=True)
class Wording:
    """What a text says, in parts that can be compared; a term has a letter in it, so that no number is one.

    `words` are the terms without pairs of characters, which tell of order too; `plain` is what they were taken from.
    """

    terms: frozenset[str]
    numbers: frozenset[str]
    persons: frozenset[str]
    negated: bool
    words: frozenset[str] = field(compare=False)
    plain: str = field(default="", compare=False)

    @property
    def pairs(self) -> frozenset[str]:
        return self.terms - self.words


@lru_cache(maxsize=4_096)
def wording(text: str) -> Wording:
    """The parts of a text; labels of speakers and words of courtesy count for nothing."""
    plain = _numerals(unicodedata.normalize("NFKC", LABEL.sub("", text)).casefold().replace("’", "'"))
    plain = _SHORT.sub(" ", plain.replace("n't", " not"))
    words, is_ascii = frozenset(_WORD.findall(plain)), plain.isascii()
    persons = frozenset(
        name
        for name, (english, chinese) in _PERSONS.items()
        if not english.isdisjoint(words) or (not is_ascii and chinese.search(plain))
    )
    negated = not _NOT_IN_ENGLISH.isdisjoint(words) or bool(not is_ascii and _NOT_IN_CHINESE.search(plain))
    kept = FILLER.sub(" ", plain)
    kept = kept if is_ascii else _NOT_IN_CHINESE.sub("", kept)
    found = frozenset(term for term in frozenset(terms(kept)) if _says_something(term))
    words_ = found if is_ascii else frozenset(term for term in found if len(term) != 2 or not _HAN.match(term))
    return Wording(found, _numbers(plain), persons, negated, words_, " ".join(kept.split()))


def _numbers(plain: str) -> frozenset[str]:
    """The numbers in a text; one that is there again is another one: 3/3 and 3/13 are two days."""
    found = _NUMBER.findall(plain)
    if len(once := frozenset(found)) == len(found):
        return once
    return frozenset(f"{each}×{again}" if (again := found[:at].count(each)) else each for at, each in enumerate(found))


def _says_something(term: str) -> bool:
    return (term.isalpha() or _LETTER.search(term) is not None) and (term.isascii() or _EMPTY.isdisjoint(term))


def likeness(one: Wording, other: Wording) -> float:
    """Jaccard's measure of what two texts are made of, numbers too; from 0 to 1."""
    shared = len(one.terms & other.terms) + len(one.numbers & other.numbers)
    whole = len(one.terms) + len(one.numbers) + len(other.terms) + len(other.numbers) - shared
    return shared / whole if whole else 0.0


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of all elements that both sets have; 0 where both are empty."""
    return len(one & other) / len(one | other) if one or other else 0.0


def is_same(one: Wording, other: Wording, threshold: float) -> bool:
    """Whether two texts say the same: alike enough, and nothing that matters replaced by something else."""
    if _are_of_two_kinds(one, other) or not _may_have_the_same_words(one, other):
        return False
    one, other = _without_slips(one, other)
    if not _are_alike(one, other, threshold):
        return False
    return not _has_other_words(one, other) and not is_exchanged(one.plain, other.plain)


def _are_alike(one: Wording, other: Wording, threshold: float) -> bool:
    """Whether they are as alike as this; without pairs where there are few characters, each of which is in three terms
    and so counts three times when a part goes elsewhere."""
    if likeness(one, other) >= threshold:
        return True
    if not one.pairs or len(one.words | other.words) > FEW or _have_other_characters(one.plain, other.plain):
        return False
    if (one.words, one.numbers) == (other.words, other.numbers):
        return True
    fewest = min(len(one.words), len(other.words))
    return fewest >= _SENTENCE_OF and jaccard(one.words | one.numbers, other.words | other.numbers) >= threshold


def _have_other_characters(one: str, other: str) -> bool:
    """Whether each has a character more often than the other: where one is there twice, a set does not tell."""
    left, right = (Counter(each for each in _HAN.findall(text) if each not in _EMPTY) for text in (one, other))
    return bool(left - right) and bool(right - left)


def differ(one: Wording, other: Wording) -> bool:
    """Whether something was replaced: a number, yes by no, a person, a word by another; what was added is no matter."""
    if _are_of_two_kinds(one, other) or _has_other_words(*_without_slips(one, other)):
        return True
    return is_exchanged(one.plain, other.plain)


def _are_of_two_kinds(one: Wording, other: Wording) -> bool:
    """Whether a number, yes by no, or a person was replaced."""
    if one.negated != other.negated:
        return True
    if one.numbers != other.numbers and not (one.numbers < other.numbers or other.numbers < one.numbers):
        return True
    return bool(one.persons and other.persons) and one.persons.isdisjoint(other.persons)


def _may_have_the_same_words(one: Wording, other: Wording) -> bool:
    """Whether all words of one of two short texts may be in the other, slips allowed for; a quick look."""
    left, right = one.words - other.words, other.words - one.words
    if not left or not right or len(one.words) + len(right) > FEW:
        return True
    return _are_slips(left, right) or all(any(a[0] == b[0] and _is_slip(a, b) for a in left) for b in right)


def _are_slips(left: frozenset[str], right: frozenset[str]) -> bool:
    """Whether each word on the left has one on the right that is a slip of it."""
    return all(any(a[0] == b[0] and _is_slip(a, b) for b in right) for a in left)


def _has_other_words(one: Wording, other: Wording) -> bool:
    """Whether a word was replaced by another, slips of a letter apart."""
    fewest, whole = _apart(one.words, other.words)
    if whole <= FEW:
        return fewest > 0 or _apart(one.pairs, other.pairs)[0] > _TORN
    fewest, whole = _apart(one.terms, other.terms)
    return fewest > _SLACK * whole


def _apart(one: frozenset[str], other: frozenset[str]) -> tuple[int, int]:
    """How many of each are not in the other, at least; and how many there are in all."""
    shared = len(one & other)
    return min(len(one), len(other)) - shared, len(one) + len(other) - shared


def adds_nothing(newer: Wording, older: Wording) -> bool:
    """Whether all that the newer text says is in the older one."""
    if newer.negated != older.negated or not newer.numbers <= older.numbers:
        return False
    left, right = newer.terms - older.terms, older.terms - newer.terms
    if left and not (len(left) * len(right) <= _MOST_SLIPS and _are_slips(left, right)):
        return False
    return not is_exchanged(newer.plain, older.plain)


def refines(newer: Wording, older: Wording, threshold: float) -> bool:
    """Whether the newer text says all that the older one does, and more on the same topic."""
    newer, older = _without_slips(newer, older)
    if newer.negated != older.negated or not older.terms or not older.numbers <= newer.numbers:
        return False
    if not older.terms <= newer.terms or likeness(newer, older) < threshold:
        return False
    return not is_exchanged(newer.plain, older.plain)


def _without_slips(one: Wording, other: Wording) -> tuple[Wording, Wording]:
    """Both, with words of one that differ by a letter from a word of the other written as there."""
    left, right = one.words - other.words, other.words - one.words
    if not left or not right or len(left) * len(right) > _MOST_SLIPS:
        return one, other
    swap = {a: b for a in left if len(a) >= LOOSE for b in right if a[0] == b[0] and _is_slip(a, b)}
    if not swap:
        return one, other
    terms_, words_ = (frozenset(swap.get(term, term) for term in some) for some in (one.terms, one.words))
    return replace(one, terms=terms_, words=words_), other


def _is_slip(one: str, other: str) -> bool:
    """Whether one of two words that begin alike is the other with a slip."""
    if min(len(one), len(other)) < LOOSE or abs(len(one) - len(other)) > 1 or _HAN.search(one):
        return False
    if len(one) == len(other):
        wrong = [at for at in range(len(one)) if one[at] != other[at]]
        swapped = len(wrong) == 2 and wrong[1] == wrong[0] + 1 and one[wrong[0]] == other[wrong[1]]
        return (swapped and one[wrong[1]] == other[wrong[0]]) or (len(wrong) == 1 and len(one) > LOOSE + 1)
    short, long = sorted((one, other), key=len)
    return any(long[:at] + long[at + 1 :] == short for at in range(len(long)))


def _numerals(text: str) -> str:
    """Numbers in one form: digits, the day in 24 hours."""
    if _DIGIT.search(text):
        text = _ORDINAL.sub(r"\1", _THOUSANDS.sub("", text))
    text = _WORDS_FOR_NUMBERS.sub(lambda found: _NUMBER_WORDS[found[0]], text)
    if not text.isascii():
        text = _HAN_NUMBER.sub(lambda found: str(_of_han(found[0])), text)
    if not _DIGIT.search(text):
        return text
    text = _CLOCK.sub(lambda found: _time(int(found[1]), found[2] or "00", late=found[3] == "p"), text)
    return _CHINESE_CLOCK.sub(_chinese_time, text)


def _chinese_time(found: re.Match[str]) -> str:
    if found[0][-1].isdigit() and ":" in found[0]:
        return found[0]
    minutes = "30" if found[3] == "半" else (found[3] or "00")
    return _time(int(found[2]), minutes, late=found[1] in {"下午", "晚上", "傍晚"})


def _time(hour: int, minutes: str, *, late: bool) -> str:
    hour = hour + 12 if late and hour < 12 else hour
    return f" {hour}:{int(minutes):02} "


def _of_han(digits: str) -> int:
    total = part = 0
    for digit in digits:
        if digit == "十":
            total, part = total + (part or 1) * 10, 0
        elif digit == "百":
            total, part = total + (part or 1) * 100, 0
        else:
            part = _HAN_DIGITS[digit]
    return total + part
