"""Whether one text says otherwise than another: gives the same subject another value, or denies it.

By rule, English and Chinese, sentence by sentence; a doubt that is raised is for a person to settle, so what may well
be true beside the other is left alone. How alike texts are is `likeness`'s.
"""

import re
import unicodedata
from functools import lru_cache

from agent.memory.understanding.similarity import FILLER, LABEL, jaccard, wording

_SENTENCE = re.compile(r"[^.!?。！？；;\n]+(?:[.:](?=\w)[^.!?。！？；;\n]*)*")
_SENTENCE_LENGTH, _SENTENCES = 200, 12


def says_otherwise(newer: str, older: str) -> bool:
    """Whether a sentence of one text gives the subject of a sentence of the other another value, or denies it."""
    return any(_denies(one, other) for one in _sentences(newer) for other in _sentences(older))


@lru_cache(maxsize=4_096)
def _sentences(text: str) -> tuple[str, ...]:
    found = (sentence.strip() for sentence in _SENTENCE.findall(LABEL.sub("", text)))
    return tuple(sentence for sentence in found if 0 < len(sentence) <= _SENTENCE_LENGTH)[:_SENTENCES]


_ATTRIBUTE = re.compile(
    r"(?:^|\b)(?P<subject>(?:[\w'-]+ ){0,5}?(?:[\w-]+'s [\w -]{2,40}?|(?:name|number|birthday|address|password"
    r"|deadline|budget|favou?rite [\w -]{2,30}?|job|age|email|meeting|flight|appointment|code|title|price|rent|size"
    r"|colou?r|date))) "
    r"(?:is|are|was|will be|'s|has moved to|was moved to|moved to|changed to|starts at|is now) (?P<value>.+)$"
    r"|^(?P<who>(?:[\w'-]+ ){0,4}?[\w'-]+) (?:now |currently )?(?P<verb>lives?|works?|stud(?:y|ies)|moved|born|meets?"
    r"|prefers?|teaches|drives?) (?P<place>.+)$"
)
_ONE_OF_MANY = frozenset({"prefer:", "teache:", "drive:", "study:", "studie:", "更喜欢", "偏好"})
"""What somebody may do with several things: to prefer tea denies no preference but one for the same occasion."""
_NAMED = re.compile(
    r"^(?:my|our|his|her|their|the) (?P<subject>(?:\w+ ){0,2}?\w+)(?: is|'s|’s) (?:now |called |named )?"
    r"(?P<value>(?-i:[A-Z])[\w.'-]*(?: (?-i:[A-Z])[\w.'-]*){0,3}?)[.!]?$",
    re.IGNORECASE,
)
_SEVERAL = re.compile(
    r"\b(?:friend|colleague|neighbou?r|cousin|aunt|uncle|brother|sister|son|daughter|child|kid|pet)$", re.IGNORECASE
)
"""Of whom one may have several, each with a name of their own."""
_KEYED = re.compile(r"^(?P<subject>[^:：,，]{4,60}?)\s*[:：]\s*(?P<value>[^\d\s:：,，][^:：,，]{0,23})$")
"""A line as lists of preferences have them: "Config format: YAML"."""
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
_SAYS = re.compile(
    r"(?<=\w)(?:['’]s | (?:is|are|was|were|has|have|had|costs?|needs?|takes?|starts?|ends?|will|moved|changed) "
    r"|是|为|有|要|[定改]在)"
)
"""What parts a sentence into what it is about and what it says of that."""
_DENIED = 0.75
_SUBJECT = 0.6


def _denies(newer: str, older: str) -> bool:
    one, other = wording(newer), wording(older)
    if not one.terms & other.terms:
        return False
    if one.persons and other.persons and not one.persons & other.persons:
        return False
    if one.negated != other.negated:
        return jaccard(one.terms, other.terms) >= _DENIED
    is_near = jaccard(one.terms, other.terms) >= _SUBJECT
    if one.numbers and other.numbers and is_near and _has_other_numbers(newer, older):
        return True
    return _other_value(newer, older)


def _has_other_numbers(newer: str, older: str) -> bool:
    """Whether two sentences give one thing different numbers; those before the verb say of what thing."""
    one, other = wording(newer).numbers, wording(older).numbers
    (subject, is_parted), (other_subject, other_is_parted) = _numbers_of_subject(newer), _numbers_of_subject(older)
    if not (is_parted and other_is_parted):
        return not one & other
    return subject == other_subject and bool(one - other) and bool(other - one)


@lru_cache(maxsize=4_096)
def _numbers_of_subject(text: str) -> tuple[frozenset[str], bool]:
    found = _SAYS.search(text)
    return (wording(text[: found.start()]).numbers, True) if found else (frozenset(), False)


def _other_value(newer: str, older: str) -> bool:
    found, before = _attribute(newer), _attribute(older)
    if found is None or before is None:
        return False
    (subject, value), (other_subject, other_value) = found, before
    if not subject or subject != other_subject:
        return False
    shared = jaccard(value, other_value)
    if not subject.isdisjoint(_ONE_OF_MANY) and not shared:
        return False
    return bool(value) and bool(other_value) and shared < 0.5


@lru_cache(maxsize=4_096)
def _attribute(text: str) -> tuple[frozenset[str], frozenset[str]] | None:
    """Of whom or what a sentence says something, and what it says; None for one that is not of that kind."""
    written = " ".join(unicodedata.normalize("NFKC", text).replace("’", "'").split())
    plain = " ".join(FILLER.sub(" ", written.casefold()).split())
    if (match := _NAMED.match(written)) and not _SEVERAL.search(match["subject"]):
        return _value(match["subject"]), _value(match["value"])
    if (match := _KEYED.match(plain)) and len(subject := _value(match["subject"])) > 1:
        return subject | {":"}, _value(match["value"])
    if match := _ATTRIBUTE_IN_CHINESE.match(plain):
        verb = _MOVES.get(match["verb"], match["verb"])
        return _value(match["subject"]) | {verb}, _value(match["value"])
    if match := _ATTRIBUTE.search(plain):
        if match["subject"]:
            return _value(match["subject"]), _value(match["value"])
        verb = "live" if match["verb"] == "moved" else match["verb"].rstrip("s")
        return wording(match["who"]).terms | {f"{verb}:"}, _value(match["place"])
    return None


def _value(text: str) -> frozenset[str]:
    said = wording(text)
    return said.terms | said.numbers
