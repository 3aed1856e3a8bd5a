"""What texts are about, by their words: groups that ask for the same, by common words and by the vectors of the search
index's embedder, and the topics of remarks, in Chinese strings of characters. Pure."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from functools import cache, lru_cache
from typing import TypeAlias

import numpy as np

from agent.config.resources import characters, patterns, words
from agent.dataclass import dataclass
from agent.growth.patterns.pattern import Case, Remark
from agent.index.analysis import CJK_STOP, terms
from agent.index.arrays import Floats
from agent.index.embedder import Embedder
from agent.memory.understanding.wording import jaccard, wording

Vectors: TypeAlias = Callable[[Sequence[str]], Floats]
"""A row of length 1 (or 0) for each text."""
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
class Least:
    """The likeness from which two texts are taken for one: the mean of their cosine and the share of their common words
    (`pair_likeness`), or that share alone where there are no vectors."""

    by_vectors: float
    by_words: float

    def of(self, vectors: Vectors | None) -> float:
        """The one that counts."""
        return self.by_words if vectors is None else self.by_vectors


QUESTIONS = Least(0.52, 0.55)
"""Two questions ask for the same: "where did I put the passport" is "where is my passport?", "how do I renew my
passport?" is not. All are fitted to pairs in both languages."""
LESSONS = Least(0.42, 0.38)
"""Two lessons may say the same: "Name the source of every figure" is "Give the source for each figure that is quoted",
"Read the calendar before you plan a day" is not "Read the note before you change it"."""
SKILL_LINES = Least(0.55, 0.55)
"""A line of a skill may say what a lesson says: stricter, as a skill has many lines."""


def vectors_of(embedder: Embedder | None) -> Vectors | None:
    """The vectors by an embedder; None without one."""
    if embedder is None:
        return None

    def vectors(texts: Sequence[str]) -> Floats:
        rows = np.zeros((len(texts), embedder.dimensions), dtype=np.float32)
        for at, tokens in enumerate(embedder.tokens(texts)):
            if len(tokens):
                rows[at] = embedder.vectors(tokens).sum(axis=0)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        unit: Floats = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
        return unit

    return vectors


@lru_cache(maxsize=16_384)
def words_in(text: str) -> frozenset[str]:
    """The terms by which the subject of a text is known: in scripts without spaces, pairs of characters. Words of time,
    numbers, and such as "find" or "again" are no subject."""
    return frozenset(filter(_is_subject, wording(text).terms))


@lru_cache(maxsize=16_384)
def _is_subject(term: str) -> bool:
    return len(term) > 1 and term not in _subjectless() and characters("subjectless_characters").isdisjoint(term)


@cache
def _subjectless() -> frozenset[str]:
    return frozenset((*CJK_STOP, *(term for word in words("subjectless") for term in terms(word))))


def overlap(one: str, other: str, vectors: Vectors | None = None) -> float:
    """How far two texts are about the same, 0 to 1: the greater of their cosine, and of the share of the shorter one's
    words that the other one has."""
    first, second = words_in(one), words_in(other)
    if not first or not second:
        return 0.0
    shared = len(first & second) / min(len(first), len(second))
    if vectors is None or not first & second:
        return shared
    rows = vectors([one, other])
    return max(shared, float(rows[0] @ rows[1]))


def pair_likeness(one: str, other: str, vectors: Vectors | None) -> float:
    """How much two texts are alike, 0 to 1: the share of all their words that they have in common; with vectors, the
    mean of that and their cosine. 0 without a common word."""
    words = [words_in(one), words_in(other)]
    if not words[0] & words[1]:
        return 0.0
    return _likeness(0, 1, words, vectors([one, other]) if vectors is not None else None)


def groups(texts: Sequence[str], vectors: Vectors | None = None, least: Least = QUESTIONS) -> list[list[int]]:
    """The numbers of the texts in groups that ask for the same, in order; each text joins the group that it is most
    alike on average, so that no chain of texts joins two subjects."""
    words = [words_in(text) for text in texts]
    rows = vectors(texts) if vectors is not None and texts else None
    found: list[list[int]] = []
    for number, own in enumerate(words):
        rated = [(_mean_likeness(number, group, words, rows), group) for group in found]
        likeness, best = max(rated, key=lambda each: each[0], default=(0.0, []))
        if likeness >= least.of(vectors):
            best.append(number)
        elif own:
            found.append([number])
    return found


def core_of(texts: Sequence[str]) -> tuple[frozenset[str], float]:
    """The words that more than half of the texts have, and the share that these are of the words of a text, on average:
    the lower it is, the more of what each text asks for is its own."""
    words = [words_in(text) for text in texts]
    counts = Counter(term for each in words for term in each)
    core = frozenset(term for term, count in counts.items() if count > len(words) / 2)
    return core, sum(len(each & core) / len(each) for each in words if each) / max(1, len(words))


def _mean_likeness(one: int, group: Sequence[int], words: Sequence[frozenset[str]], rows: Floats | None) -> float:
    """How much a text is alike those of a group on average; 0 where it has a word in common with none of them."""
    if not any(words[one] & words[other] for other in group):
        return 0.0
    return sum(_likeness(one, other, words, rows) for other in group) / len(group)


def _likeness(one: int, other: int, words: Sequence[frozenset[str]], rows: Floats | None) -> float:
    shared = jaccard(words[one], words[other])
    return shared if rows is None else (shared + float(rows[one] @ rows[other])) / 2


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
