"""Gathers the signals of a vault: from statements, the person's own lines, edits, choices and conversations.

What somebody else wrote, a guest said, a model concluded, or was replaced since is left out.
"""

from collections.abc import Callable
from dataclasses import field
from datetime import date, datetime, timedelta

from agent.dataclass import dataclass
from agent.growth.beliefs.blocks import NOTE
from agent.growth.beliefs.edit_ledger import (
    seen_in_lines,
    seen_up_to,
    signals_in_ledger,
    signals_of_edits,
)
from agent.growth.beliefs.from_talk import signals_of_questions, talk_of
from agent.growth.beliefs.from_words import signals_of_entries, signals_of_note
from agent.growth.beliefs.sign import Sign
from agent.growth.patterns.gather import MOST_ENTRIES, notes_of_days, own_sessions
from agent.memory.blame import EDITS, person_lines
from agent.memory.edits.lessons_note import LessonLine, parse_lines, section_of
from agent.memory.edits.person_edits import Seen, lessons_since
from agent.memory.forgetting.tombstones import load_tombstones
from agent.memory.store import load_entries
from agent.runs.profile_upkeep import is_stated_by_owner
from agent.tools.text_origin import TextOrigin
from agent.vault.folders import ENTRIES
from agent.vault.history.commits import Commit
from agent.vault.history.find import commits
from agent.vault.history.trailers import HUMAN
from agent.vault.store import Vault

STATED_FOR, TALKED_FOR = timedelta(days=400), timedelta(days=90)
"""How far back statements and conversations are looked at."""


@dataclass(frozen=True, slots=True)
class Gathered:
    """The signals. `own` are the dimensions (`key`) that lines of the person's in the note speak of; `new` the edits
    that no commit names yet, up to the commit `up_to`; `lines` what earlier versions counted, to be taken over;
    `made` the commits in which beliefs were written down, the newest first; `silent` the answers on which nobody said a
    word."""

    signals: tuple[Sign, ...] = ()
    own: frozenset[tuple[str, str]] = frozenset()
    new: tuple[Seen, ...] = ()
    up_to: str = ""
    lines: tuple[LessonLine, ...] = ()
    made: tuple[Commit, ...] = field(default=(), repr=False)
    silent: int = 0


def gather(vault: Vault, now: datetime, origin: TextOrigin, *, with_edits: bool = True) -> Gathered:
    """The signals of a vault; `with_edits` is the setting `memory.learn_from_edits`. Writes nothing."""
    made = tuple(
        each for each in commits(vault, path=vault.home.at(NOTE)) if each.tool == EDITS and each.actor != HUMAN
    )
    lines = _counted_lines(vault)
    new: tuple[Seen, ...] = ()
    up_to = seen_up_to(made)
    if with_edits:
        new, up_to = lessons_since(vault, now, up_to, lambda path, data: bool(origin.source(path, data)))
    own = signals_of_note(vault, now.date())
    talk = talk_of(own_sessions(vault, _days(now, TALKED_FOR)))
    stated = load_entries(vault, notes_of_days(vault, ENTRIES, _days(now, STATED_FOR))[:MOST_ENTRIES])
    found = (
        *signals_of_entries(each for each in stated if is_stated_by_owner(each, origin)),
        *own,
        *signals_in_ledger(made, _undone(vault, made), vault.home),
        *signals_of_edits((*new, *seen_in_lines(lines)), vault.home),
        *signals_of_questions(vault),
        *talk.signals,
    )
    return Gathered(
        tuple(_wanted(vault, found)),
        frozenset(each.dimension.key for each in own),
        new,
        up_to,
        lines,
        made,
        talk.silent,
    )


def _wanted(vault: Vault, signals: tuple[Sign, ...]) -> list[Sign]:
    """The signals without secrets, and without what the person wanted to be forgotten."""
    forgotten: Callable[[str], bool] = load_tombstones(vault).is_forgotten

    def may_be_shown(each: Sign) -> bool:
        texts = filter(None, (each.dimension.topic, each.value, each.shown, each.evidence.quote))
        return all(vault.masked(words) == words and not forgotten(words) for words in texts)

    return [each for each in signals if may_be_shown(each)]


def _counted_lines(vault: Vault) -> tuple[LessonLine, ...]:
    """The lines of earlier versions that are still as the program wrote them."""
    path = vault.home.at(NOTE)
    data = vault.read(path) or b""
    text = data.decode("utf-8", "surrogateescape")
    there = parse_lines(section_of(text))
    if not there:
        return ()
    rows = text.split("\n")
    theirs = person_lines(vault, path, data)
    own = {row.rstrip("\r") for row, is_theirs in zip(rows, theirs, strict=False) if not is_theirs}
    return tuple(each for each in there if each.row in own)


def _undone(vault: Vault, made: tuple[Commit, ...]) -> frozenset[str]:
    """Those of these commits that were taken back."""
    if not made:
        return frozenset()
    later = commits(vault, path=vault.home.at(NOTE), since=made[-1].when)
    return frozenset(id for each in later for id in each.undoes)


def _days(now: datetime, span: timedelta) -> list[date]:
    return [now.date() - timedelta(days=back) for back in range(span.days, -1, -1)]
