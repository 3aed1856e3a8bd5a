"""What an import would make of an export: how many of what, where, and what it leaves out. Writes nothing.

The whole export is read once for it, so that one that is broken in its middle is found before anything is written.
"""

import re
from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from functools import cached_property
from typing import Literal, TypeAlias

from agent.clock import in_clock_zone
from agent.dataclass import dataclass
from agent.importers.export import LARGEST_TEXT, Export
from agent.importers.formats import Format
from agent.importers.names import FreeNames, digest, safe_folder, safe_name
from agent.importers.values import (
    ImportedConversation,
    ImportedFact,
    ImportedFile,
    ImportedNote,
    ImportedTurn,
    Item,
    LeftItem,
    LeftReason,
)
from agent.memory.forgetting.tombstones import Tombstones, fingerprint, load_tombstones
from agent.memory.store import ARCHIVED, load_entries
from agent.vault.folders import ENTRIES, OWN_NOTES
from agent.vault.receiving.choice import is_display_only
from agent.vault.secrets import find as secrets
from agent.vault.store import Vault

FILES = "attachments"
"""The folder of an import with the files beside its notes."""
SLOT = "imported"
"""The slot of an entry with the id of the memory that it was imported from."""
_SAID_ID = re.compile(rb"^import_id: (i[0-9a-f]{16})\r?$", re.MULTILINE)
_SAID_LAST = re.compile(rb"^import_last: (i[0-9a-f]{16})\r?$", re.MULTILINE)
_MOST_LEFT = 10_000

Kind: TypeAlias = Literal["conversations", "notes", "facts", "files", "known", "grown"]


@dataclass(frozen=True, slots=True)
class ImportChoice:
    """What the person has chosen: the `folder` for the notes, whether what they are not said to be is their own
    (`mine`), and the size in bytes of the largest file that is taken along."""

    folder: str
    mine: bool = False
    largest: int = 20_000_000


@dataclass(frozen=True, slots=True)
class Placed:
    """Where an item goes. `before` is empty for a new note, else the digest of the last turn that the note at the path
    has already."""

    path: str
    before: str = ""


class ImportPlan:
    """The plan for one export; `add` each item of it, then the counts, examples and days are known."""

    def __init__(self, vault: Vault, format: Format, choice: ImportChoice) -> None:
        self.vault, self.format, self.choice = vault, format, choice
        self.is_mine = choice.mine
        self.counts: Counter[Kind] = Counter()
        self.left: list[LeftItem] = []
        self.left_count = 0
        self.examples: list[str] = []
        self.days: tuple[datetime, datetime] | None = None
        self.paths: dict[str, str] = {}
        """Where each note and file of the export lies in the vault, by its key."""
        self._placed: dict[str, Placed] = {}
        self._names = FreeNames(vault.place.root)
        self._fact_ids: set[str] = set()

    @cached_property
    def stones(self) -> Tombstones:
        """What the person has had forgotten."""
        return load_tombstones(self.vault)

    def survey(self, source: Export) -> None:
        """Add all that is in the source; raises `UserError` for what is broken or not safe."""
        for item in self.format.read(source):
            self._add(item)

    def place(self, found: ImportedConversation | ImportedNote) -> Placed | None:
        """Where a conversation or a note goes; None if it is known, or left out."""
        return self._placed.get(digest(found.id))

    def takes(self, found: ImportedFact) -> bool:
        """True for a fact that the plan has as new; each is taken once."""
        if found.id not in self._fact_ids:
            return False
        self._fact_ids.discard(found.id)
        return True

    def _add(self, item: Item) -> None:
        match item:
            case ImportedConversation():
                self._add_conversation(item)
            case ImportedNote():
                self._add_note(item)
            case ImportedFact():
                self._add_fact(item)
            case ImportedFile():
                self._add_file(item)
            case LeftItem():
                self._leave(item.name, item.why)

    def _add_conversation(self, found: ImportedConversation) -> None:
        id, known = digest(found.id), self._known.get(digest(found.id))
        if not found.turns:
            self._leave(found.title, LeftReason.EMPTY)
        elif known is not None:
            path, last = known
            turns = [digest(each.id) for each in found.turns]
            if last == turns[-1]:
                self.counts["known"] += 1
            elif last in turns:
                self.counts["grown"] += 1
                self._placed[id] = Placed(path, last)
                self._add_files(file for each in new_turns(found, last) for file in each.files)
            else:
                self._leave(found.title, LeftReason.CHANGED)
        elif id in self._placed:
            self.counts["known"] += 1
        else:
            at = in_clock_zone(found.created, self.vault.clock.now()) if found.created else None
            name = f"{f'{at:%Y-%m-%d} ' if at else ''}{found.title or self.format.label}"
            year = f"{at:%Y}" if at else ""
            self._new(id, "conversations", name, year, found.created)
            self._add_files(file for each in found.turns for file in each.files)

    def _add_note(self, found: ImportedNote) -> None:
        id = digest(found.id)
        if (known := self._known.get(id)) is not None or id in self._placed:
            self.counts["known"] += 1
            self.paths[found.key or id] = known[0] if known else self._placed[id].path
        elif not found.body.strip() and not found.files:
            self._leave(found.title, LeftReason.EMPTY)
        else:
            path = self._new(id, "notes", found.title, found.folder, found.created)
            self.paths[found.key or id] = path
            self._add_files(found.files)

    def _new(self, id: str, kind: Kind, name: str, folder: str, at: datetime | None) -> str:
        place = "/".join(filter(None, (self.choice.folder, safe_folder(self.vault.masked(folder)))))
        path = self._names.take(place, safe_name(self.vault.masked(name)), ".md", id)
        self._placed[id] = Placed(path)
        self._count(kind, path, at)
        return path

    def _add_files(self, files: Iterable[ImportedFile]) -> None:
        for each in files:
            self._add_file(each)

    def _add_file(self, found: ImportedFile) -> None:
        if found.key in self.paths:
            return
        stem, dot, ending = found.name.rpartition(".")
        if not is_display_only(f"{safe_name(stem)}.{ending}") or not dot:
            self._leave(found.key, LeftReason.KIND)
        elif found.size > min(self.choice.largest, LARGEST_TEXT):
            self._leave(found.key, LeftReason.SIZE)
        else:
            folder, name = f"{self.choice.folder}/{FILES}", safe_name(self.vault.masked(stem))
            ending = f".{ending.lower()}"
            data = found.load()  # one that is broken is found before anything is written
            for place in self._names.places(folder, name, ending, found.key):
                if self._holds(place, data):
                    self.counts["known"] += 1
                    self.paths[found.key] = place
                    return
            self.paths[found.key] = self._names.take(folder, name, ending, found.key)
            self.counts["files"] += 1

    def _holds(self, path: str, data: bytes) -> bool:
        place = self.vault.place.root / path
        is_like = not place.is_symlink() and place.is_file() and place.stat().st_size == len(data)
        return is_like and place.read_bytes() == data

    def _add_fact(self, found: ImportedFact) -> None:
        mark, text = fingerprint(found.entry.text), found.entry.text
        if found.id in self._facts or (mark and mark in self._facts):
            if self.format.is_own:
                self._leave(found.id, LeftReason.KNOWN)
            else:
                self.counts["known"] += 1
        elif self.stones.is_forgotten(text):
            self._leave(found.id, LeftReason.FORGOTTEN)
        elif secrets("\n".join((found.id, text, *found.entry.keywords, *found.entry.slots.values()))):
            self._leave(found.id, LeftReason.SECRET)
        else:
            self._facts.update((found.id, mark))
            self._fact_ids.add(found.id)
            self._count("facts", "", found.entry.created)

    def _count(self, kind: Kind, path: str, at: datetime | None) -> None:
        self.counts[kind] += 1
        if path and len(self.examples) < 3:
            self.examples.append(path)
        if at is not None:
            first, last = self.days or (at, at)
            self.days = min(first, at), max(last, at)

    def _leave(self, name: str, why: LeftReason) -> None:
        self.left_count += 1
        if len(self.left) < _MOST_LEFT:
            self.left.append(LeftItem(" ".join(name.split())[:200], why))

    @cached_property
    def _known(self) -> dict[str, tuple[str, str]]:
        """The notes that were imported before, by the digests of their ids, each with that of its last turn."""
        found: dict[str, tuple[str, str]] = {}
        for path in self.vault.note_paths():
            if self.vault.home.row(path) is not OWN_NOTES:
                continue
            try:
                data = self.vault.glance(path)
            except OSError:
                continue
            head = data[: max(data.find(b"\n---", 3), 0)]  # the header alone: anybody may have written the text
            if head.startswith(b"---") and (id := _SAID_ID.search(head)):
                last = _SAID_LAST.search(head)
                found[id[1].decode()] = path, last[1].decode() if last else ""
        return found

    @cached_property
    def _facts(self) -> set[str]:
        """The ids and the words of the entries that are there, in the archive too."""
        home = self.vault.home
        paths = (path for path in self.vault.note_paths() if home.holds(path, ENTRIES, ARCHIVED))
        there = [each.entry for each in load_entries(self.vault, paths)]
        ids = {each.slots[SLOT] for each in there if each.slots.get(SLOT)} | {each.id for each in there}
        return (ids | {fingerprint(each.text) for each in there}) - {""}


def new_turns(found: ImportedConversation, last: str) -> tuple[ImportedTurn, ...]:
    """The turns behind the one with this digest."""
    at = next(number for number, each in enumerate(found.turns) if digest(each.id) == last)
    return found.turns[at + 1 :]
