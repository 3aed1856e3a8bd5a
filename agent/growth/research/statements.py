"""What sources say, in single statements with the numbers of their sources: as a model has read it out of them or,
without one, in the sources' own words; and where they contradict each other."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import combinations

from agent.dataclass import dataclass
from agent.growth.research.claims import check, numbers_in, without_numbers
from agent.growth.research.passages import best_sentences
from agent.growth.research.source import Reading
from agent.memory.understanding.rules import contradicts

_ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)、])\s+(.+)")
_LABEL = re.compile(r"\W{0,4}(MISSING|SEARCH|METHOD|NOTHING|DISPUTED|GAP|VERDICT|ANSWER)\W{0,3}[:：]?\s*(.*)")
_CLAUSE = re.compile(r"[,，;；](?=\D)")
_QUOTES = 3
"""Sentences of one source that are quoted where no model reads."""
_MOST = 400
"""Statements that are compared with each other."""


@dataclass(frozen=True, slots=True)
class CitedStatement:
    """One thing that the sources `cites` say; `question` is the part of the outline that it belongs to, from 1.
    `is_quoted`: in the source's own words."""

    text: str
    cites: tuple[int, ...]
    question: int = 1
    is_quoted: bool = False


@dataclass(frozen=True, slots=True)
class FoundMethod:
    """A tool or a method that the sources `cites` describe, as `name` with what it is for (`use`)."""

    name: str
    use: str
    cites: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Dispute:
    """Statements that cannot all be true, with what it is about (may be empty)."""

    sides: tuple[CitedStatement, ...]
    words: str = ""


@dataclass(frozen=True, slots=True)
class ReadOut:
    """What a model has read out of some sources. `refused` counts what it said and what is not in them, `missing` says
    what they leave open, `searches` are further searches that it wants."""

    statements: tuple[CitedStatement, ...] = ()
    methods: tuple[FoundMethod, ...] = ()
    missing: tuple[str, ...] = ()
    searches: tuple[str, ...] = ()
    refused: int = 0


def read_out(answer: str, readings: Mapping[int, Reading], question: int) -> ReadOut:
    """The statements of a model's answer whose sources were shown to it (`readings`) and have their figures."""
    statements: list[CitedStatement] = []
    methods: list[FoundMethod] = []
    lists: dict[str, list[str]] = {"MISSING": [], "SEARCH": []}
    refused = 0
    for row in answer.splitlines():
        label, words = labelled(row)
        if label in lists and words:
            lists[label].append(words)
        elif label == "METHOD" and (method := _method(words, readings)):
            methods.append(method)
        elif not label and (numbers_in(row) or _ITEM.match(row)):
            found = check(item(row), readings)
            if found.flaw is None:
                statements.append(CitedStatement(found.text, found.cites, question))
            else:
                refused += 1
    return ReadOut(tuple(statements), tuple(methods), tuple(lists["MISSING"]), tuple(lists["SEARCH"]), refused)


def quoted(readings: Iterable[Reading], query: str, question: int) -> tuple[CitedStatement, ...]:
    """What the sources say about a question, in their own words."""
    return tuple(
        CitedStatement(each, (reading.number,), question, is_quoted=True)
        for reading in readings
        for each in best_sentences(reading.text, query, _QUOTES)
    )


def labelled(row: str) -> tuple[str, str]:
    """The label at the beginning of a line of an answer, and the words behind it; no label for any other line."""
    found = _LABEL.match(row.lstrip("-*•> "))
    return (found[1], found[2].strip(" *")) if found else ("", row.strip())


def item(row: str) -> str:
    """The words of an item of a list."""
    found = _ITEM.match(row)
    return (found[1] if found else row).strip()


def found_disputes(
    statements: Sequence[CitedStatement], is_known: Callable[[CitedStatement, CitedStatement], bool]
) -> tuple[Dispute, ...]:
    """The statements of different sources that contradict each other by their words or figures; without those pairs
    that are known already."""
    pairs = (
        (one, other)
        for one, other in combinations(statements[:_MOST], 2)
        if set(one.cites).isdisjoint(other.cites) and _differ(one.text, other.text) and not is_known(one, other)
    )
    return joined_disputes(Dispute(pair) for pair in pairs)


def _differ(one: str, other: str) -> bool:
    """True if two statements contradict each other, or a clause of one a clause of the other, unless both give further
    figures beside them, such as the years that they are about."""
    if contradicts(one, other):
        return True
    return any(
        contradicts(left, right)
        for left, is_all_left in _clauses(one)
        for right, is_all_right in _clauses(other)
        if is_all_left or is_all_right
    )


@lru_cache(maxsize=2_048)
def _clauses(text: str) -> tuple[tuple[str, bool], ...]:
    """The clauses of a statement with figures, each with True if no other one has any."""
    parts = [each.strip() for each in _CLAUSE.split(text) if any(char.isdigit() for char in each)]
    return tuple((each, len(parts) == 1) for each in parts)


def joined_disputes(disputes: Iterable[Dispute]) -> tuple[Dispute, ...]:
    """The disputes, those with a side in common as one."""
    joined: list[Dispute] = []
    for each in disputes:
        near = [one for one in joined if set(one.sides) & set(each.sides)]
        sides = dict.fromkeys(side for one in (*near, each) for side in one.sides)
        words = next((one.words for one in (*near, each) if one.words), "")
        joined = [one for one in joined if one not in near] + [Dispute(tuple(sides), words)]
    return tuple(joined)


def _method(words: str, readings: Mapping[int, Reading]) -> FoundMethod | None:
    cites = tuple(number for number in numbers_in(words) if number in readings)
    name, _, use = without_numbers(words).partition(" — ")
    if not use:
        name, _, use = without_numbers(words).partition(" - ")
    name = " ".join(name.strip(" *`").split())[:80]
    texts = " ".join(f"{readings[number].title} {readings[number].text}" for number in cites).casefold()
    return FoundMethod(name, " ".join(use.split())[:300], cites) if name and name.casefold() in texts else None
