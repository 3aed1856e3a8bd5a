"""The entries of a vault as stored: path, bytes and parsed entry. Read-only.

An entry whose frontmatter cannot be parsed is skipped.
"""

import re
from collections.abc import Iterable
from datetime import UTC, date, datetime
from pathlib import Path, PurePosixPath

from agent.dataclass import dataclass
from agent.markdown.note import Note
from agent.memory.entry import Entry, parse_entry
from agent.vault.folders import ARCHIVE, ENTRIES, SESSION_LINK
from agent.vault.history.versions import edited_on
from agent.vault.store import Vault

ARCHIVED = ARCHIVE + ENTRIES
"""The folder of expired and merged entries; recall leaves out all paths below `archive/`."""

_DAY = len("2026-11-21")
_SESSION = re.compile(SESSION_LINK + r"(?:\d{4}/\d\d/)?(\d{4}-\d\d-\d\d)")


@dataclass(frozen=True, slots=True)
class StoredEntry:
    """An entry with its note. `untrusted`: the text comes, or may come, from another person."""

    path: str
    data: bytes
    entry: Entry
    untrusted: bool = False

    @property
    def link(self) -> str:
        """A link that stays valid when the note is moved to the archive."""
        return f"[[{PurePosixPath(self.path).stem}]]"

    @property
    def times(self) -> int:
        """The number of times it was said, from the slot `times` that capture counts in; else 1."""
        said = self.entry.slots.get("times", "")
        return max(1, int(said)) if said.isascii() and said.isdigit() else 1

    def was_said(self, day: date) -> bool:
        """True if a conversation that began on this day is among its evidence."""
        return day.isoformat() in session_days(self.entry.evidence)

    def times_since(self, since: datetime) -> int:
        """The number of times it was said since then; for an older entry, the number of conversations begun since
        then."""
        if with_offset(self.entry.created) >= with_offset(since):
            return self.times
        return sum(day >= since.date().isoformat() for day in session_days(self.entry.evidence))


def session_days(evidence: Iterable[str]) -> list[str]:
    """The days (ISO) on which the conversations among the evidence began, one for each."""
    return [match[1] for link in evidence if (match := _SESSION.search(link))]


def load_entries(vault: Vault, paths: Iterable[str]) -> tuple[StoredEntry, ...]:
    """The entries at these paths, newest first."""
    found = [each for path in paths if (each := _read(vault, path)) is not None]
    return tuple(sorted(found, key=lambda each: (with_offset(each.entry.created), each.entry.id), reverse=True))


@dataclass(frozen=True, slots=True)
class DayEntries:
    """The entries of a day: new ones, and older ones that were said again; newest first."""

    new: tuple[StoredEntry, ...] = ()
    again: tuple[StoredEntry, ...] = ()


def last_entry(vault: Vault) -> StoredEntry | None:
    """The entry that was made last; reads those of its day only."""
    named = ((path, PurePosixPath(path).name) for path in vault.note_paths() if vault.home.holds(path, ENTRIES))
    paths = [path for path, name in named if name[0].isdigit()]
    day = max((PurePosixPath(path).name[:_DAY] for path in paths), default="")
    of_day = load_entries(vault, (path for path in paths if PurePosixPath(path).name.startswith(day)))
    return of_day[0] if of_day else None


def entry_paths_on(vault: Vault, day: date) -> tuple[str, ...]:
    """The entries whose file names begin with this day, in order."""
    folder = vault.home.at(f"{ENTRIES}{day:%Y/%m}/")
    names = sorted(path.name for path in Path(vault.place.root, folder).glob(f"{day:%Y-%m-%d}*.md"))
    return tuple(folder + name for name in names)


def entries_on_day(vault: Vault, day: date) -> DayEntries:
    """The entries of one day, by their file names; older ones said again, by the day's commits."""
    entries = vault.home.at(ENTRIES)
    begin = f"{entries}{day:%Y/%m}/{day:%Y-%m-%d}"
    older = load_entries(vault, (path for path in edited_on(vault, entries, day) if not path.startswith(begin)))
    again = tuple(each for each in older if each.was_said(day))
    return DayEntries(load_entries(vault, entry_paths_on(vault, day)), again)


def _read(vault: Vault, path: str) -> StoredEntry | None:
    data = vault.read(path)
    entry = parse_entry(data) if data is not None else None
    if data is None or entry is None:
        return None
    is_marked = b"untrusted" in data and bool(Note.parse(data).header.get("untrusted"))
    return StoredEntry(path, data, entry, is_marked or bool(vault.provenance.strangers(path, data)))


def with_offset(when: datetime) -> datetime:
    """The time with an offset; UTC for a time that a person typed without one."""
    return when if when.tzinfo else when.replace(tzinfo=UTC)
