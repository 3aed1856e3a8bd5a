"""Whether one text says otherwise than another: gives the same subject another value, or denies it.

By rule, English and Chinese, sentence by sentence; a doubt that is raised is for a person to settle, so what may well
be true beside the other is left alone. How alike texts are is `likeness`'s.
"""

import re
import unicodedata
from functools import lru_cache

from agent.memory.likeness import FILLER, LABEL, jaccard, wording

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
        return jaccard(one.terms, other.terms) >= _DENIED
    if (
        one.numbers
        and other.numbers
        and not one.numbers & other.numbers
        and jaccard(one.terms, other.terms) >= _SUBJECT
    ):
        return True
    return _other_value(newer, older)


def _other_value(newer: str, older: str) -> bool:
    found, before = _attribute(newer), _attribute(older)
    if found is None or before is None:
        return False
    (subject, value), (other_subject, other_value) = found, before
    if not subject or subject != other_subject:
        return False
    return bool(value) and bool(other_value) and jaccard(value, other_value) < 0.5


@lru_cache(maxsize=4_096)
def _attribute(text: str) -> tuple[frozenset[str], frozenset[str]] | None:
    """Of whom or what a sentence says something, and what it says; None for one that is not of that kind."""
    plain = FILLER.sub(" ", unicodedata.normalize("NFKC", text).casefold().replace("’", "'"))
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
