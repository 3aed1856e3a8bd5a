"""What becomes of links when a note gets another path: each leads to the note to which it led before.

All of it is one commit with the move. Links are written as their writer wrote them: by name where that still says which
note is meant, else by the shortest of the ways that does.
"""

import json
from collections.abc import Callable, Collection, Iterator
from itertools import count
from pathlib import PurePosixPath
from posixpath import relpath
from urllib.parse import quote

from agent.dataclass import dataclass
from agent.markdown.relink import relink
from agent.vault.find import notes_with_text
from agent.vault.folders import ARCHIVE
from agent.vault.listing import contents
from agent.vault.note_names import NoteNames, path_from
from agent.vault.store import Vault
from agent.vault.transaction import Transaction

_CANVAS = "*.canvas"


@dataclass(frozen=True, slots=True)
class NoteMove:
    """The move of one note: its bytes before and after, and the other notes whose links follow, each with its bytes
    before and after. `left` are those that may not be changed, and still have the old path or name."""

    path: str
    to: str
    before: bytes
    after: bytes
    edits: tuple[tuple[str, bytes, bytes], ...] = ()
    left: tuple[str, ...] = ()

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
    return NoteMove(path, to, data, links.relinked(path, data), edits, left)


def archive_path(vault: Vault, path: str, taken: Collection[str] = ()) -> str:
    """The path that a note gets in the archive: its own below it, with a number where a note or `taken` has that."""
    kept = PurePosixPath(ARCHIVE + (vault.home.name_of(path) or path).removeprefix(ARCHIVE))
    names = (kept if number == 1 else kept.with_stem(f"{kept.stem}-{number}") for number in count(1))
    paths = (vault.home.at(str(each)) for each in names)
    return next(each for each in paths if each not in taken and vault.read(each) is None)


@dataclass(frozen=True, slots=True)
class _Links:
    """The names of all notes before and after the move of one."""

    path: str
    to: str
    before: NoteNames
    after: NoteNames

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
        here = self.to if source == self.path else source
        wanted = self.to if meant == self.path else meant
        is_relative = is_markdown and path_from(source, target) == meant  # as other programs read it, too
        if self.after.find(here, target) == wanted and (not is_relative or path_from(here, target) == wanted):
            return None
        ways = [wanted]
        if is_relative:
            relative = relpath(wanted, PurePosixPath(here).parent.as_posix())
            ways = [relative, f"./{relative}", wanted]
        elif "/" not in target and len(self.after.names[(name := PurePosixPath(wanted).name).casefold()]) == 1:
            ways = [name, wanted]
        names = (name if target.endswith(".md") else name.removesuffix(".md") for name in ways)
        return next((name for name in names if self.after.find(here, name) == wanted), None)
