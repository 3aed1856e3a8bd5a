"""The gaps of a vault: what work needs that was looked at before it began, beliefs that contradict themselves, and
doubts in what the agent did alone.

Found anew each time. Work in which text by others was read asks nothing: a stranger would else
choose what the person is asked.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from agent.growth.beliefs.blocks import Belief
from agent.growth.beliefs.from_talk import TalkTurn, turns_of
from agent.growth.beliefs.sign import value_words
from agent.growth.curiosity.gap import MOST_OPTIONS, CuriousGap, shown
from agent.growth.curiosity.gap_of_doubt import FinishedWork, doubts_in, gap_of_doubt
from agent.growth.curiosity.needs import load_looked_ahead
from agent.growth.patterns.gather import own_sessions
from agent.loop.records import Began
from agent.loop.session import Session
from agent.memory.profile.owner import kind_of_task
from agent.texts import Language, text
from agent.vault.store import Vault

LOOKED_BACK = timedelta(days=2)
"""How far back work is looked at: what is older is settled, or forgotten."""
_TASK = 60


def find_gaps(vault: Vault, beliefs: Sequence[Belief], now: datetime, language: Language) -> Iterator[CuriousGap]:
    """The gaps, the most useful first: what work needs, beliefs that are doubted, doubts in finished work."""
    for ahead in reversed(load_looked_ahead(vault.records)):
        if now - ahead.at <= LOOKED_BACK:
            link = f"[[{ahead.session.removesuffix('.md')}]]" if ahead.session else ""
            yield from (each.gap(ahead.task, link, language) for each in ahead.needs if each.is_of_person)
    for each in beliefs:
        if each.is_doubted:
            yield _which(each, language)
    days = [now.date() - timedelta(days=back) for back in range(LOOKED_BACK.days + 1)]
    for session in own_sessions(vault, days):
        turns = turns_of(session)
        if turns and turns[-1].answer and is_alone_at_work(session):
            yield from _of_answer(session, turns[-1], beliefs, language)


def is_alone_at_work(session: Session) -> bool:
    """True for a run that nobody asked for at that moment, and that has read no text by others."""
    began = [record.event for record in session.records if isinstance(record.event, Began)]
    return bool(began) and began[-1].job != "" and not session.parent and not session.untrusted


def _which(belief: Belief, language: Language) -> CuriousGap:
    """The question which of the values of a belief holds."""
    dimension, values = belief.dimension, (belief.value, *belief.other_values)[:MOST_OPTIONS]
    options = tuple(shown(value_words(dimension, each, language)) for each in values)
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


def _of_answer(session: Session, turn: TalkTurn, beliefs: Sequence[Belief], language: Language) -> Iterator[CuriousGap]:
    """The gaps that an answer of work done alone shows, at most one of each kind."""
    link = f"[[{session.path.removesuffix('.md')}]]"
    began = next(record.event for record in reversed(session.records) if isinstance(record.event, Began))
    task, kind = began.task.strip().partition("\n")[0], kind_of_task(began.task)
    told = [each for each in beliefs if each.is_told and (not each.tasks or kind in each.tasks)]
    told = [] if began.purpose else told  # what it writes for itself, such as a look back, is no answer to anybody
    work = FinishedWork(session.path, link, shown(task, _TASK), f"{turn.at:%Y-%m}", language)
    for doubt in doubts_in(turn.answer, told):
        yield gap_of_doubt(work, doubt)
