"""The topics of remarks: words, and in Chinese strings of characters, each with the remarks that have it. Pure."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from datetime import date
from functools import cache, lru_cache

from agent.config.resources import patterns, words
from agent.dataclass import dataclass
from agent.growth.patterns.activity import Remark
from agent.growth.patterns.likeness import words_in
from agent.index.analysis import terms

SAME = 0.6
"""Two words of which this share of remarks is common are one topic."""
_MOST_COMMON = 0.5
"""A word in more than this share of all remarks is no topic."""
_EXTENDS = 0.8
"""A string of characters is longer by one if this share of its remarks has the longer one."""
_LONGEST = 12
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_HAN = re.compile(r"[\u3400-\u9fff]")
_LINK = re.compile(r"\[\[[^\]\n]*\]\]|https?://\S+")
"""A link names a note, and is no word of the person's: the agent writes most of them."""


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic, as people write it, with the remarks on it in order."""

    key: str
    label: str
    remarks: tuple[Remark, ...]


def subject_words(text: str) -> frozenset[str]:
    """The terms by which what a text speaks of is known, without links and what is only said around it."""
    return frozenset(term for term in words_in(bare(text)) if term not in _topicless())


@lru_cache(maxsize=4_096)
def bare(text: str) -> str:
    """A text without its links, and in Chinese without what is only said around its subject."""
    found = _LINK.sub(" ", text)
    for each in patterns("around_topic") if _HAN.search(found) else ():
        found = each.sub(" ", found)
    return found


@cache
def _topicless() -> frozenset[str]:
    return frozenset(term for word in words("topicless") for term in terms(word))


def occasion(remark: Remark) -> tuple[date, str]:
    """What several remarks of one moment have in common: the day and the hour, or the day and the note."""
    return remark.at.date(), f"{remark.at:%H}" if remark.is_timed else remark.link


def topics(remarks: Sequence[Remark], least: int) -> tuple[Topic, ...]:
    """The topics on at least `least` days, the most frequent first; of words that always come together only the most
    frequent one."""
    by_term: dict[str, list[int]] = defaultdict(list)
    for number, remark in enumerate(remarks):
        for term in sorted(subject_words(remark.text)):
            by_term[term].append(number)
    most = max(least, _MOST_COMMON * len(remarks))
    found: list[tuple[str, frozenset[int]]] = []
    for term, numbers in sorted(by_term.items(), key=lambda item: (-len(item[1]), item[0])):
        if len(numbers) > most or len({remarks[number].at.date() for number in numbers}) < least:
            continue
        own = frozenset(numbers)
        if all(len(own & other) < SAME * min(len(own), len(other)) for _, other in found):
            found.append((term, own))
    return tuple(_topic(term, [remarks[number] for number in sorted(own)]) for term, own in found)


def _topic(term: str, remarks: Sequence[Remark]) -> Topic:
    texts = [bare(remark.text) for remark in remarks]
    label = _string(term, texts) if _HAN.search(term) else _as_written(term, texts)
    return Topic(term, label, tuple(remarks))


def _as_written(term: str, texts: Sequence[str]) -> str:
    """The form of a stem that people write most often."""
    forms = Counter(word for text in texts for word in _WORD.findall(text) if term in terms(word))
    counts = Counter[str]()
    for form, count in forms.items():
        counts[form.casefold()] += count
    best = max(sorted(counts), key=counts.__getitem__, default=term)
    return max((each for each in sorted(forms) if each.casefold() == best), key=forms.__getitem__, default=best)


def _string(pair: str, texts: Sequence[str]) -> str:
    """The longest string around a pair of characters that nearly all texts with the pair have."""
    found = pair
    while len(found) < _LONGEST:
        holding = [text for text in texts if found in text]
        longer = Counter(form for text in holding for form in set(_longer(found, text)))
        best = max(sorted(longer), key=lambda form: longer[form], default="")
        if not best or longer[best] < _EXTENDS * len(holding):
            return found
        found = best
    return found


def _longer(found: str, text: str) -> Iterator[str]:
    for at in _places(found, text):
        for begin, end in ((at - 1, at + len(found)), (at, at + len(found) + 1)):
            if begin >= 0 and end <= len(text) and all(map(_HAN.match, text[begin:end])):
                yield text[begin:end]


def _places(found: str, text: str) -> Iterator[int]:
    at = text.find(found)
    while at >= 0:
        yield at
        at = text.find(found, at + 1)


def days_of(remarks: Collection[Remark]) -> frozenset[date]:
    """The days of these remarks."""
    return frozenset(remark.at.date() for remark in remarks)
