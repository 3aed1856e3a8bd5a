"""Long-term memory: adds repeated facts, and lasting ones, to MEMORY.md with their evidence.

A person's deletions and corrections are respected: a line that was once in the note is not added again, and a line in
the note is neither changed nor repeated.
"""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

from agent.config.memory_settings import MemorySettings
from agent.dataclass import dataclass
from agent.memory.forgetting.tombstones import Tombstones
from agent.memory.memory_note import (
    LongTermFact,
    entry_line,
    is_said_once,
    links_of,
    new_note,
    parse_facts,
    says,
    with_line,
    words,
)
from agent.memory.store import StoredEntry
from agent.memory.understanding.rules import is_same, says_no_more
from agent.memory.upkeep.repeated_facts import RepeatedFact, repeated_facts
from agent.texts import Language


@dataclass(frozen=True, slots=True)
class LongTerm:
    """MEMORY.md after the change, and the added facts."""

    text: str
    added: tuple[RepeatedFact, ...] = ()


@dataclass(frozen=True, slots=True)
class LongTermRules:
    """What adding goes by: the settings, the time, the language of the note, and what the person wants
    forgotten."""

    settings: MemorySettings
    now: datetime
    language: Language
    forgotten: Tombstones


def extract(
    text: str | None,
    entries: Sequence[StoredEntry],
    rules: LongTermRules,
    earlier: Sequence[str],
    own: Collection[str],
) -> LongTerm:
    """The note (`text`; None: it does not exist) with the repeated and lasting facts added.

    `entries`: newest first, with archived ones; `earlier`: every line that was ever in the note; `own`: the agent's own
    lines in it, of which one with few links is written anew when its fact was said again.
    """
    note, language, times = text or "", rules.language, rules.settings.facts_times
    since = rules.now - timedelta(days=rules.settings.facts_days)
    gone = _gone(earlier, parse_facts(note))
    added: list[RepeatedFact] = []
    for fact in repeated_facts(entries, since, times):
        if row := next((row for row in own if _grows(row, fact, times)), ""):
            note = note.replace(row, "", 1)
        there = parse_facts(note)
        if rules.forgotten.is_forgotten(fact.text) or says(there if row else (*there, *gone), fact.text):
            continue
        is_once = fact.times == 1
        if is_once and any(says_no_more(fact.text, each.text) for each in there):
            continue
        line = entry_line(fact.text, fact.evidence, language, is_once=is_once)
        note = with_line(note or new_note(language), fact.kind, line, language)
        added.append(fact)
    return LongTerm(note, tuple(added))


def _grows(row: str, fact: RepeatedFact, most: int) -> bool:
    """True if the fact has more evidence than its line, which has less than `most` links, or was said once."""
    links = links_of(row)
    is_more = len(links) < min(most, len(fact.evidence)) or (fact.times > 1 and is_said_once(row))
    return is_more and bool(links) and is_same(words(row) or "", fact.text)


def _gone(earlier: Sequence[str], there: Sequence[LongTermFact]) -> tuple[LongTermFact, ...]:
    """The facts that were in the note earlier and are no longer."""
    now = {each.text for each in there}
    found = (plain for row in earlier if (plain := words(row)) is not None and plain not in now)
    return tuple(LongTermFact(plain) for plain in dict.fromkeys(found))
