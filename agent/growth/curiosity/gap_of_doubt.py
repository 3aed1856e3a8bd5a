"""The question that a doubt in finished work becomes: a template for what is not known, one for what is to be decided,
one for what the agent cannot do itself."""

from typing import assert_never

from agent.config.resources import pattern
from agent.dataclass import dataclass
from agent.growth.beliefs.sign import Dimension, value_words
from agent.growth.curiosity.doubts import AnswerDoubt
from agent.growth.curiosity.gap import MOST_OPTIONS, CuriousGap, GapKind, quoted, shown
from agent.texts import Language, text

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
