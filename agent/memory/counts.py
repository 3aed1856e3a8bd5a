"""Counts of the memories in a vault, from its notes."""

from collections import Counter
from datetime import datetime

from agent.config.memory_settings import MemorySettings
from agent.dataclass import dataclass
from agent.memory.entry import with_offset
from agent.memory.expiry import expiry
from agent.memory.memory_note import parse_facts
from agent.memory.store import ARCHIVED, load_entries
from agent.vault.folders import ENTRIES, FORGOTTEN, MEMORY_NOTE
from agent.vault.store import Vault

_SOON = 7 * 86_400
"""Seconds: a week."""


@dataclass(frozen=True, slots=True)
class MemoryCounts:
    """Entries by type, those that expire within a week, archived and forgotten notes, and facts in MEMORY.md."""

    entries: int
    types: dict[str, int]
    expired: int
    expire_soon: int
    archived: int
    forgotten: int
    facts: int
    oldest: datetime | None
    """The creation time of the oldest entry; None without entries."""


def count_memories(vault: Vault, settings: MemorySettings) -> MemoryCounts:
    """The counts from the current notes."""
    paths, now, home = vault.note_paths(), vault.clock.now(), vault.home
    entries = load_entries(vault, (path for path in paths if home.holds(path, ENTRIES)))
    ends = [with_offset(until) for each in entries if (until := expiry(each.entry, settings)) is not None]
    return MemoryCounts(
        entries=len(entries),
        types=dict(sorted(Counter(each.entry.type.value for each in entries).items())),
        expired=sum(until <= now for until in ends),
        expire_soon=sum(0 < (until - now).total_seconds() <= _SOON for until in ends),
        archived=sum(home.holds(path, ARCHIVED) for path in paths),
        forgotten=sum(home.holds(path, FORGOTTEN) for path in paths),
        facts=count_facts(vault),
        oldest=with_offset(entries[-1].entry.created) if entries else None,
    )


def count_facts(vault: Vault) -> int:
    """The number of long-term facts."""
    return len(parse_facts((vault.read(vault.home.at(MEMORY_NOTE)) or b"").decode("utf-8", "replace")))
