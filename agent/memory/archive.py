"""What has expired, and where it goes: to the same path below `archive/`, where a recall does not look.

Nothing is deleted, and what a person has touched expires only when its own header says so.
"""

from collections.abc import Collection, Sequence
from datetime import datetime

from agent.config.remembering import Memory
from agent.memory.expiry import expiry
from agent.memory.kept import Kept
from agent.vault.folders import ARCHIVE


def expired(entries: Sequence[Kept], theirs: Collection[str], settings: Memory, now: datetime) -> tuple[Kept, ...]:
    """The entries that are over; `theirs` are the paths of notes that people have touched."""
    return tuple(each for each in entries if _is_over(each, each.path in theirs, settings, now))


def archived_path(path: str, taken: Collection[str]) -> str:
    """Where a note goes in the archive; a number tells it from one that is there already."""
    stem = f"{ARCHIVE}{path.removesuffix('.md')}"
    found, number = f"{stem}.md", 2
    while found in taken:
        found, number = f"{stem}-{number}.md", number + 1
    return found


def _is_over(each: Kept, touched: bool, settings: Memory, now: datetime) -> bool:
    if touched and each.entry.expires is None:
        return False
    until = expiry(each.entry, settings)
    return until is not None and until.timestamp() <= now.timestamp()
