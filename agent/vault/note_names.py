"""Finds the note that a link means, as Obsidian does, and the notes that link to one."""

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Self
from unicodedata import normalize
from urllib.parse import quote

from agent.dataclass import dataclass
from agent.markdown.blocks import parse_body
from agent.markdown.links import find_header_links, find_links
from agent.markdown.note import Note
from agent.vault.find import notes_with_text
from agent.vault.store import Vault
from agent.vault.worktree.paths import name_key

MOST = 500
"""Notes that are read for the links to one note."""


@dataclass(frozen=True, slots=True)
class NoteNames:
    """The notes of a vault by path and by name, as `name_key` has them."""

    paths: dict[str, str]
    names: dict[str, list[str]]

    @classmethod
    def of(cls, paths: Sequence[str]) -> Self:
        """The names of these paths; among notes of one name, the one nearest to the root comes first."""
        names: dict[str, list[str]] = {}
        for path in sorted(paths, key=lambda each: (each.count("/"), each)):
            names.setdefault(name_key(path.rpartition("/")[2]), []).append(path)
        return cls({name_key(path): path for path in paths}, names)

    def find(self, source: str, target: str) -> str | None:
        """The note that a link to `target`, in the note at `source`, means; None if there is none."""
        if not target:
            return source
        plain = target.strip().lstrip("/")
        for name in (plain, f"{plain}.md"):
            for path in filter(None, (name, path_from(source, name))):
                if found := self.paths.get(name_key(path)):
                    return found
            same = self.names.get(name_key(name.rpartition("/")[2]), ())
            if ended := next((each for each in same if _ends(each, name)), None):
                return ended
        return None


def linking_notes(vault: Vault, path: str, names: NoteNames) -> dict[str, int]:
    """The other notes that link to the note at `path`, in the order of their paths, with the number of their links."""
    stem = PurePosixPath(path).stem
    counts: dict[str, int] = {}
    spellings = {stem, *(normalize(form, stem) for form in ("NFC", "NFD"))}
    possible = {each for name in spellings | set(map(quote, spellings)) for each in notes_with_text(vault, name)}
    for source in sorted(possible)[:MOST]:
        data = vault.read(source) if source != path else None
        if data is None:
            continue
        note = Note.parse(data)
        links = (*find_header_links(data), *find_links(parse_body(note.body, note.body_line))[0])
        meant = (each for each in links if not each.external and each.target)
        if count := sum(names.find(source, each.target) == path for each in meant):
            counts[source] = count
    return counts


def path_from(source: str, name: str) -> str:
    """The path of a name relative to the folder of the note at `source`; empty if it leaves the vault."""
    parts = source.split("/")[:-1]
    for part in name.split("/"):
        if part == "..":
            if not parts:
                return ""
            parts.pop()
        elif part not in {"", "."}:
            parts.append(part)
    return "/".join(parts)


def _ends(path: str, name: str) -> bool:
    return name_key(f"/{path}").endswith(name_key(f"/{name}"))
