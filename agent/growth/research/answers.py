"""What a model answers, as typed values: an outline, what it reads out of sources, what a critic finds.

Each answer is lines, so that one that is cut short, or has something else in it, still counts for the rest. What was
not shown to a model, or is not in its sources, is left out and counted.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from agent.growth.research.claims import check, numbers_in, without_numbers
from agent.growth.research.findings import CitedStatement, Dispute, FoundMethod, ResearchGap, ResearchQuestion
from agent.growth.research.reading import Reading, best_sentences

_ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)、])\s+(.+)")
_LABEL = re.compile(r"\W{0,4}(MISSING|SEARCH|METHOD|NOTHING|DISPUTED|GAP|VERDICT|ANSWER)\W{0,3}[:：]?\s*(.*)")
_DASH = re.compile(r"\s[—–-]\s")
_QUOTES = 3
"""Sentences of one source that are quoted where no model reads."""
_QUESTION, _SEARCHES = 300, 2
"""Characters of a question, and searches that may answer it."""
_NAME, _USE = 80, 300
"""Characters of the name of a method, and of what it is for."""


def by_label(answer: str) -> Mapping[str, Sequence[str]]:
    """The words of the lines of an answer by the label at their beginning (empty: none)."""
    found: dict[str, list[str]] = defaultdict(list)
    for row in answer.splitlines():
        labelled = _LABEL.match(row.lstrip("-*•> "))
        label, words = (labelled[1], labelled[2].strip(" *")) if labelled else ("", row.strip())
        found[label] += [words] if words else []
    return found


def questions_in(answer: str) -> list[ResearchQuestion]:
    """The questions of an outline, each with its searches."""
    items = filter(None, map(_ITEM.match, answer.splitlines()))
    parts = [[_plain(part) for part in found[1].split("|")] for found in items]
    return [
        ResearchQuestion(number, words, tuple(filter(None, searches))[:_SEARCHES] or (words,))
        for number, (words, *searches) in enumerate(filter(lambda each: each[0], parts), 1)
    ]


def statements_in(
    rows: Sequence[str], readings: Mapping[int, Reading], question: int
) -> tuple[list[CitedStatement], int]:
    """The statements whose sources were shown to the model (`readings`) and have their figures, and the number of those
    that were refused."""
    items = [(_ITEM.match(row), row) for row in rows]
    checked = [check(found[1] if found else row, readings) for found, row in items if found or numbers_in(row)]
    sound = [CitedStatement(each.text, each.cites, question) for each in checked if each.flaw is None]
    return sound, len(checked) - len(sound)


def methods_in(rows: Sequence[str], readings: Mapping[int, Reading]) -> list[FoundMethod]:
    """The tools and methods whose name stands in a source that was shown to the model."""
    found = []
    for row in rows:
        cites = tuple(number for number in numbers_in(row) if number in readings)
        before, use = _around_dash(without_numbers(row))
        name = " ".join(before.strip(" *`").split())[:_NAME]
        texts = " ".join(f"{readings[number].title} {readings[number].text}" for number in cites).casefold()
        if name and name.casefold() in texts:
            found.append(FoundMethod(name, " ".join(use.split())[:_USE], cites))
    return found


def disputes_in(rows: Sequence[str], statements: Sequence[CitedStatement]) -> list[Dispute]:
    """What a critic finds disputed between statements with different sources."""
    found = []
    for before, words in map(_around_dash, rows):
        numbers = numbers_in(f"[{before.upper().replace('S', '')}]")
        sides = tuple(statements[at - 1] for at in numbers if 0 < at <= len(statements))
        if len({each.cites for each in sides}) > 1:
            found.append(Dispute(sides, words))
    return found


def gaps_in(rows: Sequence[str], questions: Sequence[ResearchQuestion]) -> list[ResearchGap]:
    """What a critic finds missing."""
    known, found = {str(each.number): each.number for each in questions}, map(_around_dash, rows)
    numbered = ((known.get(before.strip("Qq.")), words) for before, words in found)
    return [ResearchGap(number, words) for number, words in numbered if number is not None]


def quoted(readings: Iterable[Reading], query: str, question: int) -> list[CitedStatement]:
    """What the sources that are prose say about a question, in their own words."""
    return [
        CitedStatement(each, (reading.number,), question, is_quoted=True)
        for reading in readings
        if reading.is_public or reading.authority != "code" or reading.address.endswith((".md", ".rst", ".txt"))
        for each in best_sentences(reading.text, query, _QUOTES)
    ]


def _around_dash(words: str) -> tuple[str, str]:
    """What stands before the first dash, and behind it."""
    before, after = (*_DASH.split(words, maxsplit=1), "")[:2]
    return before.strip(), after.strip()


def _plain(part: str) -> str:
    return " ".join(without_numbers(part).strip(' *_`"“”').split())[:_QUESTION]
