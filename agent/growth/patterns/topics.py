"""The topics of remarks: words, and in Chinese strings of characters, each with the remarks that have it. Pure."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from functools import cache, lru_cache

from agent.config.resources import patterns, words
from agent.dataclass import dataclass
from agent.growth.patterns.activity import Case, Remark
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
    """The terms by which what a text speaks of is known, without links and what only stands around it."""
    return words_in(bare(text)) - _topicless()


@lru_cache(maxsize=4_096)
def bare(text: str) -> str:
    """A text without its links, and in Chinese without what only stands around its subject."""
    found = _LINK.sub(" ", text)
    for each in patterns("around_topic") if _HAN.search(found) else ():
        found = each.sub(" ", found)
    return found


@cache
def _topicless() -> frozenset[str]:
    return frozenset(term for word in words("topicless") for term in terms(word))


def days_of(cases: Iterable[Case]) -> frozenset[date]:
    """The days of these cases."""
    return frozenset(each.at.date() for each in cases)


def occasions(remarks: Iterable[Remark]) -> int:
    """How many moments these remarks are of: those of one hour, or of one day in one note, are one."""
    return len({(each.at.date(), each.at.hour if each.is_timed else each.link) for each in remarks})


def topics(remarks: Sequence[Remark], least: int) -> tuple[Topic, ...]:
    """The topics on at least `least` days, the most frequent first; of words that always come together only the most
    frequent one."""
    by_term: dict[str, set[int]] = defaultdict(set)
    for number, remark in enumerate(remarks):
        for term in subject_words(remark.text):
            by_term[term].add(number)
    most = max(least, _MOST_COMMON * len(remarks))
    found: list[tuple[str, set[int]]] = []
    for term, own in sorted(by_term.items(), key=lambda item: (-len(item[1]), item[0])):
        is_frequent = len(own) <= most and len(days_of(map(remarks.__getitem__, own))) >= least
        if is_frequent and not any(_is_same(own, other) for _, other in found):
            found.append((term, own))
    return tuple(_topic(term, [remarks[number] for number in sorted(own)]) for term, own in found)


def _is_same(one: set[int], other: set[int]) -> bool:
    return len(one & other) >= SAME * min(len(one), len(other))


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
    """The strings with one character more, before it or after it, where it stands in a text."""
    for place in re.finditer(f"(?={re.escape(found)})", text):
        at, end = place.start(), place.start() + len(found)
        if at and _HAN.match(text[at - 1]):
            yield text[at - 1 : end]
        if _HAN.match(text, end):
            yield text[at : end + 1]
