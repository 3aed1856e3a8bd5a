"""The gaps of a vault: what work needs that was looked at before it began, beliefs that contradict themselves, and
doubts in what the agent did alone: sentences that hedge, options between which it does not decide, and a form that
departs from what the person prefers. What it cannot do or judge is looked at before the work (`needs`).

Found anew each time. Work in which text by others was read asks nothing: a stranger would else choose what the person
is asked.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Literal

from agent.config.resources import first_match, pattern
from agent.dataclass import dataclass
from agent.growth.beliefs.blocks import Belief
from agent.growth.beliefs.from_talk import option_lines, options_in, turns_of
from agent.growth.beliefs.sign import value_words
from agent.growth.curiosity.gap import MOST_OPTIONS, CuriousGap, inert_excerpt, load_looked_ahead, phrase, task_name
from agent.growth.patterns.gather import own_sessions
from agent.loop.records import Began
from agent.loop.session import Session
from agent.markdown.links import note_link
from agent.memory.edits.form import form_of
from agent.memory.profile.owner import kind_of_task
from agent.memory.understanding.statements import is_question, sentences_in
from agent.texts import Language, text
from agent.vault.store import Vault

LOOKED_BACK = timedelta(days=2)
"""How far back work is looked at: what is older is settled, or forgotten."""
_OPPOSITE = {"shorter": "longer", "longer": "shorter", "prose": "items", "without": "with", "en": "zh", "zh": "en"}
"""What an answer was that departed from a value."""
_LONG, _SHORT, _LISTED = 1_200, 200, 0.5
"""Characters from which an answer is long, and below which it is short; the share of it that is a list."""


@dataclass(frozen=True, slots=True)
class AnswerDoubt:
    """One doubt: the sentence that shows it, and what there is to choose from; `lines` say more of that."""

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
        yield from _of_session(session, beliefs, language)


def _of_session(session: Session, beliefs: Sequence[Belief], language: Language) -> Iterator[CuriousGap]:
    """The gaps in the answer of a job. In any other session the person was there, and can ask on."""
    began = next((each.event for each in reversed(session.records) if isinstance(each.event, Began)), None)
    turns = turns_of(session)
    if began is None or not began.job or session.parent or session.untrusted or not (turns and turns[-1].answer):
        return
    task = task_name(began.task.strip().partition("\n")[0])
    yield from (_of_doubt(session, task, each, language) for each in doubts_in(turns[-1].answer))
    if not began.purpose:  # what it writes for itself, such as a look back, is no answer to anybody
        yield from _departures(session, began.task, turns[-1].answer, turns[-1].at, beliefs, language)


def doubts_in(answer: str) -> Iterator[AnswerDoubt]:
    """The doubts of an answer: options that it lists, else the two that one sentence names, else the sentence that
    decides nothing; and the first one of several sentences that hedge: to hedge once is politeness."""
    sentences = [" ".join(each.split()) for each in sentences_in(answer)]
    words = next((each for each in sentences if pattern("undecided").search(each)), "")
    if options := options_in(answer):
        yield AnswerDoubt("undecided", words, options, option_lines(answer))
    elif words:
        found = first_match("either_or", words)
        sides = [*filter(None, found.groups())] if found else []
        yield AnswerDoubt("undecided", words, tuple(map(str.strip, sides)))
    hedged = [each for each in sentences if not is_question(each) and pattern("hedging").search(each)]
    if len(hedged) > 1:
        yield AnswerDoubt("hedged", hedged[0])


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


def _departures(
    session: Session, task: str, answer: str, at: datetime, beliefs: Iterable[Belief], language: Language
) -> Iterator[CuriousGap]:
    """The questions whether a preference still holds from which an answer departs; of each at most once a month."""
    form, kind = form_of(answer), kind_of_task(task)
    departs = {
        ("length", "shorter"): form.length > _LONG,
        ("length", "longer"): 0 < form.length < _SHORT,
        ("list", "prose"): form.listed > _LISTED,
        ("emoji", "without"): form.emoji > 0,
        ("language", "en"): form.language == "zh",
        ("language", "zh"): form.language == "en",
    }
    named = task_name(task.strip().partition("\n")[0])
    for each in beliefs:
        is_preference = each.is_used and each.dimension.is_of_style and (not each.tasks or kind in each.tasks)
        if is_preference and departs.get((each.dimension.topic, each.value), False):
            values, subject = (each.value, _OPPOSITE[each.value]), f"departed {each.dimension.id} {at:%Y-%m}"
            yield _of_belief(each, "departed", subject, values, note_link(session.path), language, named)


def _of_doubted_belief(belief: Belief, language: Language) -> CuriousGap:
    values, subject = (belief.value, *belief.other_values), f"{belief.dimension.id} {belief.signs[0].day:%Y-%m}"
    return _of_belief(belief, "which", subject, values[:MOST_OPTIONS], belief.against[0].evidence.link, language)


def _of_belief(
    belief: Belief, asks: str, subject: str, values: tuple[str, ...], source: str, language: Language, task: str = ""
) -> CuriousGap:
    """The question which of these values of a belief holds."""
    options = tuple(inert_excerpt(value_words(belief.dimension, each, language)) for each in values)
    listed = text("belief.comma", language).join(options)
    counts = {"signs": len(belief.signs), "against": len(belief.against)}
    return CuriousGap(
        "decision",
        subject,
        text(f"curiosity.{asks}", language, options=listed, task=task, value=options[0], other=options[-1]),
        text(f"curiosity.{asks}_why", language, value=options[0], **counts),
        text("curiosity.which_fallback", language, value=options[0]),
        options,
        source=source,
        dimension=belief.dimension,
        values=values,
    )
