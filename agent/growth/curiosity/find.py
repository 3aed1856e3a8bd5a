"""The gaps of a vault: what work needs that was looked at before it began, beliefs that contradict themselves, and the
doubt in what the agent did alone: options between which it does not decide, or sentences that hedge. What it cannot do
or judge is looked at before the work (`before_work`).

Found anew each time. Work in which text by others was read asks nothing: a stranger would else choose what the person
is asked.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Literal

from agent.config.resources import first_match, pattern
from agent.dataclass import dataclass
from agent.growth.beliefs.blocks import Belief
from agent.growth.beliefs.from_talk import option_lines, options_in, turns_of
from agent.growth.beliefs.sign import value_words
from agent.growth.curiosity.gap import MOST_OPTIONS, CuriousGap, inert_excerpt, load_looked_ahead, phrase, task_name
from agent.growth.patterns.gather import own_sessions
from agent.loop.session import Session
from agent.markdown.links import note_link
from agent.memory.understanding.statements import is_question, sentences_in
from agent.texts import Language, text
from agent.vault.store import Vault

LOOKED_BACK = timedelta(days=2)
"""How far back work is looked at: what is older is settled, or forgotten."""


@dataclass(frozen=True, slots=True)
class AnswerDoubt:
    """The doubt of an answer: the sentence that shows it, and what there is to choose from, with `lines` of each."""

    kind: Literal["undecided", "hedged"]
    words: str
    options: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()


def find_gaps(vault: Vault, beliefs: Sequence[Belief], now: datetime, language: Language) -> Iterator[CuriousGap]:
    """The gaps, the most useful first: what work needs, beliefs that are doubted, doubts in finished work."""
    for ahead in reversed(load_looked_ahead(vault.records)):
        if now - ahead.at <= LOOKED_BACK:
            link = note_link(ahead.session) if ahead.session else ""
            yield from (each.gap(ahead.task, link, language) for each in ahead.needs if each.is_of_person)
    yield from (_of_doubted_belief(each, language) for each in beliefs if each.is_doubted)
    days = [now.date() - timedelta(days=back) for back in range(LOOKED_BACK.days + 1)]
    for session in own_sessions(vault, days):
        yield from _of_session(session, language)


def _of_session(session: Session, language: Language) -> Iterator[CuriousGap]:
    """The gap in the answer of a job. In any other session the person was there, and can ask on."""
    began = session.last_run
    turns = turns_of(session)
    if began is None or not began.job or session.parent or session.untrusted or not (turns and turns[-1].answer):
        return
    if (doubt := doubt_in(turns[-1].answer)) is not None:
        yield _of_doubt(session, task_name(began.task.strip().partition("\n")[0]), doubt, language)


def doubt_in(answer: str) -> AnswerDoubt | None:
    """The doubt of an answer: options that it lists, else the two that one sentence names, else the sentence that
    decides nothing, else the first one of several sentences that hedge: to hedge once is politeness."""
    sentences = [" ".join(each.split()) for each in sentences_in(answer)]
    words = next((each for each in sentences if pattern("undecided").search(each)), "")
    if options := options_in(answer):
        return AnswerDoubt("undecided", words, options, option_lines(answer))
    if words:
        found = first_match("either_or", words)
        sides = [*filter(None, found.groups())] if found else []
        return AnswerDoubt("undecided", words, tuple(map(str.strip, sides)))
    hedged = [each for each in sentences if not is_question(each) and pattern("hedging").search(each)]
    return AnswerDoubt("hedged", hedged[0]) if len(hedged) > 1 else None


def _of_doubt(session: Session, task: str, doubt: AnswerDoubt, language: Language) -> CuriousGap:
    """The question about a doubt in the answer to a task."""
    names, lines = (tuple(map(inert_excerpt, each[:MOST_OPTIONS])) for each in (doubt.options, doubt.lines))
    about = f"{task} {' '.join(doubt.options)}" if names else pattern("hedging").sub(" ", doubt.words)
    asks = "choose" if names else "open" if doubt.kind == "undecided" else "unsure"
    named = text("curiosity.or", language).join(names)
    return CuriousGap(
        "decision" if names else "knowledge",
        f"{session.path} {doubt.kind}",
        text(f"curiosity.{asks}", language, task=task, words=phrase(doubt.words), options=named),
        text("curiosity.unsure_why", language),
        text("curiosity.unsure_fallback", language),
        lines if len(lines) == len(names) else names,
        source=note_link(session.path),
        about=inert_excerpt(about),
    )


def _of_doubted_belief(belief: Belief, language: Language) -> CuriousGap:
    """The question which of the values of a belief holds."""
    values = (belief.value, *belief.other_values)[:MOST_OPTIONS]
    options = tuple(inert_excerpt(value_words(belief.dimension, each, language)) for each in values)
    listed = text("belief.comma", language).join(options)
    signs, against = len(belief.signs), len(belief.against)
    return CuriousGap(
        "decision",
        f"{belief.dimension.id} {belief.signs[0].day:%Y-%m}",
        text("curiosity.which", language, options=listed),
        text("curiosity.which_why", language, value=options[0], signs=signs, against=against),
        text("curiosity.which_fallback", language, value=options[0]),
        options,
        source=belief.against[0].evidence.link,
        dimension=belief.dimension,
        values=values,
    )
