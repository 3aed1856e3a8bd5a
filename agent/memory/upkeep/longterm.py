"""Long-term memory: adds repeated facts, and lasting ones, to MEMORY.md with their evidence.

A person's deletions and corrections are respected: a line that was once in the note is not added again, and a line in
the note is neither changed nor repeated.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import TypeVar

from agent.config.memory_settings import MemorySettings
from agent.dataclass import dataclass
from agent.memory.entry import ANSWER, MODEL, EntryType, Scope, with_offset, without_before, words_of_answer
from agent.memory.forgetting.tombstones import Tombstones
from agent.memory.memory_note import (
    LongTermFact,
    entry_line,
    is_stated_once,
    links_of,
    new_note,
    parse_facts,
    says,
    with_line,
    words,
)
from agent.memory.store import StoredEntry
from agent.memory.understanding.rules import is_same, same_words, says_no_more
from agent.memory.understanding.seam import FactKind, SourceText
from agent.memory.understanding.statements import clauses, facts_in, is_lasting, named_kind
from agent.memory.understanding.wording import wording
from agent.texts import Language

K = TypeVar("K", bound=Hashable)


def repeats(texts: Sequence[tuple[K, str]]) -> Iterator[tuple[K, list[K]]]:
    """Each text that later ones repeat, with these; the first text in the sequence represents its repetitions."""
    for number, others in _by_words([text for _, text in texts]).items():
        if others:
            yield texts[number][0], [texts[other][0] for other in others]


def _by_words(texts: Sequence[str]) -> dict[int, list[int]]:
    """The numbers of texts that repeat no earlier one by rule, each with the numbers of its repetitions."""
    firsts: dict[frozenset[tuple[str, int]], list[int]] = defaultdict(list)
    found: dict[int, list[int]] = {}
    for number, text in enumerate(texts):
        alike = firsts[same_words(text)]
        first = next((at for at in alike if is_same(texts[at], text)), None)
        if first is None:
            alike.append(number)
            found[number] = []
        else:
            found[first].append(number)
    return found


_LABEL = re.compile(
    r"^\s*(?:(?P<person>user|you|me|用户|我)|(?P<model>assistant|agent|助手|助理))\s*[:：]\s*", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class RepeatedFact:
    """A fact in its latest wording. `times` is its count, `since` its first date; `evidence` are links, newest
    first."""

    text: str
    kind: FactKind
    times: int
    since: datetime
    evidence: tuple[str, ...]


def owner_words(each: StoredEntry) -> str:
    """The owner's words in an entry; empty for another person's entry or the agent's own words."""
    entry = each.entry
    if each.untrusted or entry.source == MODEL or entry.scope is not Scope.USER or entry.sender_id:
        return ""
    match entry.type:
        case EntryType.USER_EXPLICIT | EntryType.FACT:
            words = without_before(entry.text)
            return words_of_answer(words) if entry.source == ANSWER else words
        case EntryType.CHAT_TURN:
            return "\n".join(_of_person(entry.text))
        case EntryType.AUTO_FLUSH:
            return entry.text if not entry.keywords or "user_instruction" in entry.keywords else ""
        case _:
            return ""


def repeated_facts(entries: Iterable[StoredEntry], since: datetime, times: int) -> tuple[RepeatedFact, ...]:
    """The facts that entries (newest first) state at least `times` times since then, or once if they last, oldest
    first; none that was replaced, nor what happened on one day.

    A fact counts once per entry, or as often as the entry's own count; a clause of a longer sentence counts too.
    """
    counted = [(group, _times(group, since)) for group in _groups(_stated(entries, since))]
    known = [_fact(group, count) for group, count in counted if count >= times]
    once = (_fact(group, count) for group, count in counted if count < times and is_lasting(group[0][0]))
    known += [fact for fact in once if not any(_shares_part(fact.text, each.text) for each in known)]
    parts = [(fact, part) for fact in known for part in clauses(fact.text)]
    single = (fact for fact in known if not any(of is not fact and is_same(fact.text, part) for of, part in parts))
    return tuple(sorted(single, key=lambda fact: fact.since))


def _stated(entries: Iterable[StoredEntry], since: datetime) -> list[tuple[str, StoredEntry]]:
    """The facts that entries state since then, each with its entry; none that was replaced or happened on one day."""
    recent = (each for each in entries if each.times_since(since) and not each.entry.superseded_by)
    texts = ((text, each) for each in recent for text in dict.fromkeys(fact.text for fact in facts_in(_source(each))))
    return [(text, each) for text, each in texts if _kind(text, each) is not FactKind.EVENT]


def _groups(whole: Sequence[tuple[str, StoredEntry]]) -> Iterator[list[tuple[str, StoredEntry]]]:
    """Each fact with the facts and clauses that repeat it."""
    stated = [*whole, *((part, each) for text, each in whole for part in clauses(text))]
    telling = [(number, text) for number, (text, _) in enumerate(stated) if len(wording(text).terms) > 1]
    same = dict(repeats(telling))
    later = {other for others in same.values() for other in others}
    firsts = (number for number, _ in telling if number < len(whole) and number not in later)
    return ([stated[number], *(stated[other] for other in same.get(number, ()))] for number in firsts)


def stated_by_rule(each: StoredEntry) -> tuple[tuple[str, ...], bool]:
    """The texts in which an entry can be one of several that state a fact, by rule; and True if one of them lasts.

    Only entries that share a text, and those that last or were said often, count for `repeated_facts`.
    """
    facts = (fact for fact in facts_in(_source(each)) if fact.kind is not FactKind.EVENT)
    whole = list(dict.fromkeys(fact.text for fact in facts))
    statements = (*whole, *(part for text in whole for part in clauses(text)))
    return tuple(text for text in statements if len(wording(text).terms) > 1), any(map(is_lasting, whole))


def _source(each: StoredEntry) -> SourceText:
    return SourceText(owner_words(each), each.entry.type is EntryType.USER_EXPLICIT)


def _shares_part(one: str, other: str) -> bool:
    """True if one text is a clause of the other, or both have a clause in common."""
    parts, others = (one, *clauses(one)), (other, *clauses(other))
    return any(is_same(part, each) for part in parts for each in others)


def _of_person(turns: str) -> Iterator[str]:
    """The lines of a conversation that the person said."""
    is_person = True
    for line in turns.splitlines():
        if label := _LABEL.match(line):
            is_person = label["person"] is not None
        if is_person:
            yield _LABEL.sub("", line)


def _times(stated: Sequence[tuple[str, StoredEntry]], since: datetime) -> int:
    """The number of times that something was said since then; per entry, its own count once."""
    return sum(each.times_since(since) for each in {each.path: each for _, each in stated}.values())


def _fact(stated: Sequence[tuple[str, StoredEntry]], times: int) -> RepeatedFact:
    """The fact in its latest wording, which comes first, with all its evidence."""
    text, latest = stated[0]
    entries = {each.path: each for _, each in stated}
    newest = sorted(entries.values(), key=lambda each: with_offset(each.entry.created), reverse=True)
    return RepeatedFact(text, _kind(text, latest), times, newest[-1].entry.created, tuple(each.link for each in newest))


def _kind(text: str, each: StoredEntry) -> FactKind:
    """The kind that the model gave to the entry, else the rules'. An entry that the rules made names how its run ended;
    its own kind is that of the rules of its time."""
    return named_kind("" if "outcome" in each.entry.slots else each.entry.slots.get("kind", ""), text)


@dataclass(frozen=True, slots=True)
class LongTerm:
    """MEMORY.md after the change, and the added facts."""

    text: str
    added: tuple[RepeatedFact, ...] = ()


@dataclass(frozen=True, slots=True)
class LongTermRules:
    """The rules of adding: the settings, the time, the language of the note, and what the person wants
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
    is_more = len(links) < min(most, len(fact.evidence)) or (fact.times > 1 and is_stated_once(row))
    return is_more and bool(links) and is_same(words(row) or "", fact.text)


def _gone(earlier: Sequence[str], there: Sequence[LongTermFact]) -> tuple[LongTermFact, ...]:
    """The facts that were in the note earlier and are no longer."""
    now = {each.text for each in there}
    found = (plain for row in earlier if (plain := words(row)) is not None and plain not in now)
    return tuple(LongTermFact(plain) for plain in dict.fromkeys(found))
