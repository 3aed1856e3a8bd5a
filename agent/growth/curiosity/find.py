"""The gaps of a vault: beliefs that contradict themselves, and doubts in what the agent did alone.

Found anew each time, in the vault itself. Work in which text by others was read asks nothing: a stranger would else
choose what the person is asked.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from agent.growth.beliefs.belief import Belief
from agent.growth.beliefs.from_talk import TalkTurn, turns_of
from agent.growth.beliefs.sign import value_words
from agent.growth.curiosity.doubts import doubts_in
from agent.growth.curiosity.gap import CuriousGap
from agent.growth.patterns.gather import own_sessions
from agent.loop.records import Began
from agent.loop.session import Session
from agent.markdown.title import clipped
from agent.memory import daily
from agent.texts import Language, text
from agent.vault.store import Vault

LOOKED_BACK = timedelta(days=2)
"""How far back work is looked at: what is older is settled, or forgotten."""
_TASK, _WORDS = 60, 160
_MOST = 4
"""The most options of a question."""


def find_gaps(vault: Vault, beliefs: Sequence[Belief], now: datetime, language: Language) -> Iterator[CuriousGap]:
    """The gaps, the most useful first."""
    for each in beliefs:
        if each.is_doubted:
            yield _which(each, language)
    days = [now.date() - timedelta(days=back) for back in range(LOOKED_BACK.days + 1)]
    for session in own_sessions(vault, days):
        turns = turns_of(session)
        if turns and turns[-1].answer and is_alone_at_work(session):
            yield from _of_answer(session, turns[-1], language)


def is_alone_at_work(session: Session) -> bool:
    """True for a run that nobody asked for at that moment, and that has read no text by others."""
    began = [record.event for record in session.records if isinstance(record.event, Began)]
    return bool(began) and began[-1].job != "" and not session.parent and not session.untrusted


def _which(belief: Belief, language: Language) -> CuriousGap:
    """The question which of the values of a belief holds."""
    dimension, values = belief.dimension, (belief.value, *belief.other_values)[:_MOST]
    options = tuple(_shown(value_words(dimension, each, language)) for each in values)
    signs, against = len(belief.signs), len(belief.against)
    return CuriousGap(
        "decision",
        f"{dimension.id} {belief.signs[0].day:%Y-%m}",
        text("curiosity.which", language, options=text("belief.comma", language).join(options)),
        text("curiosity.which_why", language, value=options[0], signs=signs, against=against),
        text("curiosity.which_fallback", language, value=options[0]),
        options,
        source=belief.against[0].evidence.link,
        dimension=dimension,
        values=values,
    )


def _of_answer(session: Session, turn: TalkTurn, language: Language) -> Iterator[CuriousGap]:
    link = f"[[{session.path.removesuffix('.md')}]]"
    began = next(record.event for record in reversed(session.records) if isinstance(record.event, Began))
    task = _shown(began.task.strip().partition("\n")[0], _TASK)
    fallback = text("curiosity.unsure_fallback", language, link=link)
    why = text("curiosity.unsure_why", language)
    for doubt in doubts_in(turn.answer):
        if doubt.kind == "undecided" and doubt.options:
            options = tuple(map(_shown, doubt.options[:_MOST]))
            question = text("curiosity.choose", language, task=task)
            yield CuriousGap("decision", f"{session.path} {doubt.kind}", question, why, fallback, options, source=link)
        elif doubt.kind == "hedged":
            question = text("curiosity.unsure", language, task=task, words=_shown(doubt.words))
            yield CuriousGap("knowledge", f"{session.path} {doubt.kind}", question, why, fallback, source=link)


def _shown(words: str, most: int = _WORDS) -> str:
    """Words on one line that an editor neither loads nor links."""
    plain = daily.inert(" ".join(words.split())).replace("[[", "[ [").replace("]]", "] ]").replace("^", "'")
    return clipped(plain, most)
