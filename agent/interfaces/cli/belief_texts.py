"""How beliefs about the person are shown on the terminal."""

from collections.abc import Iterator, Mapping
from datetime import datetime

from agent.growth.beliefs.belief import Belief
from agent.growth.beliefs.learn import PersonModel
from agent.growth.beliefs.sign import says
from agent.interfaces.cli.language import said
from agent.memory.profile.belief_line import shown_confidence
from agent.memory.profile.task_kind import TASK_KINDS
from agent.texts import Language, text

_SHOWN = 3
"""The newest pieces of evidence that are shown of a belief."""


def format_beliefs(model: PersonModel, changed: Mapping[str, datetime], language: Language) -> Iterator[str]:
    """Each belief with its figures, where it stands, and its newest evidence."""
    if not model.beliefs:
        yield said("nothing is believed about what you prefer yet")
    for each in model.beliefs:
        yield f"{shown_confidence(each.confidence)}  {says(each.dimension, each.value, language)}"
        yield f"      {_figures(each, language)}"
        yield f"      {_standing(model, each, changed, language)}"
        yield from (f"      {one.evidence.written} {one.shown}".rstrip() for one in each.signs[:_SHOWN])
    if model.gathered.silent:
        yield said(
            "answers without a word on them: {count} (counted, and nothing follows)", count=model.gathered.silent
        )


def _figures(belief: Belief, language: Language) -> str:
    figures = said(
        "signs: {signs}, against it: {against}, plain mean of their strengths: {mean:.2f}",
        signs=len(belief.signs),
        against=len(belief.against),
        mean=belief.mean,
    )
    named = [text(f"belief.task_{kind}", language) for kind in TASK_KINDS if kind in belief.tasks]
    kinds = text("belief.comma", language).join(named)
    return said("{figures}; for: {kinds}", figures=figures, kinds=kinds) if kinds else figures


def _standing(model: PersonModel, belief: Belief, changed: Mapping[str, datetime], language: Language) -> str:
    """What is made of a belief."""
    if model.is_refused(belief, language):
        return said("you took it out or changed it, so it is not used")
    if belief.dimension.key in model.gathered.own:
        return said("a line of your own says what holds")
    if not belief.is_enough:
        return said("too few signs to speak of it")
    words = (
        said("confirmed") if belief.is_confirmed else said("told" if belief.is_told else "not sure enough to be told")
    )
    words = said("{words}, but which holds?", words=words) if belief.is_doubted else words
    at = changed.get(belief.dimension.id)
    return said("{words}; in the note since {day}", words=words, day=f"{at:%Y-%m-%d}") if at else words
