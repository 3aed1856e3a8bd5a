"""The entries of a vault as they stand: where each is, its bytes, what it says.

Only reads; an entry that a person has broken is nobody's entry, and is left alone.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path, PurePosixPath

from agent.markdown.note import Note
from agent.memory.entry import Entry, read_entry
from agent.vault.folders import ARCHIVE, ENTRIES, SESSIONS
from agent.vault.store import Vault

ARCHIVED = ARCHIVE + ENTRIES
"""Where entries go that have expired or were merged; a recall leaves out all paths below `archive/`."""

_SESSION = re.compile(rf"\[\[{SESSIONS}(?:\d{{4}}/\d\d/)?(\d{{4}}-\d\d-\d\d)")


@dataclass(frozen=True, slots=True)
class Kept:
    """An entry in its note. `untrusted`: its text is a stranger's, or may be."""

    path: str
    data: bytes
    entry: Entry
    untrusted: bool = False

    @property
    def link(self) -> str:
        """A link that still leads here when the note is moved to the archive."""
        return f"[[{PurePosixPath(self.path).stem}]]"

    @property
    def times(self) -> int:
        """How often it was said, where capture has counted that in the slot `times`; else once."""
        said = self.entry.slots.get("times", "")
        return max(1, int(said)) if said.isascii() and said.isdigit() else 1

    def was_said(self, day: date) -> bool:
        """Whether a conversation that was begun on this day is among its evidence."""
        return any(match[1] == day.isoformat() for link in self.entry.evidence if (match := _SESSION.search(link)))

    def times_since(self, since: datetime) -> int:
        """How often it was said since then; of an older entry, in how many conversations begun since then."""
        if aware(self.entry.created) >= aware(since):
            return self.times
        begun = [match[1] for link in self.entry.evidence if (match := _SESSION.search(link))]
        return sum(day >= since.date().isoformat() for day in begun)


def kept(vault: Vault, paths: Iterable[str]) -> tuple[Kept, ...]:
    """The entries at these paths, the newest first."""
    found = [each for path in paths if (each := _read(vault, path)) is not None]
    return tuple(sorted(found, key=lambda each: (aware(each.entry.created), each.entry.id), reverse=True))


@dataclass(frozen=True, slots=True)
class Day:
    """What was said on a day: the entries it has brought, and older ones that were said again; the newest first."""

    new: tuple[Kept, ...] = ()
    again: tuple[Kept, ...] = ()


def on_day(vault: Vault, day: date) -> Day:
    """The entries of one day, found by their names; those said again by what was committed on it."""
    folder = Path(vault.place.root, ENTRIES, f"{day:%Y/%m}")
    begin = f"{ENTRIES}{day:%Y/%m}/{day:%Y-%m-%d}"
    names = sorted(folder.glob(f"{day:%Y-%m-%d}*.md")) if folder.is_dir() else []
    older = kept(vault, (path for path in _committed(vault, day) if not path.startswith(begin)))
    again = tuple(each for each in older if each.was_said(day))
    return Day(kept(vault, (f"{ENTRIES}{day:%Y/%m}/{path.name}" for path in names)), again)


def _committed(vault: Vault, day: date) -> list[str]:
    """The entries that commits of a day have changed."""
    prefix, zone = vault.place.prefix, vault.clock.now().strftime("%z")
    times = [f"--since={day.isoformat()}T00:00:00{zone}", f"--until={day.isoformat()}T23:59:59{zone}"]
    options = ["-z", "--name-only", "--no-renames", "--diff-filter=M", "--format="]
    out = vault.git.run("log", *times, *options, "HEAD", "--", prefix + ENTRIES, ok=(0, 128))
    names = dict.fromkeys(out.decode("utf-8", "surrogateescape").split("\0"))
    return [name.removeprefix(prefix) for name in names if name]


def _read(vault: Vault, path: str) -> Kept | None:
    data = vault.read(path)
    entry = read_entry(data) if data is not None else None
    if data is None or entry is None:
        return None
    is_marked = b"untrusted" in data and bool(Note.parse(data).header.get("untrusted"))
    return Kept(path, data, entry, is_marked or bool(vault.provenance.strangers(path, data)))


def aware(when: datetime) -> datetime:
    """The time with an offset; one that a person has typed without is taken for universal."""
    return when if when.tzinfo else when.replace(tzinfo=UTC)
