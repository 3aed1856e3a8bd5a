"""What an answer of the agent's shows of doubt: sentences that hedge, options between which it does not decide, and a
form that departs from what the person prefers. Pure text."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from agent.growth.beliefs.belief import Belief
from agent.growth.beliefs.from_talk import options_in
from agent.memory.edits.form import form_of
from agent.memory.understanding.statements import is_question, sentences_in
from agent.memory.understanding.vocabulary import pattern

DoubtKind: TypeAlias = Literal["hedged", "undecided", "departed"]
_LONG, _SHORT = 1_200, 200
"""Characters from which an answer is long, and below which it is short."""
_LISTED = 0.5
_HEDGES = 2
"""So many sentences that hedge are doubt; one is politeness."""
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class AnswerDoubt:
    """One doubt: the sentence, the options (`undecided`), or the preference (`departed`) that it is about."""

    kind: DoubtKind
    words: str
    options: tuple[str, ...] = ()


def doubts_in(answer: str, told: Iterable[Belief] = ()) -> tuple[AnswerDoubt, ...]:
    """The doubts of an answer; `told` are the beliefs that the run was told."""
    hedged = [each for each in sentences_in(answer) if not is_question(each) and pattern("hedging").search(each)]
    found = [AnswerDoubt("hedged", _SPACE.sub(" ", hedged[0]))] if len(hedged) >= _HEDGES else []
    undecided = next((each for each in sentences_in(answer) if pattern("undecided").search(each)), "")
    if (options := options_in(answer)) or undecided:
        found.append(AnswerDoubt("undecided", _SPACE.sub(" ", undecided), options))
    return (*found, *_departures(answer, told))


def _departures(answer: str, told: Iterable[Belief]) -> Iterator[AnswerDoubt]:
    form = form_of(answer)
    departs = {
        ("length", "shorter"): form.length > _LONG,
        ("length", "longer"): 0 < form.length < _SHORT,
        ("list", "prose"): form.listed > _LISTED,
        ("emoji", "without"): form.emoji > 0,
        ("language", "en"): form.language == "zh",
        ("language", "zh"): form.language == "en",
    }
    for each in told:
        if each.dimension.is_of_style and departs.get((each.dimension.topic, each.value), False):
            yield AnswerDoubt("departed", f"{each.dimension.topic} {each.value}")
