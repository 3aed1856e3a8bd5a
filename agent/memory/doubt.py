"""Entries that a later one contradicts, without what is no longer true of them. Read-only: their notes stay."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from agent.memory.before import without_before
from agent.memory.store import StoredEntry
from agent.memory.understanding.holding import is_disproved, still_true
from agent.memory.understanding.statements import is_lasting


def what_holds(entries: Sequence[StoredEntry], claims: Iterable[StoredEntry]) -> tuple[StoredEntry, ...]:
    """The entries in their order; of one that a claim contradicts which was made after it was last said, only the
    statements that stay true, and nothing if it cannot be told which do."""
    against = _by_link(claims)
    return tuple(held for each in entries if (held := _held(each, _later(each, against))) is not None)


def disproved(entries: Iterable[StoredEntry], claims: Iterable[StoredEntry]) -> Mapping[str, tuple[str, ...]]:
    """The links of the entries of which a later claim says that a statement is no longer true, each with the statements
    that stay true. Of two that only may contradict each other a person has to say which one holds."""
    against, found = _by_link(claims), dict[str, tuple[str, ...]]()
    for each in entries:
        text, later = without_before(each.entry.text), _later(each, against)
        if any(is_disproved(text, claim) for claim in later):
            found[each.link] = still_true(text, later)
    return found


def _by_link(claims: Iterable[StoredEntry]) -> Mapping[str, Sequence[StoredEntry]]:
    """The claims by the entries that they contradict."""
    found: dict[str, list[StoredEntry]] = defaultdict(list)
    for claim in claims:
        for link in claim.entry.contradicts:
            found[link].append(claim)
    return found


def _later(each: StoredEntry, against: Mapping[str, Sequence[StoredEntry]]) -> list[str]:
    said = each.entry.last_said.timestamp()
    return [claim.entry.text for claim in against.get(each.link, ()) if claim.entry.created.timestamp() >= said]


def _held(each: StoredEntry, later: Sequence[str]) -> StoredEntry | None:
    if not later:
        return each
    said = without_before(each.entry.text)
    stays = still_true(said, later)
    left = replace(each, entry=replace(each.entry, text="\n".join(stays)), lasts=is_lasting(said))
    return left if stays else None
