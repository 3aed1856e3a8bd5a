"""What a model answers, as typed values: an outline, what it reads out of sources, what a critic finds.

Each answer is lines, so that one that is cut short, or has something else in it, still counts for the rest. What was
not shown to a model, or is not in its sources, is left out and counted.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from agent.dataclass import dataclass
from agent.growth.research.claims import check, numbers_in, without_numbers
from agent.growth.research.desk import ResearchDesk
from agent.growth.research.findings import (
    CitedStatement,
    Dispute,
    FoundMethod,
    ResearchGap,
    ResearchQuestion,
    whole_topic,
)
from agent.growth.research.passages import best_sentences
from agent.growth.research.reading import Reading

_ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)、])\s+(.+)")
_LABEL = re.compile(r"\W{0,4}(MISSING|SEARCH|METHOD|NOTHING|DISPUTED|GAP|VERDICT|ANSWER)\W{0,3}[:：]?\s*(.*)")
_DASH = re.compile(r"\s[—–-]\s")
_STATEMENTS = 12
"""Sentences that a model may read out of some sources."""
_SHOWN = 120
"""Statements that a critic sees."""
_QUOTES = 3
"""Sentences of one source that are quoted where no model reads."""
_QUESTION, _SEARCHES = 300, 2
"""Characters of a question, and searches that may answer it."""
_NAME, _USE = 80, 300


@dataclass(frozen=True, slots=True)
class ReadOut:
    """What a model has read out of some sources. `refused` counts what it wrote and what is not in them, `missing` says
    what they leave open, `searches` are further searches that it wants. `is_answered`: a model has answered."""

    statements: Sequence[CitedStatement]
    methods: Sequence[FoundMethod]
    missing: Sequence[str]
    searches: Sequence[str]
    refused: int
    is_answered: bool


def outline(desk: ResearchDesk, most: int) -> list[ResearchQuestion]:
    """The questions of the topic; the topic itself where no model makes an outline. A model makes it from the topic
    alone: so a search that goes out holds nothing of the vault."""
    answer = desk.write("outline", most=str(most))
    rows = (found[1].split("|") for found in map(_ITEM.match, answer.splitlines()) if found)
    parts = [[_plain(each) for each in row] for row in rows]
    return [
        ResearchQuestion(number, words, tuple(filter(None, searches))[:_SEARCHES] or (words,))
        for number, (words, *searches) in enumerate((each for each in parts if each[0]), 1)
    ][:most] or [whole_topic(desk.topic)]


def read_out(desk: ResearchDesk, readings: Sequence[Reading], question: ResearchQuestion) -> ReadOut:
    """What a model reads out of these sources about a question: the statements whose sources were shown to it and have
    their figures. Raises `Interrupted`."""
    shown = desk.framed(readings, question.text)
    answer = desk.write("statements", question=question.text, sources=shown, most=str(_STATEMENTS))
    known = {each.number: each for each in readings}
    rows = list(map(labelled, answer.splitlines()))
    written = [words for label, words in rows if not label and (numbers_in(words) or _ITEM.match(words))]
    checked = [check(_item(words), known) for words in written]
    sound = [CitedStatement(each.text, each.cites, question.number) for each in checked if each.flaw is None]
    methods = (_method(words, known) for label, words in rows if label == "METHOD")
    missing, searches = ([words for label, words in rows if label == name and words] for name in ("MISSING", "SEARCH"))
    refused = len(checked) - len(sound)
    return ReadOut(sound, list(filter(None, methods)), missing, searches, refused, bool(answer))


def quoted(readings: Iterable[Reading], query: str, question: int) -> list[CitedStatement]:
    """What the sources that are prose say about a question, in their own words."""
    return [
        CitedStatement(each, (reading.number,), question, is_quoted=True)
        for reading in readings
        if reading.is_public or reading.authority != "code" or reading.address.endswith((".md", ".rst", ".txt"))
        for each in best_sentences(reading.text, query, _QUOTES)
    ]


def criticism(
    desk: ResearchDesk, statements: Sequence[CitedStatement], questions: Sequence[ResearchQuestion]
) -> tuple[list[Dispute], list[ResearchGap]]:
    """What a critic of these statements finds disputed, and what it misses. Raises `Interrupted`."""
    statements = statements[:_SHOWN]
    rows = "\n".join(f"S{at} {each.numbered}" for at, each in enumerate(statements, 1))
    answer = desk.write("critic", questions=numbered_rows(questions), statements=rows) if statements else ""
    disputes: list[Dispute] = []
    gaps: list[ResearchGap] = []
    for label, words in map(labelled, answer.splitlines()):
        before, after = (*(each.strip() for each in _DASH.split(words, maxsplit=1)), "")[:2]
        if label == "DISPUTED":
            numbers = numbers_in(f"[{before.upper().replace('S', '')}]")
            sides = tuple(statements[at - 1] for at in numbers if 0 < at <= len(statements))
            disputes += [Dispute(sides, after)] if len({each.cites for each in sides}) > 1 else []
        elif label == "GAP":
            gaps += [ResearchGap(each.number, after) for each in questions if before.strip("Qq.") == str(each.number)]
    return disputes, gaps


def numbered_rows(questions: Iterable[ResearchQuestion]) -> str:
    """The questions, a line each, with their numbers."""
    return "\n".join(f"{each.number}. {each.text}" for each in questions)


def labelled(row: str) -> tuple[str, str]:
    """The label at the beginning of a line of an answer, and the words behind it; no label for any other line."""
    found = _LABEL.match(row.lstrip("-*•> "))
    return (found[1], found[2].strip(" *")) if found else ("", row.strip())


def _item(row: str) -> str:
    found = _ITEM.match(row)
    return (found[1] if found else row).strip()


def _plain(part: str) -> str:
    return " ".join(without_numbers(part).strip(' *_`"“”').split())[:_QUESTION]


def _method(words: str, readings: Mapping[int, Reading]) -> FoundMethod | None:
    """A tool or a method; None if no source that was shown has its name."""
    cites = tuple(number for number in numbers_in(words) if number in readings)
    name, use = (*_DASH.split(without_numbers(words), maxsplit=1), "")[:2]
    name = " ".join(name.strip(" *`").split())[:_NAME]
    texts = " ".join(f"{readings[number].title} {readings[number].text}" for number in cites).casefold()
    return FoundMethod(name, " ".join(use.split())[:_USE], cites) if name and name.casefold() in texts else None
