"""The entries of a vault as stored, and what happened on given days. Read-only.

Counts of the memories in a vault, from its notes.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import date, datetime, time
from pathlib import Path, PurePosixPath
from typing import Literal, TypeAlias, get_args

from agent.clock import in_clock_zone
from agent.config.memory_settings import MemorySettings
from agent.dataclass import dataclass
from agent.markdown.note import Note
from agent.memory import daily
from agent.memory.entry import Entry, EntryType, expiry, parse_entry, with_offset
from agent.memory.memory_note import parse_facts
from agent.vault.change import Kind
from agent.vault.folders import ARCHIVE, DAILY, ENTRIES, FORGOTTEN, MEMORY_NOTE, SESSION_LINK, WriteRule
from agent.vault.history.find import commits
from agent.vault.history.versions import edited_on
from agent.vault.store import Vault
from agent.vault.waiting import waiting_notes
from agent.vault.worktree.paths import is_note

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
        times = self.entry.slots.get("times", "")
        return max(1, int(times)) if times.isascii() and times.isdigit() else 1

    def is_stated_on(self, day: date) -> bool:
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
    """The entries of one day, by their file names; older ones said again, by the day's commits, and what waits for
    one."""
    entries = vault.home.at(ENTRIES)
    begin = f"{entries}{day:%Y/%m}/{day:%Y-%m-%d}"
    edited = (*edited_on(vault, entries, day), *(note.path for note in waiting_notes(vault)))
    of_others = (path for path in dict.fromkeys(edited) if path.startswith(entries) and not path.startswith(begin))
    older = load_entries(vault, of_others)
    again = tuple(each for each in older if each.is_stated_on(day))
    return DayEntries(load_entries(vault, entry_paths_on(vault, day)), again)


def _read(vault: Vault, path: str) -> StoredEntry | None:
    data = vault.read(path)
    entry = parse_entry(data) if data is not None else None
    if data is None or entry is None:
        return None
    is_marked = b"untrusted" in data and bool(Note.parse(data).header.get("untrusted"))
    return StoredEntry(path, data, entry, is_marked or bool(vault.provenance.strangers(path, data)))


PastKind: TypeAlias = Literal["asked", "said", "edited"]
"""The kinds of past events: questions to the agent, statements, and notes that the person changed by hand."""
KINDS: tuple[PastKind, ...] = get_args(PastKind)
_TOLD = frozenset(kind for kind in EntryType if kind.is_stated) | {EntryType.CHAT_TURN}


@dataclass(frozen=True, slots=True)
class PastEvent:
    """One thing that happened: on which day, at what time (empty: not known), in which note and lines of it.

    `text` is what was asked or said; of an edit, what was done, such as `edited 3 times`. `sender` said it, empty for
    the vault's owner; `chat` is the group in which it was said. `link` leads to the conversation, and may be empty.
    `is_replaced`: another statement has taken its place since.
    """

    day: date
    time: str
    kind: PastKind
    text: str
    path: str
    lines: tuple[int, int] | None = None
    link: str = ""
    sender: str = ""
    chat: str = ""
    is_replaced: bool = False


def past_events(vault: Vault, first: date, last: date, kinds: Collection[PastKind] = KINDS) -> list[PastEvent]:
    """The events from the first to the last day, the latest first."""
    found: list[PastEvent] = []
    if "asked" in kinds:
        found += _asked(vault, first, last)
    if "said" in kinds:
        found += _statements_between(vault, first, last)
    if "edited" in kinds:
        found += _edited(vault, first, last)
    return sorted(found, key=lambda each: (each.day, each.time, each.path), reverse=True)


def _asked(vault: Vault, first: date, last: date) -> Iterator[PastEvent]:
    """The tasks in the logs of the days."""
    for path in _day_notes(vault):
        day = vault.home.day_of(path)
        if day is None or not first <= day <= last:
            continue
        text = (vault.read(path) or b"").decode("utf-8", "replace")
        rows = text.split("\n")
        for each in daily.log(text):
            heads = (f"## {each.time} - {each.title}", f"### {each.time} - {each.title}")
            at = next((number for number, row in enumerate(rows, 1) if row.rstrip().startswith(heads)), 1)
            yield PastEvent(day, each.time, "asked", each.title, path, (at, at), each.session)


def _day_notes(vault: Vault) -> Iterator[str]:
    """The paths among which the notes of days are: those of a folder, or all where its form has folders in it."""
    if vault.home.days is not None:
        yield from vault.note_paths(vault.home.days.folder.rstrip("/"))
    folder = Path(vault.place.root, vault.home.path + DAILY)
    for file in folder.glob("*.md") if folder.is_dir() else ():
        yield file.relative_to(vault.place.root).as_posix()


def _statements_between(vault: Vault, first: date, last: date) -> Iterator[PastEvent]:
    """The statements, also those in a turn, by the day of their entry."""
    for each in load_entries(vault, _entry_paths(vault, first, last)):
        entry = each.entry
        if entry.type not in _TOLD:
            continue
        begin = max(each.data.decode("utf-8", "replace").count("\n") - entry.text.count("\n"), 1)
        lines = (begin, begin + entry.text.count("\n"))
        at = in_clock_zone(entry.created, vault.clock.now())
        chat = entry.chat_id if entry.scope == "chat" else ""
        yield PastEvent(
            at.date(), f"{at:%H:%M}", "said", entry.text, each.path, lines, sender=entry.sender_id, chat=chat,
            is_replaced=bool(entry.superseded_by),
        )  # fmt: skip


def _entry_paths(vault: Vault, first: date, last: date) -> Iterator[str]:
    """The entries by the day that their names begin with."""
    root, folder = vault.place.root, vault.home.at(ENTRIES)
    for month in sorted(Path(root, folder).glob("[0-9][0-9][0-9][0-9]/[0-9][0-9]")):
        named = f"{month.parent.name}-{month.name}"
        if f"{first:%Y-%m}" <= named <= f"{last:%Y-%m}":
            names = (file.name for file in month.glob(f"{named}-*.md"))
            yield from (
                f"{folder}{month.parent.name}/{month.name}/{name}"
                for name in names
                if first.isoformat() <= name[:10] <= last.isoformat()
            )


def _edited(vault: Vault, first: date, last: date) -> Iterator[PastEvent]:
    """The notes that the person changed by hand, once for each day."""
    now = vault.clock.now()
    begin = in_clock_zone(datetime.combine(first, time()), now)
    end = in_clock_zone(datetime.combine(last, time(23, 59, 59)), now)
    made = [each for each in commits(vault, actor="human", since=begin, until=end) if not (each.tool or each.undoes)]
    others = vault.provenance.made_by_others([each.id for each in made])
    counts: dict[tuple[date, str], list[tuple[str, Kind]]] = {}
    for each in made:
        when = in_clock_zone(each.when, now)
        for change in each.files if each.id not in others else ():
            if is_note(change.path) and vault.home.row(change.path).write is not WriteRule.PROGRAM:
                counts.setdefault((when.date(), change.path), []).append((f"{when:%H:%M}", change.kind))
    for (day, path), changes in counts.items():
        yield PastEvent(day, changes[0][0], "edited", _counted([kind for _, kind in changes]), path)


def _counted(kinds: Sequence[Kind]) -> str:
    """The changes of a note on a day, the last one first in `kinds`."""
    if kinds[0] in {Kind.DELETED, Kind.RENAMED}:
        return str(kinds[0])
    if Kind.CREATED in kinds:
        return "created"
    return f"edited {len(kinds)} times" if len(kinds) > 1 else "edited"


def day_in(path: str) -> str:
    """The day (ISO) that the name of a note begins with; empty for other names."""
    name = PurePosixPath(path).name[:10]
    try:
        return date.fromisoformat(name).isoformat() if len(name) == 10 else ""
    except ValueError:
        return ""


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
