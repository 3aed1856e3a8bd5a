"""Passages with the probability that they help one question, put into order, and none of them twice."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType
from typing import Literal, TypeAlias

from agent.config.resources import characters, pattern
from agent.dataclass import dataclass
from agent.index.analysis import terms
from agent.index.query import Hit, Mode
from agent.memory.memory_note import words
from agent.memory.recall.candidates import RecallCandidate, is_bare
from agent.memory.recall.recaller import Remembered
from agent.memory.understanding.rules import is_same
from agent.memory.understanding.statements import only_asks

Floor: TypeAlias = Literal["off", "normal", "strict"]
LEAST = MappingProxyType({"off": 0.0, "normal": 0.45, "strict": 0.6})
"""The probability below which a passage is not given unasked."""
SURE = 0.5
"""The share of a question's rare words from which a passage is taken for an answer to a search."""
BY_ITSELF = MappingProxyType({"off": 0.25, "normal": 0.25, "strict": 0.4})
"""The probability, by what it says alone, below which text of strangers is not given unasked."""
_NAME = re.compile(r"(?<![\w'’-])[A-Z][^\W\d_]+")
_WORDS = re.compile(r"\w+")
_FEW_NOTES = 3
"""A word that not more of the notes found have is a name, if it is the title of one."""
_LONG = 3
"""The characters of a script without spaces that make a name as telling as two words."""
_OF_CLAUSE = ("own_thing", "own_choice", "one_case", "definite", "indefinite")


@dataclass(frozen=True, slots=True)
class Logistic:
    """The weights of a fit: of what is asked (the lists of these names in `understanding.yaml`), and of the passage.
    `coverage` and `missed` are the rare words of what is asked that it has and misses, `unit_cosine` is the similarity
    of meaning, `date` the closeness to a day that is named, `name` says that both have a name; where no capital tells
    one, that is a rare word whose thing is asked for, such as 大理 in 大理的行程."""

    constant: float
    own_thing: float = 0.0
    own_self: float = 0.0
    own_choice: float = 0.0
    one_case: float = 0.0
    definite: float = 0.0
    indefinite: float = 0.0
    name: float = 0.0
    coverage: float = 0.0
    missed: float = 0.0
    unit_cosine: float = 0.0
    date: float = 0.0


FEATURES = tuple(Logistic.__annotations__)[1:]
HYBRID = Logistic(-3.84, 2.61, 4.53, 2.5, 1.85, 0.69, -0.36, 2.98, 1.84, -0.29, 6.69, 4.48)
KEYWORD = Logistic(-3.64, 1.02, 3.13, 0.85, 1.27, -0.24, -1.18, 3.52, 7.28, 0.02, 0.0, 3.19)
_STRANGERS = Logistic(-5.26, coverage=1.02, missed=-0.54, unit_cosine=11.52)
_STRANGERS_KEYWORD = Logistic(-3.19, coverage=5.1, missed=-0.08)
"""For text of strangers: what is asked does not speak for it, only what it says."""


def likelihood(asked: str, hit: Hit, mode: Mode, names: Sequence[str] = ()) -> float:
    """The probability, 0 to 1, that a passage helps with one question or request; the hit has its signals (`why`).
    `names` are as in `features`."""
    return _probability(features(asked, hit, names), HYBRID if mode in {"hybrid", "vector"} else KEYWORD)


def likelihood_by_itself(hit: Hit, mode: Mode) -> float:
    """The probability that a passage helps by what it says alone, whatever is asked for. Text of strangers has to be
    likely by this measure."""
    if _signals(hit).get("date", 0.0) > 0:
        return 1.0
    fit = _STRANGERS if mode in {"hybrid", "vector"} else _STRANGERS_KEYWORD
    return _probability(_signals(hit), fit)


def fits_by_itself(hit: Hit, mode: Mode) -> bool:
    """True if a passage that a search has found is likely to help by what it says alone, or has at least half of the
    question's rare words: a search for one name finds it in a long text about something else. True, too, where nothing
    is known of how it fits, as for a search by filters alone."""
    return not hit.why or coverage(hit) >= SURE or likelihood_by_itself(hit, mode) >= BY_ITSELF["normal"]


def coverage(hit: Hit) -> float:
    """The share of the question's rare words that a passage has, 0 to 1."""
    return _signals(hit).get("coverage", 0.0)


def features(asked: str, hit: Hit, names: Sequence[str] = ()) -> dict[str, float]:
    """The values that the weights of a `Logistic` are multiplied with, by name. `names` are those in what is asked that
    no capital tells."""
    clause, known = _of_clause(asked)
    has_name = not known.isdisjoint(_NAME.findall(hit.passage)) or any(each in _words_of(hit) for each in names)
    return {**_signals(hit), **clause, "name": float(has_name)}


def named_notes(asked: str, found: Sequence[Hit]) -> frozenset[str]:
    """The notes among those found whose title, file name or alias is in what is asked, if that name is of several
    words, or few notes have its word."""
    plain_question, named = _plain(asked), set[str]()
    for hit in found:
        stem = hit.path.rpartition("/")[2].removesuffix(".md")
        aliases = (value for key, value in hit.facets if key in {"alias", "aliases"})
        names = filter(None, map(_plain, (hit.title, stem, *aliases)))
        if any(_has(plain_question, name) and (_is_long(name) or _is_rare(name, found)) for name in names):
            named.add(hit.path)
    return frozenset(named)


def _is_long(name: str) -> bool:
    return len(terms(name)) > 1 if name.isascii() else len(name) >= _LONG


def _is_rare(name: str, found: Sequence[Hit]) -> bool:
    having = {hit.path for hit in found if _has(_words_of(hit), name)}
    return bool(terms(name)) and len(name) > 1 and not name.isdecimal() and len(having) <= _FEW_NOTES


def _is_subject(word: str) -> bool:
    """False for a word of time or a person that is "I" or "you"."""
    return characters("subjectless_characters").isdisjoint(word)


def _words_of(hit: Hit) -> str:
    return _plain(f"{hit.title} {hit.passage}")


def _has(text: str, name: str) -> bool:
    return f" {name} " in f" {text} " if name.isascii() else name in text


def _plain(text: str) -> str:
    return " ".join(_WORDS.findall(text.casefold()))


def _probability(values: dict[str, float], fit: Logistic) -> float:
    total = fit.constant + sum(getattr(fit, name) * values.get(name, 0.0) for name in FEATURES)
    return 1.0 / (1.0 + math.exp(-total))


def _signals(hit: Hit) -> dict[str, float]:
    return {leg.name: leg.score for leg in hit.why}


@lru_cache(maxsize=64)
def _of_clause(asked: str) -> tuple[Mapping[str, float], frozenset[str]]:
    """The features of a question, and the names in it."""
    text = asked.replace("’", "'")
    found = {name: float(pattern(name).search(text) is not None) for name in _OF_CLAUSE}
    is_self = pattern("own_self").search(pattern("in_passing").sub(" ", text)) is not None
    found["own_self"] = float(is_self and not found["own_thing"])
    return found, frozenset(name for name in _NAME.findall(asked) if terms(name))


NAMED = 0.95
"""The probability for a note whose name is in what is asked."""
_ASKED = 0.5
"""The least probability for a passage with half of the rare words of a question."""
_MEANT = 0.25
"""The similarity of meaning from which a passage may help that has none of the rare words."""
THERE = 0.7
"""The least probability for a passage with a word of the request in the folder that it names."""
_REACH, _WORDLESS = 2.5, 1.5
"""What is less likely than the best passage by this much (in the logistic's own unit, before it becomes a probability)
only resembles the request: of those with one of its rare words, and of those without any. Of the passages beside the
right one in `tests/memory/conversations` half have none, and of the right ones that are given one in ten."""
_RANKS = 3.0
"""The constant of the fusion of both ranks, which has more evidence than either of them (`tests/bench/README.md`)."""
_WORD = 0.1
"""The coverage from which a passage has one of the rare words."""


@dataclass(frozen=True, slots=True)
class LikelyPassage:
    """A passage, and the probability that it helps with one part of the request; `memory` is None for one of a note."""

    chance: float
    hit: Hit
    mode: Mode
    memory: RecallCandidate | None = None

    @property
    def is_log(self) -> bool:
        """True for the log of a day that is asked for."""
        return self.memory is not None and self.memory.is_asked_for


def judge(
    asked: str, found: Sequence[Hit | RecallCandidate], mode: Mode, beside: Iterable[Hit] = ()
) -> list[LikelyPassage]:
    """The passages found for one part of a request, in their order, each with its probability. `beside` are other
    passages found for it, which tell whether a name is rare."""
    hits = [each.hit if isinstance(each, RecallCandidate) else each for each in found]
    every = [*hits, *beside]
    named, is_asked = named_notes(asked, every), only_asks(asked)
    of_what = [name for name in pattern("of_what").findall(asked) if _is_subject(name) and _is_rare(name, every)]
    judged = []
    for each, hit in zip(found, hits, strict=True):
        memory = each if isinstance(each, RecallCandidate) else None
        chance = max(_likely(asked, hit, mode, of_what, is_asked=is_asked), NAMED if hit.path in named else 0.0)
        chance = max(chance, NAMED) if any(_is_about(hit, each, chance) for each in of_what) else chance
        judged.append(LikelyPassage(1.0 if memory and memory.is_asked_for else chance, hit, mode, memory))
    return judged


def _is_about(hit: Hit, name: str, chance: float) -> bool:
    """True for a passage of what a thing is asked about: a note that is called so, or a passage that says so and has
    half of what is asked besides."""
    is_likely = chance >= LEAST["normal"] and coverage(hit) >= SURE
    return name in _plain(hit.title) or (is_likely and name in _words_of(hit))


def _likely(asked: str, hit: Hit, mode: Mode, names: Sequence[str], *, is_asked: bool) -> float:
    """The probability of a passage. One with half of a question's rare words is likely enough, whatever else the
    question says in passing; one without any of them, and without its meaning, helps with nothing that is no question:
    that its person speaks of themselves says nothing of the passage."""
    chance = likelihood(asked, hit, mode, names)
    if is_asked:
        return max(chance, _ASKED) if coverage(hit) >= SURE else chance
    return chance if coverage(hit) >= _WORD or _is_near_in_meaning(hit, mode) else 0.0


def _is_near_in_meaning(hit: Hit, mode: Mode) -> bool:
    """True if a passage is near in meaning, or of a day that is named; where meanings are not compared, if it was found
    at all."""
    signals = _signals(hit)
    return mode == "keyword" or signals.get("date", 0.0) > 0 or signals.get("unit_cosine", 0.0) >= _MEANT


def fitting_there(found: Iterable[LikelyPassage]) -> list[LikelyPassage]:
    """Of the passages in a folder that the request names, those with one of its rare words: they are likely enough to
    help, as they were asked for there."""
    return [replace(each, chance=max(each.chance, THERE)) for each in found if coverage(each.hit) >= _WORD]


def fitting_then(found: Iterable[LikelyPassage]) -> list[LikelyPassage]:
    """Of the passages of the time that the request names, those with half of its rare words are as likely to help as a
    note that it names."""
    return [replace(each, chance=max(each.chance, NAMED)) if coverage(each.hit) >= SURE else each for each in found]


def of_the_days(found: Sequence[LikelyPassage]) -> list[LikelyPassage]:
    """Passages of the days that the request asks for: each is an answer like the others, first the first one of each
    note."""
    firsts = {each.hit.path: each for each in reversed(found)}
    ordered = sorted(found, key=lambda each: firsts[each.hit.path] is not each)
    chance = max((each.chance for each in found), default=0.0)
    return [replace(each, chance=max(chance, THERE)) for each in ordered]


def nearly_best(searches: Sequence[Sequence[LikelyPassage]], floor: Floor) -> list[list[LikelyPassage]]:
    """Of the searches for one part of a request the passages that are likely enough to help, and not much less likely
    than the best of them."""
    queues = [[each for each in search if each.chance >= LEAST[floor]] for search in searches]
    best = max((each.chance for queue in queues for each in queue if not each.is_log), default=0.0)
    if floor == "off":
        return queues
    return [[each for each in queue if _is_near(each, _odds(best))] for queue in queues]


def in_one_order(queues: Iterable[Sequence[LikelyPassage]]) -> list[LikelyPassage]:
    """The passages of all searches, by their rank in the search and their rank by probability (reciprocal rank fusion);
    one that several have found stands where the best of them put it."""
    scored: list[tuple[float, LikelyPassage]] = []
    for queue in queues:
        likeliest = sorted(range(len(queue)), key=lambda at: -queue[at].chance)
        places = {at: place for place, at in enumerate(likeliest)}
        scored += [(1 / (_RANKS + at) + 1 / (_RANKS + places[at]), each) for at, each in enumerate(queue)]
    scored.sort(key=lambda row: (-row[0], -row[1].chance))
    ordered: dict[tuple[str, tuple[int, int]], LikelyPassage] = {}
    for _, each in scored:
        ordered.setdefault((each.hit.path, each.hit.lines), each)
    return list(ordered.values())


def _is_near(each: LikelyPassage, best: float) -> bool:
    reach = _REACH if coverage(each.hit) >= _WORD else _WORDLESS
    return _odds(each.chance) >= best - reach


def _odds(chance: float) -> float:
    bounded = min(max(chance, 1e-9), 1 - 1e-9)
    return math.log(bounded / (1 - bounded))


_MARKS = re.compile(r"^[\s>*+•-]*(?:\[[ xX]\] )?|\*\*|\s+")
_LISTS = frozenset({"long_term", "profile"})
"""The kinds of memories of which each line is a fact of its own."""


@dataclass(frozen=True, slots=True)
class HeldText:
    """The text that stands before the model in a conversation, without list marks and in one line."""

    text: str = ""

    @classmethod
    def of(cls, texts: Iterable[str]) -> "HeldText":
        """The text of these messages and results of tools."""
        return cls().with_texts(texts)

    def with_texts(self, texts: Iterable[str]) -> "HeldText":
        """The same with more texts."""
        return HeldText("\n".join((self.text, *(_without_marks(row) for text in texts for row in text.splitlines()))))

    def has(self, passage: str) -> bool:
        """True if each line of a passage stands before the model, apart from headings."""
        rows = [plain for row in passage.splitlines() if not row.startswith("#") and (plain := _without_marks(row))]
        return bool(rows) and all(row in self.text for row in rows)


def without_repeated(found: Remembered, earlier: Sequence[Remembered]) -> Remembered | None:
    """A memory without the lines that say what another one says, if each of its lines is a fact; None if nothing is
    left of it."""
    if found.kind not in _LISTS:
        return found
    facts = [row for each in earlier for row in each.text.splitlines()]
    rows = found.text.splitlines()
    left = [row for row in rows if not any(is_same(words(row) or row, fact) for fact in facts)]
    return None if is_bare("\n".join(left)) else replace(found, text="\n".join(left))


def _without_marks(row: str) -> str:
    return _MARKS.sub(" ", row).strip()
