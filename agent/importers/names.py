"""The names of what is imported: from titles and names that anybody may have chosen, so that no program obeys a file
for its name, no other file is in its place, and every system can have it.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import field
from hashlib import sha256
from itertools import count, takewhile
from pathlib import Path

from agent.dataclass import dataclass
from agent.vault.folders import is_ordinary_note, is_template

_REFUSED = re.compile(r"[\\/:*?\"<>|#^\[\]`%]+|\.(?=\S)")
_LONGEST, _MOST_BYTES = 80, 180
_DEEPEST = 6
_UNNAMED = "untitled"


def digest(text: str) -> str:
    """A short name for any id, which no header takes for a number."""
    return "i" + sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def safe_name(title: str) -> str:
    """The words of a title as the name of a note, without its ending."""
    printable = "".join(sign if sign.isprintable() else " " for sign in unicodedata.normalize("NFC", title))
    name = " ".join(_REFUSED.sub(" ", printable.split("\n", 1)[0]).split())[:_LONGEST]
    while len(name.encode("utf-8", "replace")) > _MOST_BYTES:
        name = name[:-1]
    name = name.encode("utf-8", "replace").decode().strip(" .~-") or _UNNAMED
    return name if is_ordinary_note(f"{name}.md") else f"note {name.lower()}"


def safe_folder(path: str) -> str:
    """A folder's path in safe names; empty for the top."""
    parts = [safe_name(part) for part in path.split("/") if part.strip(" .")][:_DEEPEST]
    return "/".join(f"{part} imported" if is_template(f"{part}/a.md") else part for part in parts)


@dataclass(slots=True)
class FreeNames:
    """Gives each thing a path that nothing else has, on any system; `root` is the vault's folder."""

    root: Path
    _taken: set[str] = field(default_factory=set)
    _there: dict[str, set[str]] = field(default_factory=dict)
    """The names in each folder, as they were when it was first asked for, in lower case."""

    def take(self, folder: str, name: str, ending: str, key: str) -> str:
        """A free path in a folder; if it is taken, the name gets some letters of the `key` behind it."""
        path = next(each for each in self._every(folder, name, ending, key) if not self._is_taken(each))
        self._taken.add(path.casefold())
        return path

    def places(self, folder: str, name: str, ending: str, key: str) -> Iterator[str]:
        """Where a thing may lie that got its path here before, up to the first place that is free."""
        return takewhile(self._is_taken, self._every(folder, name, ending, key))

    def _every(self, folder: str, name: str, ending: str, key: str) -> Iterator[str]:
        yield f"{folder}/{name}{ending}"
        yield f"{folder}/{name} {digest(key)[1:9]}{ending}"
        yield from (f"{folder}/{name} {digest(key)[1:9]} {number}{ending}" for number in count(2))

    def _is_taken(self, path: str) -> bool:
        folder, _, name = path.rpartition("/")
        if folder not in self._there:
            place = self.root / folder
            self._there[folder] = {each.name.casefold() for each in place.iterdir()} if place.is_dir() else set()
        return path.casefold() in self._taken or name.casefold() in self._there[folder]
