"""Compares a new entry with similar ones: it is new, a repetition, an addition, a replacement or a contradiction.

Nothing is lost: a repetition is counted in the existing entry, an addition within the same hour is merged into it, a
fuller statement supersedes a shorter one, and of two contradicting entries both stay, the newer with a link to the
older. Search for similar entries, and writing, are left to the caller.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum

from agent.markdown.note import Note
from agent.memory.capture.conversation import asked_in
from agent.memory.entry import Entry, EntryType, Scope
from agent.memory.store import StoredEntry, with_offset
from agent.memory.understanding.rules import RULES, is_same
from agent.memory.understanding.seam import Pair, Relation, Understanding
from agent.memory.understanding.statements import claims
from agent.memory.understanding.wording import similarity, wording

HOUR = timedelta(hours=1)
TOPIC = 0.4
"""The similarity from which a text that contains all of another one, and more, is on the same topic."""
_ALWAYS_NEW = frozenset((EntryType.WORKFLOW_TRACE,))
"""Never merged: workflows are learned from the number of their traces."""


class Resolution(StrEnum):
    """The result of a comparison; `again` and `merged` change an existing note, the others create one."""

    NEW = "new"
    AGAIN = "again"
    MERGED = "merged"
    SUPERSEDES = "supersedes"
    CONTRADICTS = "contradicts"


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Jaccard similarities, 0 to 1: `same` within a type, `turn` for chat turns of one hour."""

    same: float = 0.80
    turn: float = 0.70


@dataclass(frozen=True, slots=True)
class Judgement:
    """The result for one entry: the entry with its links, and the `other` one that it repeats, extends or
    supersedes."""

    resolution: Resolution
    entry: Entry
    other: StoredEntry | None = None


def judge(
    entry: Entry,
    near: Sequence[StoredEntry],
    thresholds: Thresholds = Thresholds(),
    understanding: Understanding = RULES,
) -> Judgement:
    """The result for an entry compared with the entries `near` it, of any type and owner.

    Untrusted text is compared by rules only, so that it never reaches a model.
    """
    others = [each for each in near if is_comparable(entry, each.entry)]
    if entry.type in _ALWAYS_NEW or not others:
        return Judgement(Resolution.NEW, entry)
    said = wording(entry.text)
    ranked = sorted(others, key=lambda each: (-similarity(said, wording(each.entry.text)), each.path))
    asked = RULES if entry.untrusted else understanding
    whole = [Pair(entry.text, each.entry.text, _least(entry, each.entry, thresholds)) for each in ranked]
    claimed = [Pair(_claims(entry), _claims(each.entry)) for each in ranked]
    answers = asked.compare([*whole, *claimed])
    for each, answer in zip(ranked, answers, strict=False):
        resolution = _resolution(entry, each.entry, answer)
        if resolution is Resolution.SUPERSEDES:
            return Judgement(resolution, replace(entry, supersedes=each.entry.id), each)
        if resolution is not Resolution.NEW:
            return Judgement(resolution, entry, each)
    of_claims = zip(ranked, answers[len(ranked) :], strict=True)
    against = tuple(each.link for each, answer in of_claims if answer is Relation.CONTRADICTS)
    if against:
        return Judgement(Resolution.CONTRADICTS, replace(entry, contradicts=against[:3]))
    return Judgement(Resolution.NEW, entry)


def is_comparable(entry: Entry, other: Entry) -> bool:
    """True for two entries of one type that belong to the same person or chat."""
    if (entry.type, entry.scope, bool(entry.untrusted)) != (other.type, other.scope, bool(other.untrusted)):
        return False
    if entry.scope is Scope.CHAT:
        return (entry.channel, entry.chat_id, entry.sender_id) == (other.channel, other.chat_id, other.sender_id)
    return entry.sender_id == other.sender_id


def amended(verdict: Judgement) -> bytes:
    """The other entry's note after the merge: count of repetitions, evidence, and the lines that it did not have."""
    assert verdict.other is not None
    entry, note = verdict.entry, Note.parse(verdict.other.data)
    times = verdict.other.times + 1
    slots = {**verdict.other.entry.slots, "times": str(times)}
    evidence = tuple(dict.fromkeys((*verdict.other.entry.evidence, *entry.evidence)))
    note = note.with_key("slots", slots)
    if evidence != verdict.other.entry.evidence:
        note = note.with_key("evidence", list(evidence))
    if verdict.resolution is Resolution.MERGED:
        known = {line.strip() for line in note.body.splitlines()}
        fresh = [line for line in entry.text.splitlines() if line.strip() and line.strip() not in known]
        note = note.with_body(note.body.rstrip("\n") + "\n" + "".join(f"{line}\n" for line in fresh))
    return note.data


def own_words(entry: Entry) -> str:
    """The person's message of a turn; the whole text of any other entry."""
    if entry.type is not EntryType.CHAT_TURN:
        return entry.text
    return asked_in(entry.text)


def _claims(entry: Entry) -> str:
    """The statements of an entry; of a turn no questions or requests, because those contradict nothing."""
    return claims(own_words(entry)) if entry.type is EntryType.CHAT_TURN else own_words(entry)


def _least(entry: Entry, other: Entry, thresholds: Thresholds) -> float:
    """The similarity from which an entry counts as the other one with an addition."""
    if entry.type is not EntryType.CHAT_TURN:
        return TOPIC
    return thresholds.turn if _is_near(entry, other) else thresholds.same


def _resolution(entry: Entry, other: Entry, answer: Relation) -> Resolution:
    run = entry.slots.get("run")
    if run and run == other.slots.get("run") and entry.source == other.source == "conversation_capture":
        return Resolution.AGAIN if entry.text == other.text else Resolution.MERGED  # the run was resumed
    if answer not in {Relation.SAME, Relation.ADDS}:
        return Resolution.NEW
    if answer is Relation.SAME and is_same(entry.text, other.text):
        return Resolution.AGAIN
    return Resolution.MERGED if _is_near(entry, other) else Resolution.SUPERSEDES


def _is_near(entry: Entry, other: Entry) -> bool:
    """True for two turns of a conversation within one hour."""
    if entry.type is not EntryType.CHAT_TURN:
        return False
    return abs(with_offset(entry.created) - with_offset(other.created)) <= HOUR
