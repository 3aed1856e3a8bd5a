"""What an answer of the agent's shows of doubt: sentences that hedge, options between which it does not decide, a form
that departs from what the person prefers, steps that it cannot do, and matters of taste. Pure text."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, TypeAlias

from agent.config.resources import pattern, patterns
from agent.dataclass import dataclass
from agent.growth.beliefs.blocks import Belief
from agent.growth.beliefs.from_talk import option_lines, options_in
from agent.memory.edits.form import form_of
from agent.memory.understanding.statements import is_question, sentences_in

DoubtKind: TypeAlias = Literal["hedged", "undecided", "departed", "physical", "restricted", "taste"]
_LONG, _SHORT = 1_200, 200
"""Characters from which an answer is long, and below which it is short."""
_LISTED = 0.5
_HEDGES = 2
"""So many sentences that hedge are doubt; one is politeness."""
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class AnswerDoubt:
    """One doubt: the sentence that shows it; for `undecided` the options, and `lines` that say more of them; for
    `departed` the belief that the answer departs from."""

    kind: DoubtKind
    words: str
    options: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    belief: Belief | None = None


def doubts_in(answer: str, told: Iterable[Belief] = ()) -> tuple[AnswerDoubt, ...]:
    """The doubts of an answer; `told` are the beliefs that the run was told. What it cannot do comes first."""
    sentences = tuple(_SPACE.sub(" ", each) for each in sentences_in(answer))
    return (
        *_beyond(sentences),
        *_undecided(answer, sentences),
        *_hedged(sentences),
        *_departures(answer, told),
    )


def _beyond(sentences: Sequence[str]) -> Iterator[AnswerDoubt]:
    for kind in ("physical", "restricted"):
        words = next((each for each in sentences if pattern(f"beyond_{kind}").search(each)), "")
        if words:
            yield AnswerDoubt(kind, words)
            return
    words = next((each for each in sentences if pattern("left_to_taste").search(each)), "")
    if words:
        yield AnswerDoubt("taste", words)


def _undecided(answer: str, sentences: Sequence[str]) -> Iterator[AnswerDoubt]:
    """Options that the answer lists, else the two that one sentence names, else the sentence that decides nothing."""
    words = next((each for each in sentences if pattern("undecided").search(each)), "")
    if options := options_in(answer):
        yield AnswerDoubt("undecided", words, options, option_lines(answer))
    elif words:
        found = next((match for each in patterns("either_or") if (match := each.search(words))), None)
        named = tuple(part.strip() for part in found.groups() if part) if found else ()
        yield AnswerDoubt("undecided", words, named)


def _hedged(sentences: Sequence[str]) -> Iterator[AnswerDoubt]:
    hedged = [each for each in sentences if not is_question(each) and pattern("hedging").search(each)]
    if len(hedged) >= _HEDGES:
        yield AnswerDoubt("hedged", hedged[0])


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
            yield AnswerDoubt("departed", f"{each.dimension.topic} {each.value}", belief=each)
