"""The question that a doubt in finished work becomes: a template for what is not known, one for what is to be decided,
one for what the agent cannot do itself.

What an answer of the agent's shows of doubt: sentences that hedge, options between which it does not decide, a form
that departs from what the person prefers, steps that it cannot do, and matters of taste. Pure text.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, TypeAlias, assert_never

from agent.config.resources import pattern, patterns
from agent.dataclass import dataclass
from agent.growth.beliefs.blocks import Belief
from agent.growth.beliefs.from_talk import option_lines, options_in
from agent.growth.beliefs.sign import Dimension, value_words
from agent.growth.curiosity.gap import MOST_OPTIONS, CuriousGap, GapKind, quoted, shown
from agent.memory.edits.form import form_of
from agent.memory.understanding.statements import is_question, sentences_in
from agent.texts import Language, text

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
        *_undecided_between(answer, sentences),
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


def _undecided_between(answer: str, sentences: Sequence[str]) -> Iterator[AnswerDoubt]:
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


_OPPOSITE = {"shorter": "longer", "longer": "shorter", "prose": "items", "without": "with", "en": "zh", "zh": "en"}
"""What an answer was that departed from a value."""


@dataclass(frozen=True, slots=True)
class FinishedWork:
    """Work that the agent has done alone: the path of its session, a link to it, its task in a few words, its month."""

    path: str
    link: str
    task: str
    month: str
    language: Language

    def text(self, key: str, **values: object) -> str:
        """A sentence of curiosity."""
        return text(f"curiosity.{key}", self.language, **values)


def gap_of_doubt(work: FinishedWork, doubt: AnswerDoubt) -> CuriousGap:
    """The gap of one doubt."""
    match doubt.kind:
        case "hedged":
            question = work.text("unsure", task=work.task, words=quoted(doubt.words))
            return _gap(work, doubt, question, work.text("unsure_why"), work.text("unsure_fallback"))
        case "undecided":
            return _undecided(work, doubt)
        case "departed":
            return _departed(work, doubt)
        case "physical" | "restricted":
            return _action(work, doubt)
        case "taste":
            question = work.text("judge", task=work.task, words=quoted(doubt.words))
            fallback = work.text("unsure_fallback")
            return _gap(work, doubt, question, work.text("judge_why"), fallback)
        case _:
            assert_never(doubt.kind)


def _gap(
    work: FinishedWork, doubt: AnswerDoubt, question: str, why: str, fallback: str, options: tuple[str, ...] = ()
) -> CuriousGap:
    kind: GapKind = "judgement" if doubt.kind == "taste" else "decision" if options else "knowledge"
    about = f"{work.task} {' '.join(doubt.options)}" if doubt.options else pattern("hedging").sub(" ", doubt.words)
    subject = f"{work.path} {doubt.kind}"
    return CuriousGap(kind, subject, question, why, fallback, options, source=work.link, about=shown(about))


def _undecided(work: FinishedWork, doubt: AnswerDoubt) -> CuriousGap:
    options = tuple(map(shown, doubt.options[:MOST_OPTIONS]))
    if options:
        question = work.text("choose", task=work.task, options=work.text("or").join(options))
        if len(doubt.lines) == len(doubt.options):
            options = tuple(map(shown, doubt.lines[:MOST_OPTIONS]))
    else:
        question = work.text("open", task=work.task, words=quoted(doubt.words))
    why, fallback = work.text("unsure_why"), work.text("unsure_fallback")
    return _gap(work, doubt, question, why, fallback, options)


def _departed(work: FinishedWork, doubt: AnswerDoubt) -> CuriousGap:
    """The question whether a preference still holds; of one preference at most once a month."""
    belief = doubt.belief
    dimension = belief.dimension if belief is not None else Dimension("style", doubt.words)
    value = belief.value if belief is not None else ""
    other = _OPPOSITE.get(value, value)
    options = tuple(shown(value_words(dimension, each, work.language)) for each in (value, other))
    return CuriousGap(
        "decision",
        f"departed {dimension.id} {work.month}",
        work.text("departed", task=work.task, value=options[0], other=options[1]),
        work.text("departed_why", value=options[0]),
        work.text("which_fallback", value=options[0]),
        options,
        source=work.link,
        dimension=dimension,
        values=(value, other),
    )


def _action(work: FinishedWork, doubt: AnswerDoubt) -> CuriousGap:
    options = (work.text("action_done"), work.text("action_left"))
    return CuriousGap(
        "action",
        f"{work.path} {doubt.kind}",
        work.text("action", task=work.task, words=quoted(doubt.words)),
        work.text(f"action_{doubt.kind}"),
        work.text("action_fallback"),
        options,
        source=work.link,
        about=shown(doubt.words),
        note=work.text("action_note"),
    )
