"""Long-term memory: adds repeated facts to MEMORY.md with their evidence.

A person's deletions and corrections are respected: a line that was once in the note is not added again, and a line in
the note is neither changed nor repeated. A fact that contradicts the note is listed in it for the person to check.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from agent.config.memory_settings import MemorySettings
from agent.memory.forgetting.tombstones import Tombstones
from agent.memory.memory_note import LongTermFact, entry_line, new_note, opposed, parse_facts, says, with_line, words
from agent.memory.store import StoredEntry
from agent.memory.understanding.rules import RULES
from agent.memory.understanding.seam import Understanding
from agent.memory.upkeep.repeated_facts import RepeatedFact, repeated_facts
from agent.texts import Language


@dataclass(frozen=True, slots=True)
class LongTerm:
    """MEMORY.md after the change, the added facts, and those that contradict the note."""

    text: str
    added: tuple[RepeatedFact, ...] = ()
    doubted: tuple[RepeatedFact, ...] = ()


def extract(
    text: str | None,
    entries: Sequence[StoredEntry],
    earlier: Sequence[str],
    stones: Tombstones,
    settings: MemorySettings,
    now: datetime,
    language: Language,
    understanding: Understanding = RULES,
) -> LongTerm:
    """The note (`text`; None: it does not exist) with the repeated facts added.

    `entries`: newest first, with archived ones; `earlier`: every line that was ever in the note.
    """
    note = text or ""
    since = now - timedelta(days=settings.facts_days)
    gone = _gone(earlier, parse_facts(note))
    added: list[RepeatedFact] = []
    doubted: list[RepeatedFact] = []
    for fact in repeated_facts(entries, since, settings.facts_times, understanding):
        there = parse_facts(note)
        if says((*there, *gone), fact.text) or stones.is_forgotten(fact.text):
            continue
        against = opposed(there, fact.text)
        line = entry_line(fact.text, fact.evidence, language, against.text if against else "")
        note = with_line(note or new_note(language), None if against else fact.kind, line, language)
        (doubted if against else added).append(fact)
    return LongTerm(note, tuple(added), tuple(doubted))


def _gone(earlier: Sequence[str], there: Sequence[LongTermFact]) -> tuple[LongTermFact, ...]:
    """The facts that were in the note earlier and are no longer."""
    now = {each.text for each in there}
    found = (plain for row in earlier if (plain := words(row)) is not None and plain not in now)
    return tuple(LongTermFact(plain) for plain in dict.fromkeys(found))
