"""Compares a new entry with similar ones: it is new, a repetition, or takes the place of an entry that it names.

Nothing is lost: a repetition is counted in the existing entry, and an entry that is replaced or has ended stays, with a
link to what took its place. Whether two statements contradict each other is not decided here: an entry that replaces
another one says so. Search for similar entries, and writing, are left to the caller.

What became of the entries of one capture: the event for the figures, and one line in the log.

The line has paths and counts, no text of an entry.
"""

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import StrEnum

from agent.dataclass import dataclass
from agent.events.runs import MemoryCaptured
from agent.markdown.note import Note
from agent.memory.entry import MODEL, Entry, Scope, event_day
from agent.memory.store import StoredEntry
from agent.memory.understanding.rules import is_same
from agent.vault.folders import AgentFolder


class Resolution(StrEnum):
    """The result of a comparison; `again` changes an existing note, `none` writes nothing, and the others
    create a note, `supersedes` with a link to it in the older one."""

    NEW = "new"
    NONE = "none"
    AGAIN = "again"
    SUPERSEDES = "supersedes"


@dataclass(frozen=True, slots=True)
class Judgement:
    """The result for one entry: the `other` one that it repeats or supersedes, and one that is `replaced` by the other
    that it repeats; `why` it is not written, in words."""

    resolution: Resolution
    entry: Entry
    other: StoredEntry | None = None
    replaced: StoredEntry | None = None
    why: str = ""


def judge(entry: Entry, near: Sequence[StoredEntry]) -> Judgement:
    """The result for an entry compared with the entries `near` it, of any type and owner."""
    if entry.source == MODEL and any(_restates(entry, each) for each in near):
        return Judgement(Resolution.NONE, entry, why="a person has said it")
    current = [each for each in near if not each.entry.superseded_by]
    named = {entry.supersedes} - {""}
    replaced = next((each for each in current if each.link in named or each.entry.id in named), None)
    others = [each for each in near if each is not replaced and is_comparable(entry, each.entry)]
    again = next((each for each in others if is_same(entry.text, each.entry.text) and _holds(each, entry)), None)
    if again is not None:
        return Judgement(Resolution.AGAIN, entry, again, replaced)
    if replaced is not None:
        return Judgement(Resolution.SUPERSEDES, replace(entry, supersedes=replaced.link), replaced)
    return Judgement(Resolution.NEW, entry)


def _holds(each: StoredEntry, entry: Entry) -> bool:
    """True if an equal entry was not replaced since, else it is true anew; or was so by the same run."""
    return not each.entry.superseded_by or _is_of_one_run(entry, each.entry)


def _is_of_one_run(entry: Entry, other: Entry) -> bool:
    run = entry.slots.get("run", "")
    return bool(run) and run == other.slots.get("run")


def _restates(entry: Entry, other: StoredEntry) -> bool:
    """True if a person's entry says what a model concluded."""
    return is_comparable(replace(entry, source=""), other.entry) and is_same(entry.text, other.entry.text)


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


def ended_note(known: StoredEntry, session: str, quote: str) -> bytes:
    """The note of an entry that is no longer true, with the session where the person said so, and their words."""
    by = f"[[{session.removesuffix('.md')}]]"
    return Note.parse(known.data).with_key("superseded_by", by).with_key("reason", quote).data


logger = logging.getLogger(__name__)

_WRITTEN = frozenset((Resolution.NEW, Resolution.SUPERSEDES))


def captured(
    run: str, session: str, verdicts: Sequence[Judgement], count: Callable[[str], int] | None = None
) -> MemoryCaptured:
    """The event for these verdicts; `count` gives the tokens of a text."""
    fates = Counter(verdict.resolution for verdict in verdicts)
    new = [verdict.entry.text for verdict in verdicts if verdict.resolution in _WRITTEN]
    return MemoryCaptured(
        run,
        session,
        len(new),
        known=fates[Resolution.AGAIN],
        superseding=fates[Resolution.SUPERSEDES],
        refused=fates[Resolution.NONE],
        tokens=sum(map(count, new)) if count is not None else 0,
    )


def log_capture(what: str, verdicts: Sequence[Judgement], seconds: float) -> None:
    """Log, at debug, what was kept, known and refused of a run or a session (`what`)."""
    if not logger.isEnabledFor(logging.DEBUG):
        return
    written = [f"{verdict.entry.path} ({verdict.resolution})" for verdict in verdicts if verdict.resolution in _WRITTEN]
    known = [
        f"{verdict.other.path} ({verdict.resolution})"
        for verdict in verdicts
        if verdict.resolution is Resolution.AGAIN and verdict.other is not None
    ]
    refused = Counter(verdict.why for verdict in verdicts if verdict.resolution is Resolution.NONE)
    reasons = [f"{number} {why}" for why, number in sorted(refused.items())]
    logger.debug(
        "capture: %s: kept %s; known %s; refused %s; %.0f ms",
        what,
        *(", ".join(each) or "nothing" for each in (written, known, reasons)),
        seconds * 1_000,
    )
