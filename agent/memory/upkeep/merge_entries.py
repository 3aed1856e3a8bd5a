"""Merges entries that say the same: the newest stays, names the one it supersedes, and gets the evidence of all.

The others move unchanged to the archive, and their further text is added to the newest, so no word is lost. Only
entries of one type, scope, person and chat are compared, and none that a person has edited.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence

from agent.dataclass import dataclass
from agent.markdown.note import Note
from agent.memory.capture.keywords import MOST
from agent.memory.event_day import event_day
from agent.memory.store import StoredEntry
from agent.memory.understanding.repeats import repeats
from agent.memory.understanding.rules import is_same


@dataclass(frozen=True, slots=True)
class Merge:
    """One entry that replaces others; `data` is its note afterwards."""

    into: StoredEntry
    data: bytes
    others: tuple[StoredEntry, ...]


def merges(entries: Sequence[StoredEntry], theirs: Collection[str]) -> Iterator[Merge]:
    """The merges among entries (newest first); `theirs` are the paths of notes that people have edited."""
    alike: dict[tuple[str, ...], list[StoredEntry]] = defaultdict(list)
    for each in entries:
        if each.path not in theirs:
            alike[_kind(each)].append(each)
    for some in alike.values():
        by_path = {each.path: each for each in some}
        for path, others in repeats([(each.path, each.entry.text) for each in some]):
            into, olds = by_path[path], tuple(by_path[other] for other in others)
            yield Merge(into, _merged(into, olds), olds)


def _kind(each: StoredEntry) -> tuple[str, ...]:
    entry = each.entry
    owner = (entry.type, entry.scope, entry.sender_id, entry.chat_id, entry.thread_id)
    return (*owner, str(each.untrusted), event_day(entry))


def _merged(into: StoredEntry, others: Sequence[StoredEntry]) -> bytes:
    entry = into.entry
    evidence = list(dict.fromkeys(link for each in (into, *others) for link in (*each.entry.evidence, each.link)))
    note = Note.parse(into.data).with_key("evidence", [link for link in evidence if link != into.link])
    if keywords := tuple(dict.fromkeys(word for each in (into, *others) for word in each.entry.keywords))[:MOST]:
        note = note.with_key("keywords", list(keywords))
    if not entry.supersedes:
        note = note.with_key("supersedes", others[0].entry.id)
    more = _beyond(entry.text, others)
    return note.with_body(note.body.rstrip("\n") + "\n" + more).data if more else note.data


def _beyond(text: str, others: Sequence[StoredEntry]) -> str:
    """The older texts that differ in wording from the newest."""
    found = dict.fromkeys(each.entry.text for each in others if not is_same(text, each.entry.text))
    return "".join(f"\n{other.strip()}\n" for other in found)
