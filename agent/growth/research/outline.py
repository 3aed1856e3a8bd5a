"""The outline of a research: its questions, each with what to search for. A model makes it from the topic alone: so a
search that goes out holds nothing of the vault."""

import re

from agent.dataclass import dataclass
from agent.growth.research.claims import without_numbers
from agent.growth.research.desk import ResearchDesk
from agent.growth.research.statements import item

_LONGEST = 300
_SEARCHES = 2
_LINE = re.compile(r"\s*(?:[-*+•]|\d{1,2}[.)、])\s+\S")


@dataclass(frozen=True, slots=True)
class ResearchQuestion:
    """One question of an outline, numbered from 1, with the searches that may answer it."""

    number: int
    text: str
    searches: tuple[str, ...]


def outline(desk: ResearchDesk, most: int) -> tuple[ResearchQuestion, ...]:
    """The questions of a topic; the topic itself where no model makes an outline."""
    answer = desk.ask("outline", topic=desk.topic, most=str(most), language=desk.language) if most > 1 else ""
    found = [_parts(row) for row in answer.splitlines() if _LINE.match(row)]
    questions = [each for each in found if each[0]][:most]
    return tuple(
        ResearchQuestion(number, parts[0], tuple(filter(None, parts[1 : 1 + _SEARCHES])) or (parts[0],))
        for number, parts in enumerate(questions, 1)
    ) or (whole_topic(desk.topic),)


def whole_topic(topic: str) -> ResearchQuestion:
    """The topic as the one question."""
    return ResearchQuestion(1, topic, (topic,))


def _parts(row: str) -> list[str]:
    return [" ".join(without_numbers(each).strip(' *_`"“”').split())[:_LONGEST] for each in item(row).split("|")]
