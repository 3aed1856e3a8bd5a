"""What becomes of links when a note gets another path: each leads to the note to which it led before.

All of it is one commit with the move. Links are written as their writer wrote them: by name where that still says which
note is meant, else by the shortest of the ways that does.
"""

import json
import os
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import field
from itertools import count
from pathlib import PurePosixPath
from posixpath import relpath
from urllib.parse import quote

from agent.dataclass import dataclass
from agent.markdown.relink import relink
from agent.vault.find import notes_with_text
from agent.vault.folders import ARCHIVE, OWN_NOTES
from agent.vault.listing import contents
from agent.vault.note_names import NoteNames, path_from
from agent.vault.store import Vault
from agent.vault.transaction import Transaction
from agent.vault.worktree.paths import name_key

_CANVAS = "*.canvas"
_ARCHIVES = re.compile(r"(?!\.)[\W\d_]*(?:archives?|归档|存档)\W*", re.IGNORECASE)
"""The names of folders in which people put away what is over, such as `Archive` or `4. Archives`."""


@dataclass(frozen=True, slots=True)
class NoteMove:
    """The move of one note: its bytes before and after, and the other notes whose links follow, each with its bytes
    before and after. `left` are those that may not be changed, and still have the old path or name. The links of those
    in `fitting` lead to the new path as they are written."""

    path: str
    to: str
    before: bytes
    after: bytes
    edits: tuple[tuple[str, bytes, bytes], ...] = ()
    left: tuple[str, ...] = ()
    fitting: tuple[str, ...] = ()

    def fill(self, change: Transaction) -> None:
        """Add all of it to a transaction."""
        if self.after == self.before:
            change.move(self.path, self.to)
        else:
            change.delete(self.path, self.before)
            change.create(self.to, self.after)
        for path, before, after in self.edits:
            change.edit(path, before, after)


def plan_move(vault: Vault, path: str, to: str, data: bytes, may_change: Callable[[str], bool]) -> NoteMove:
    """The move of a note with these bytes, and the changes of all links to it that `may_change` allows."""
    links = _Links.of(vault, path, to)
    changed = [(source, before, after) for source, before, after in links.changes(vault) if after != before]
    edits = tuple(each for each in changed if may_change(each[0]))
    left = tuple(source for source, _, _ in changed if not may_change(source))
    fitting = tuple(sorted(links.linking - {source for source, _, _ in changed}))
    return NoteMove(path, to, data, links.relinked(path, data), edits, left, fitting)


def archive_path(vault: Vault, path: str, taken: Collection[str] = ()) -> str:
    """The path that a note gets in the archive: its own below it, with a number where a note or `taken` has that. A
    person's own note goes into the archive that they have, if there is one."""
    persons = own_archive(vault) if vault.home.row(path) is OWN_NOTES else ""
    if persons:
        target = PurePosixPath(persons + path)
    else:
        target = PurePosixPath(vault.home.at(ARCHIVE + (vault.home.name_of(path) or path).removeprefix(ARCHIVE)))
    names = (str(target if number == 1 else target.with_stem(f"{target.stem}-{number}")) for number in count(1))
    return next(each for each in names if each not in taken and vault.read(each) is None)


def own_archive(vault: Vault) -> str:
    """The folder at the top of the vault that is the person's archive by its name, with a slash; empty without one."""
    with os.scandir(vault.place.root) as found:
        folders = sorted(each.name for each in found if _ARCHIVES.fullmatch(each.name) and each.is_dir())
    return next((f"{each}/" for each in folders if not vault.private_notes.cover(each)), "")


def is_put_away(vault: Vault, path: str) -> bool:
    """True for the path of a note in an archive, the agent's or the person's."""
    persons = own_archive(vault)
    return vault.home.row(path).path == ARCHIVE or (bool(persons) and path.startswith(persons))


@dataclass(frozen=True, slots=True)
class _Links:
    """The names of all notes before and after the move of one."""

    path: str
    to: str
    before: NoteNames
    after: NoteNames
    linking: set[str] = field(default_factory=set)
    """The other notes that were found to link to it."""

    @classmethod
    def of(cls, vault: Vault, path: str, to: str) -> "_Links":
        paths = [*contents(vault)]
        moved = [to if each == path else each for each in paths]
        return cls(path, to, NoteNames.of(paths), NoteNames.of(moved))

    def changes(self, vault: Vault) -> Iterator[tuple[str, bytes, bytes]]:
        """The notes and canvases that may mean another note afterwards, each with its bytes before and after."""
        stems = {PurePosixPath(each).stem for each in (self.path, self.to)}
        found = {each for stem in stems for word in {stem, quote(stem)} for each in notes_with_text(vault, word)}
        for source in sorted(found - {self.path}):
            if (data := vault.read(source)) is not None:
                yield source, data, self.relinked(source, data)
        for file in sorted(vault.place.root.rglob(_CANVAS)):
            source = file.relative_to(vault.place.root).as_posix()
            if not source.startswith(".") and "/." not in source and (data := vault.read(source)) is not None:
                yield source, data, self._in_canvas(source, data)

    def relinked(self, source: str, data: bytes) -> bytes:
        """The note at `source` with each link leading to the note that it meant."""
        return relink(data, lambda target, is_markdown: self._target(source, target, is_markdown=is_markdown))

    def _in_canvas(self, source: str, data: bytes) -> bytes:
        """A canvas names files by their paths, and has links in its texts."""
        old, new = (json.dumps(each, ensure_ascii=False).encode() for each in (self.path, self.to))
        return (
            self.relinked(source, data)
            .replace(b'"file":' + old, b'"file":' + new)
            .replace(b'"file": ' + old, b'"file": ' + new)
        )

    def _target(self, source: str, target: str, *, is_markdown: bool) -> str | None:
        """What a link is to say instead of `target`; None where it needs no change."""
        meant = self.before.find(source, target)
        if meant is None:
            return None
        if meant == self.path != source:
            self.linking.add(source)
        here = self.to if source == self.path else source
        wanted = self.to if meant == self.path else meant
        is_relative = is_markdown and path_from(source, target) == meant  # as other programs read it, too
        if self.after.find(here, target) == wanted and (not is_relative or path_from(here, target) == wanted):
            return None
        forms = [wanted]
        if is_relative:
            relative = relpath(wanted, PurePosixPath(here).parent.as_posix())
            forms = [relative, f"./{relative}", wanted]
        elif "/" not in target and len(self.after.names[name_key(name := PurePosixPath(wanted).name)]) == 1:
            forms = [name, wanted]
        names = (name if target.endswith(".md") else name.removesuffix(".md") for name in forms)
        return next((name for name in names if self.after.find(here, name) == wanted), None)
