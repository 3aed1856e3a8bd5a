"""Compares the index with the vault's notes, by content hash and never by time.

Carrying out the plan is left to `update`. `status --notes` prints the note's status used here: a note counts as indexed
when everything about it was written.
"""

from collections.abc import Collection, Iterable, Mapping

from agent.dataclass import dataclass
from agent.index.note_store import NoteStore
from agent.index.records import PRIVATE, NoteStatus, is_attachment


@dataclass(frozen=True, slots=True)
class UpdatePlan:
    """The paths to index and the paths to remove; `moved` ones (old, new) only changed their path."""

    write: tuple[str, ...]
    forget: tuple[str, ...]
    moved: tuple[tuple[str, str], ...] = ()
    added: int = 0

    def __bool__(self) -> bool:
        return bool(self.write or self.forget)


@dataclass(frozen=True, slots=True)
class Coverage:
    """The number of notes that search finds, and the reason for each other note and each that was indexed in part."""

    indexed: int
    skipped: tuple[tuple[str, str], ...]
    failed: tuple[tuple[str, str], ...]
    partly: tuple[tuple[str, str], ...] = ()
    pending: int = 0


def plan_update(known: Mapping[str, str], listed: Mapping[str, str], unfinished: Iterable[str] = ()) -> UpdatePlan:
    """The difference between the indexed hashes and the vault's, by path; `unfinished` paths are always indexed
    again."""
    again = frozenset(unfinished)
    write = tuple(sorted(path for path, digest in listed.items() if known.get(path) != digest or path in again))
    forget = tuple(sorted(path for path in {*known, *again} if path not in listed))
    by_hash: dict[str, list[str]] = {}
    for path in reversed(forget):
        if path in known:
            by_hash.setdefault(known[path], []).append(path)
    moved = []
    for path in write:
        if path not in known and by_hash.get(listed[path]):
            moved.append((by_hash[listed[path]].pop(), path))
    added = sum(1 for path in write if path not in known) - len(moved)
    return UpdatePlan(write, forget, tuple(moved), added)


def coverage(store: NoteStore) -> Coverage:
    """What search finds of every note in the index; raises `Damaged`."""
    with store.snapshot():
        count, _ = store.listing()
        return coverage_of(count, store.incomplete(), {path for path, _ in store.pending() if not is_attachment(path)})


def coverage_of(count: int, incomplete: Mapping[str, tuple[NoteStatus, str]], pending: Collection[str]) -> Coverage:
    """The same of the number of all notes, of those that are not found whole, and of the pending ones."""
    named = {path: (status, reason) for path, (status, reason) in incomplete.items() if reason != PRIVATE}
    others = sorted((path, status, reason) for path, (status, reason) in named.items())
    count -= len(incomplete) - len(named)
    skipped, failed, partly = (
        tuple((path, reason) for path, status, reason in others if status == wanted)
        for wanted in ("skipped", "failed", "indexed")
    )
    return Coverage(count - len(skipped) - len(failed), skipped, failed, partly, len(pending))
