"""How alike two texts are, whether they say the same, and whether one says otherwise: by rule, English and Chinese.

Likeness is Jaccard's, over content words (stemmed, stop words left out) and, where words are not parted by blanks, over
characters and pairs of them. Alike is not the same: two texts in which a number, a "not", a person or a name differs
say different things however many words they share. What follows from it is `dedupe`'s.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from agent.index.analysis import terms

FEW = 25
"""Terms up to which one word that was replaced by another makes a different statement."""
_SLACK = 0.08
"""The share of longer texts that may have been put in other words."""

_LABEL = re.compile(r"^(?:User|Assistant|用户|助手)[:：]\s*", re.MULTILINE)
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
    r"[零〇一二两三四五六七八九十百]+(?=[点點月号號日岁歲个個年人次天周週块塊元万千公里分小时杯只只])"
)
_HAN_DIGITS = {digit: at for at, digit in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_NOT_IN_ENGLISH = frozenset(
    {"not", "no", "never", "without", "nobody", "nothing", "cannot", "hardly", "stopped", "quit", "unable"}
    | {"hate", "hates", "dislike", "dislikes", "avoid", "avoids"}
)
_NOT_IN_CHINESE = re.compile(
    r"不(?!错|过[,，]|仅|但|只|同|如|久|断)|没(?!关系)|别(?!人|的|墅)|无(?!线|论)|未(?!来)|讨厌|避免|戒"
)
_PERSONS = {
    "i": (frozenset({"i", "me", "my", "mine", "myself"}), re.compile(r"我(?!们)")),
    "you": (frozenset({"you", "your", "yours"}), re.compile(r"你")),
    "he": (frozenset({"he", "him", "his"}), re.compile(r"他(?!们)")),
    "she": (frozenset({"she", "her", "hers"}), re.compile(r"她(?!们)")),
    "we": (frozenset({"we", "us", "our", "ours"}), re.compile(r"我们")),
    "they": (frozenset({"they", "them", "their"}), re.compile(r"他们|她们")),
}
_FILLER = re.compile(
    r"\b(?:please|remember|note|that|ok|okay|well|actually|really|very|quite|just|also|so|btw|by the way|always|usually"
    r"|currently|now|kindly|thanks|thank you|hi|hello|hey|fyi|hm+|oh)\b"
    r"|请(?:你)?|记住|记得|其实|真的|非常|特别|比较|一直|目前|现在|一下|哦|哈|呀|嘛|那个|这个|好的|谢谢|你好"
)
_EMPTY = frozenset("的了吗呢么吧啊是在和与很都也就还会个们着过被把给跟同及或")
_HAN = re.compile(r"[\u3400-\u9fff\u3040-\u30ff\uac00-\ud7af]")
_LETTER = re.compile(r"[^\W\d_]")
_SENTENCE = re.compile(r"[^.!?。！？；;\n]+(?:[.:](?=\w)[^.!?。！？；;\n]*)*")
_SENTENCE_LENGTH, _SENTENCES = 200, 12
LOOSE = 4
"""Letters from which on two words one letter apart are one word with a slip."""
_MOST_SLIPS = 400
"""Pairs of words, one of each text, up to which slips are looked for."""


@dataclass(frozen=True, slots=True)
class Wording:
    """What a text says, in parts that can be compared; a term has a letter in it, so that no number is one."""

    terms: frozenset[str]
    numbers: frozenset[str]
    persons: frozenset[str]
    negated: bool


@lru_cache(maxsize=4_096)
def wording(text: str) -> Wording:
    """The parts of a text; labels of speakers and words of courtesy count for nothing."""
    plain = _numerals(unicodedata.normalize("NFKC", _LABEL.sub("", text)).casefold().replace("’", "'"))
    plain = _SHORT.sub(" ", plain.replace("n't", " not"))
    words, is_ascii = frozenset(_WORD.findall(plain)), plain.isascii()
    persons = frozenset(
        name
        for name, (english, chinese) in _PERSONS.items()
        if not english.isdisjoint(words) or (not is_ascii and chinese.search(plain))
    )
    negated = not _NOT_IN_ENGLISH.isdisjoint(words) or bool(not is_ascii and _NOT_IN_CHINESE.search(plain))
    kept = _FILLER.sub(" ", plain)
    kept = kept if is_ascii else _NOT_IN_CHINESE.sub("", kept)
    found = frozenset(term for term in frozenset(terms(kept)) if _says_something(term))
    return Wording(found, frozenset(_NUMBER.findall(plain)), persons, negated)


def _says_something(term: str) -> bool:
    return (term.isalpha() or _LETTER.search(term) is not None) and (term.isascii() or _EMPTY.isdisjoint(term))


def likeness(one: Wording, other: Wording) -> float:
    """Jaccard's measure of what two texts are made of, numbers too; from 0 to 1."""
    shared = len(one.terms & other.terms) + len(one.numbers & other.numbers)
    whole = len(one.terms) + len(one.numbers) + len(other.terms) + len(other.numbers) - shared
    return shared / whole if whole else 0.0


def is_same(one: Wording, other: Wording, threshold: float) -> bool:
    """Whether two texts say the same: alike enough, and nothing that matters replaced by something else."""
    if _are_of_two_kinds(one, other) or not _may_have_the_same_words(one, other):
        return False
    one, other = _without_slips(one, other)
    return likeness(one, other) >= threshold and not _has_other_words(one, other)


def differ(one: Wording, other: Wording) -> bool:
    """Whether something was replaced: a number, yes by no, a person, a word by another; what was added is no matter."""
    return _are_of_two_kinds(one, other) or _has_other_words(*_without_slips(one, other))


def _are_of_two_kinds(one: Wording, other: Wording) -> bool:
    """Whether a number, yes by no, or a person was replaced."""
    if one.negated != other.negated:
        return True
    if one.numbers != other.numbers and not (one.numbers < other.numbers or other.numbers < one.numbers):
        return True
    return bool(one.persons and other.persons) and one.persons.isdisjoint(other.persons)


def _may_have_the_same_words(one: Wording, other: Wording) -> bool:
    """Whether all words of one of two short texts may be in the other, slips allowed for; a quick look."""
    left, right = one.terms - other.terms, other.terms - one.terms
    if not left or not right or len(one.terms) + len(right) > FEW:
        return True
    return _are_slips(left, right) or all(any(a[0] == b[0] and _is_slip(a, b) for a in left) for b in right)


def _are_slips(left: frozenset[str], right: frozenset[str]) -> bool:
    """Whether each word on the left has one on the right that is a slip of it."""
    return all(any(a[0] == b[0] and _is_slip(a, b) for b in right) for a in left)


def _has_other_words(one: Wording, other: Wording) -> bool:
    """Whether a word was replaced by another, slips of a letter apart."""
    shared = len(one.terms & other.terms)
    fewest = min(len(one.terms), len(other.terms)) - shared
    whole = len(one.terms) + len(other.terms) - shared
    return fewest > (0 if whole <= FEW else _SLACK * whole)


def adds_nothing(newer: Wording, older: Wording) -> bool:
    """Whether all that the newer text says is in the older one."""
    if newer.negated != older.negated or not newer.numbers <= older.numbers:
        return False
    left, right = newer.terms - older.terms, older.terms - newer.terms
    return not left or (len(left) * len(right) <= _MOST_SLIPS and _are_slips(left, right))


def refines(newer: Wording, older: Wording, threshold: float) -> bool:
    """Whether the newer text says all that the older one does, and more on the same topic."""
    newer, older = _without_slips(newer, older)
    if newer.negated != older.negated or not older.terms or not older.numbers <= newer.numbers:
        return False
    return older.terms <= newer.terms and likeness(newer, older) >= threshold


def says_otherwise(newer: str, older: str) -> bool:
    """Whether a sentence of one text gives the subject of a sentence of the other another value, or denies it."""
    return any(_denies(one, other) for one in _sentences(newer) for other in _sentences(older))


@lru_cache(maxsize=4_096)
def _sentences(text: str) -> tuple[str, ...]:
    found = (sentence.strip() for sentence in _SENTENCE.findall(_LABEL.sub("", text)))
    return tuple(sentence for sentence in found if 0 < len(sentence) <= _SENTENCE_LENGTH)[:_SENTENCES]


_ATTRIBUTE = re.compile(
    r"(?:^|\b)(?P<subject>(?:[\w'-]+ ){0,5}?(?:[\w-]+'s [\w -]{2,40}?|(?:name|number|birthday|address|password"
    r"|deadline|budget|favou?rite [\w -]{2,30}?|job|age|email|meeting|flight|appointment|code|title|price|rent|size"
    r"|colou?r|date))) "
    r"(?:is|are|was|will be|'s|has moved to|was moved to|moved to|changed to|starts at|is now) (?P<value>.+)$"
    r"|^(?P<who>(?:[\w'-]+ ){0,4}?[\w'-]+) (?:now |currently )?(?P<verb>lives?|works?|stud(?:y|ies)|moved|born|meets?"
    r"|prefers?|teaches|drives?) (?P<place>.+)$"
)
_ATTRIBUTE_IN_CHINESE = re.compile(
    r"^(?P<subject>.{1,16}?)(?P<verb>是|叫|住在|住|搬到|在(?=.{1,12}(?:工作|上班|上学|读书))|改成|改为|改到|定在|推迟到"
    r"|喜欢的.{1,6}是|更喜欢|偏好)"
    r"(?P<value>.{1,30})$"
)
_MOVES = {
    "搬到": "住在",
    "住": "住在",
    "改成": "是",
    "改为": "是",
    "改到": "是",
    "定在": "是",
    "推迟到": "是",
    "叫": "是",
}
_DENIED = 0.75
_SUBJECT = 0.6


def _denies(newer: str, older: str) -> bool:
    one, other = wording(newer), wording(older)
    if not one.terms & other.terms:
        return False
    if one.persons and other.persons and not one.persons & other.persons:
        return False
    if one.negated != other.negated:
        return _alike(one.terms, other.terms) >= _DENIED
    if one.numbers and other.numbers and not one.numbers & other.numbers and _alike(one.terms, other.terms) >= _SUBJECT:
        return True
    return _other_value(newer, older)


def _other_value(newer: str, older: str) -> bool:
    found, before = _attribute(newer), _attribute(older)
    if found is None or before is None:
        return False
    (subject, value), (other_subject, other_value) = found, before
    if not subject or subject != other_subject:
        return False
    return bool(value) and bool(other_value) and _alike(value, other_value) < 0.5


@lru_cache(maxsize=4_096)
def _attribute(text: str) -> tuple[frozenset[str], frozenset[str]] | None:
    """Of whom or what a sentence says something, and what it says; None for one that is not of that kind."""
    plain = _FILLER.sub(" ", unicodedata.normalize("NFKC", text).casefold().replace("’", "'"))
    plain = " ".join(plain.split())
    if match := _ATTRIBUTE_IN_CHINESE.match(plain):
        verb = _MOVES.get(match["verb"], match["verb"])
        return wording(match["subject"]).terms | {verb}, _value(match["value"])
    if match := _ATTRIBUTE.search(plain):
        if match["subject"]:
            return wording(match["subject"]).terms, _value(match["value"])
        verb = "live" if match["verb"] == "moved" else match["verb"].rstrip("s")
        return wording(match["who"]).terms | {f"{verb}:"}, _value(match["place"])
    return None


def _value(text: str) -> frozenset[str]:
    said = wording(text)
    return said.terms | said.numbers


def _alike(one: Iterable[str], other: Iterable[str]) -> float:
    left, right = frozenset(one), frozenset(other)
    return len(left & right) / len(left | right) if left or right else 0.0


def _without_slips(one: Wording, other: Wording) -> tuple[Wording, Wording]:
    """Both, with words of one that differ by a letter from a word of the other written as there."""
    left, right = one.terms - other.terms, other.terms - one.terms
    if not left or not right or len(left) * len(right) > _MOST_SLIPS:
        return one, other
    swap = {a: b for a in left if len(a) >= LOOSE for b in right if a[0] == b[0] and _is_slip(a, b)}
    if not swap:
        return one, other
    terms_ = frozenset(swap.get(term, term) for term in one.terms)
    return Wording(terms_, one.numbers, one.persons, one.negated), other


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
