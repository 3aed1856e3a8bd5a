"""Compares a new entry with similar ones: it is new, a repetition, a replacement or a contradiction.

Nothing is lost: a repetition is counted in the existing entry, a fuller statement and a correction supersede the older
one, which stays with a link to them, and of two that may contradict each other both stay, the newer with a link to the
older. Search for similar entries, and writing, are left to the caller.
"""

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum

from agent.dataclass import dataclass
from agent.markdown.note import Note
from agent.memory.before import before_in, without_before
from agent.memory.capture.facts import is_complete
from agent.memory.entry import MODEL, Entry, EntryType, Scope
from agent.memory.event_day import event_day
from agent.memory.store import StoredEntry
from agent.memory.understanding.corrections import corrected, is_correction, takes_back
from agent.memory.understanding.holding import gives_another_value, statements_of
from agent.memory.understanding.rules import adds_to, is_same, relation
from agent.memory.understanding.seam import TextRelation
from agent.memory.understanding.statements import told_clauses
from agent.memory.understanding.wording import similarity, wording
from agent.vault.folders import AgentFolder

TOPIC = 0.4
"""The similarity from which a text that contains all of another one, and more, is on the same topic."""
_NAMED = 3
"""The most entries that one names which it contradicts."""


class Resolution(StrEnum):
    """The result of a comparison; `again` changes an existing note, `none` writes nothing, and the others
    create a note, `supersedes` with a link to it in the older one."""

    NEW = "new"
    NONE = "none"
    """It would change a statement, and none is known that it may mean."""
    AGAIN = "again"
    SUPERSEDES = "supersedes"
    CONTRADICTS = "contradicts"


@dataclass(frozen=True, slots=True)
class Judgement:
    """The result for one entry: the entry with its links, the `other` one that it repeats or supersedes, and
    one that is `replaced` by the other that it repeats; `why` it is not written, in words."""

    resolution: Resolution
    entry: Entry
    other: StoredEntry | None = None
    replaced: StoredEntry | None = None
    why: str = ""


def judge(entry: Entry, near: Sequence[StoredEntry]) -> Judgement:
    """The result for an entry compared with the entries `near` it, of any type and owner."""
    if entry.source == MODEL and any(_is_said(entry, each) for each in near):
        return Judgement(Resolution.NONE, entry, why="a person has said it")
    others = [each for each in near if is_comparable(entry, each.entry)]
    found = _compared(entry, others) if others else Judgement(Resolution.NEW, entry)
    if found.resolution is Resolution.NEW and entry.type is EntryType.FACT and not is_complete(entry.text):
        return Judgement(Resolution.NONE, entry, why="no whole statement")
    return found


def _compared(entry: Entry, others: Sequence[StoredEntry]) -> Judgement:
    said = wording(entry.text)
    ranked = sorted(others, key=lambda each: (-similarity(said, wording(each.entry.text)), each.path))
    judged = [(each, _resolution(entry, each.entry)) for each in ranked]
    again = next(
        (now for each, resolution in judged if resolution is Resolution.AGAIN and (now := _now(each, entry, ranked))),
        None,
    )
    if again is not None:
        replaced = _corrected(entry, [each for each in ranked if each is not again]) if entry.supersedes else None
        return Judgement(Resolution.AGAIN, entry, again, replaced)
    earlier = [each for each in ranked if not _is_of_one_message(entry, each.entry)]
    if entry.type.is_stated and (corrected := _corrected(entry, earlier)) is not None:
        also = tuple(each.link for each in earlier if each is not corrected and _is_replaced(entry, each))
        if entry.supersedes or told_clauses(without_before(corrected.entry.text)) <= 1:
            return _superseding(replace(entry, contradicts=also[:_NAMED]), corrected)
        named = (corrected.link, *also)[:_NAMED]  # the rest of them stays true
        return Judgement(Resolution.CONTRADICTS, replace(entry, contradicts=named))
    for each, resolution in judged:
        if resolution is Resolution.SUPERSEDES:
            return _superseding(entry, each)
    against = tuple(each.link for each in earlier if relation(entry.text, each.entry.text) is TextRelation.CONTRADICTS)
    if against:
        return Judgement(Resolution.CONTRADICTS, replace(entry, contradicts=against[:_NAMED]))
    return Judgement(Resolution.NEW, entry)


def _now(each: StoredEntry, entry: Entry, others: Sequence[StoredEntry]) -> StoredEntry | None:
    """The entry that an equal one repeats: the one that has replaced it, if that says the same and more. None if it was
    replaced by something else, as then it is true anew."""
    while by := each.entry.superseded_by:
        newer = next((other for other in others if by in {other.link, other.entry.id}), None)
        if (
            newer is None
            or newer.entry.created <= each.entry.created
            or not adds_to(newer.entry.text, entry.text, TOPIC)
        ):
            return each if _is_of_one_run(entry, each.entry) else None
        each = newer
    return each


def _is_of_one_message(entry: Entry, other: Entry) -> bool:
    """True for two statements of one message, of which the second takes nothing back: "I moved to Lyon, I live in
    Vaise" contradicts nothing."""
    return _is_of_one_run(entry, other) and not (entry.supersedes or takes_back(entry.text))


def _is_of_one_run(entry: Entry, other: Entry) -> bool:
    run = entry.slots.get("run")
    return bool(run) and run == other.slots.get("run")


def _is_said(entry: Entry, other: StoredEntry) -> bool:
    """True if a person's entry says what a model concluded."""
    return is_comparable(replace(entry, source=""), other.entry) and is_same(entry.text, other.entry.text)


def _superseding(entry: Entry, other: StoredEntry) -> Judgement:
    """The result for an entry in place of another one, which contradicts what that one did, too."""
    against = tuple(dict.fromkeys((*entry.contradicts, *other.entry.contradicts)))[:_NAMED]
    return Judgement(Resolution.SUPERSEDES, replace(entry, supersedes=other.link, contradicts=against), other)


def _corrected(entry: Entry, others: Sequence[StoredEntry]) -> StoredEntry | None:
    """The current entry that a person's statement corrects; None if there is none, or several may be meant."""
    if entry.source == MODEL:
        return None
    current = [each for each in others if not each.entry.superseded_by]
    if entry.supersedes:
        return next((each for each in current if each.link == entry.supersedes), None)
    said = [without_before(each.entry.text) for each in current]
    if before := before_in(entry.text):
        return next((each for each, text in zip(current, said, strict=True) if is_same(before, text)), None)
    parts = [(part, each) for text, each in zip(said, current, strict=True) for part in statements_of(text)]
    if is_correction(entry.text) and (number := corrected(entry.text, [part for part, _ in parts])) is not None:
        return parts[number][1]
    return next((each for each in current if _is_replaced(entry, each)), None)


def _is_replaced(entry: Entry, other: StoredEntry) -> bool:
    """True if the current other one is no longer true, in all or in part, if the entry is."""
    return not other.entry.superseded_by and gives_another_value(entry.text, without_before(other.entry.text))


def is_comparable(entry: Entry, other: Entry) -> bool:
    """True for two entries of one type, or two statements, that belong to the same person or chat; what a model
    concluded is compared with its like only, and what happened on a day not with that of another."""
    if (entry.source == MODEL) != (other.source == MODEL):
        return False
    if not (entry.type is other.type or (entry.type.is_stated and other.type.is_stated)):
        return False
    if (entry.scope, bool(entry.untrusted)) != (other.scope, bool(other.untrusted)):
        return False
    if (day := event_day(entry)) and event_day(other) not in {"", day}:
        return False
    if entry.scope is Scope.CHAT:
        return (entry.channel, entry.chat_id, entry.sender_id) == (other.channel, other.chat_id, other.sender_id)
    return entry.sender_id == other.sender_id


def changes_of(verdict: Judgement, home: AgentFolder) -> tuple[tuple[str, bytes | None, bytes], ...]:
    """The notes that a result changes: path, bytes before (None for a new note) and after."""
    entry, other = verdict.entry, verdict.other
    if other is not None and verdict.resolution is Resolution.AGAIN:
        after, replaced = amended(verdict), verdict.replaced
        if replaced is None:
            return ((other.path, other.data, after),)
        after = Note.parse(after).with_key("supersedes", replaced.link).data
        return (other.path, other.data, after), (replaced.path, replaced.data, superseded(replaced, other.link))
    new = (home.at(entry.path), None, entry.note())
    match verdict.resolution:
        case Resolution.NONE:
            return ()
        case Resolution.SUPERSEDES if other is not None:
            return new, (other.path, other.data, superseded(other, entry.link))
        case _:
            return (new,)


def amended(verdict: Judgement) -> bytes:
    """The other entry's note after the repetition: its count, the time of the last one, and evidence. What is kept
    twice of one run was said once, and gets the keywords that it did not have."""
    assert verdict.other is not None
    entry, note = verdict.entry, Note.parse(verdict.other.data)
    run = entry.slots.get("run", "")
    if entry.type.is_stated and run and run == verdict.other.entry.slots.get("run"):
        has_more = bool(entry.keywords) and not verdict.other.entry.keywords
        return note.with_key("keywords", list(entry.keywords)).data if has_more else verdict.other.data
    evidence = tuple(dict.fromkeys((*verdict.other.entry.evidence, *entry.evidence)))
    note = note.with_key("times", verdict.other.times + 1).with_key("said", entry.created.replace(microsecond=0))
    if run:
        note = note.with_key("run", run)
    if evidence != verdict.other.entry.evidence:
        note = note.with_key("evidence", list(evidence))
    return note.data


def superseded(other: StoredEntry, by: str) -> bytes:
    """The older entry's note with a link to the entry that replaces it."""
    return Note.parse(other.data).with_key("superseded_by", by).data


def _resolution(entry: Entry, other: Entry) -> Resolution:
    found = relation(entry.text, other.text, TOPIC)
    if found is TextRelation.SAME:
        return Resolution.AGAIN
    return Resolution.SUPERSEDES if found is TextRelation.ADDS else Resolution.NEW
