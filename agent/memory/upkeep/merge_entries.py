"""Entries that say the same become one: the newest stays, names what it takes the place of, has the evidence of all.

The others move to the archive as they are, and what they say beyond the newest is added to it, so no word is lost.
Only entries of one type, scope, person and chat are compared, and none that a person has touched. Traces of workflows
are left alone: each counts.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from agent.markdown.note import Note
from agent.memory.entry import EntryType
from agent.memory.store import StoredEntry
from agent.memory.understanding.repeats import repeats
from agent.memory.understanding.rules import RULES, is_same
from agent.memory.understanding.seam import Understanding


@dataclass(frozen=True, slots=True)
class Merge:
    """One entry takes the place of others; `data` is its note afterwards."""

    into: StoredEntry
    data: bytes
    others: tuple[StoredEntry, ...]


def merges(
    entries: Sequence[StoredEntry], theirs: Collection[str], understanding: Understanding = RULES
) -> Iterator[Merge]:
    """The merges among entries (the newest first); `theirs` are the paths of notes that people have touched.

    A stranger's text is compared by rule only, so that it can tell a model nothing.
    """
    alike: dict[tuple[str, ...], list[StoredEntry]] = defaultdict(list)
    for each in entries:
        if each.path not in theirs and each.entry.type is not EntryType.WORKFLOW_TRACE:
            alike[_kind(each)].append(each)
    for some in alike.values():
        by_path = {each.path: each for each in some}
        asked = RULES if some[0].untrusted else understanding
        for path, others in repeats([(each.path, each.entry.text) for each in some], asked):
            into, olds = by_path[path], tuple(by_path[other] for other in others)
            yield Merge(into, _merged(into, olds), olds)


def _kind(each: StoredEntry) -> tuple[str, ...]:
    entry = each.entry
    return (entry.type, entry.scope, entry.sender_id, entry.chat_id, entry.thread_id, str(each.untrusted))


def _merged(into: StoredEntry, others: Sequence[StoredEntry]) -> bytes:
    entry = into.entry
    evidence = list(dict.fromkeys(link for each in (into, *others) for link in (*each.entry.evidence, each.link)))
    note = Note.parse(into.data).with_key("evidence", [link for link in evidence if link != into.link])
    if not entry.supersedes:
        note = note.with_key("supersedes", others[0].entry.id)
    more = _beyond(entry.text, others)
    return note.with_body(note.body.rstrip("\n") + "\n" + more).data if more else note.data


def _beyond(text: str, others: Sequence[StoredEntry]) -> str:
    """The older texts that say it in other words than the newest."""
    found = dict.fromkeys(each.entry.text for each in others if not is_same(text, each.entry.text))
    return "".join(f"\n{other.strip()}\n" for other in found)
