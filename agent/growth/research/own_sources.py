"""What the person has themselves, as sources: the notes and memories of the vault, and a folder on this machine, such
as the clone of a repository.

Only a person names a folder, on the command line; it is read, never changed, and nothing in it is run. Links are not
followed; hidden files, what other programs made or installed, and files that look like keys are left out.
"""

import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import field
from itertools import islice
from math import log
from pathlib import Path
from stat import S_ISREG

from agent.clock import SystemClock
from agent.dataclass import dataclass
from agent.errors import BadPath, Interrupted, ToolFailed, UserError
from agent.growth.research.reading import Reading, words_of
from agent.index.query import Hit
from agent.llm.messages import Cancelled
from agent.markdown.note import Note
from agent.memory.entry import parse_entry
from agent.runs.recall_source import RecallSource
from agent.vault.folders import INBOX, RESEARCH, instructs
from agent.vault.worktree.files import Files

NAME = "vault"
_HEADING = re.compile(r"^#{1,6} .*$", re.MULTILINE)
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_LEFT_OUT = frozenset((INBOX, RESEARCH))
"""Folders whose notes say what is to be done, or what was found before, not what is known. The agent's own notes are
not found at all: a report that rests on an earlier one would confirm itself."""
_WHOLE = 8_000
"""Characters up to which a note is read whole; of a longer one, what the search has found in it."""
_SKIPPED = frozenset(
    {"node_modules", "venv", "env", "target", "dist", "build", "out", "vendor", "__pycache__", "site-packages"}
    | {"obj", "coverage", "third_party", "bower_components", "deps", "pods"}
)
"""Folders with what was installed, built, or copied from elsewhere."""
_KEYS = re.compile(
    r"id_(?:rsa|dsa|ecdsa|ed25519)|.*(?:credential|passwd|private[-_]?key).*|secrets?\.\w+"
    r"|.*\.(?:pem|key|p12|pfx|jks|kdbx|keystore)",
    re.IGNORECASE,
)
_LARGEST = 256 << 10
"""Bytes of a file that is read."""
_FILES, _SEARCHED = 20_000, 3_000
"""The most files that are listed, and that are looked into."""
_DEEPEST = 24
_BINARY, _LISTED = 4096, 300
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class VaultSource:
    """The notes of one vault that count as knowledge about a topic."""

    recall: RecallSource
    topic: str
    name: str = NAME
    is_public: bool = False

    def search(self, query: str, most: int, cancelled: Cancelled) -> Sequence[Reading]:
        """The notes with a word of the query or the topic in what was found, each with its text."""
        plain = f"{self.topic} {query}" if words_of(query).isdisjoint(words_of(self.topic)) else query
        words = words_of(query) | words_of(self.topic)
        found: dict[str, list[Hit]] = {}
        for hit in self.recall.search(plain.replace(":", " ").replace("-", " "), most * 2).hits:  # no filters
            if words & words_of(" ".join((hit.title, *hit.headings, hit.passage))):
                found.setdefault(hit.path, []).append(hit)
        paths = (path for path in found if self.recall.workspace.vault.home.row(path).path not in _LEFT_OUT)
        readings = (self._reading(path, found[path], words) for path in paths if not instructs(path))
        return [each for each in readings if each is not None][:most]

    def read(self, found: Reading, cancelled: Cancelled) -> Reading:
        """The result as it is: the search has read it."""
        return found

    def _reading(self, path: str, hits: Sequence[Hit], words: frozenset[str]) -> Reading | None:
        """The text of a note; None if it does not count as knowledge about the topic."""
        vault = self.recall.workspace.vault
        data, row, title = vault.read(path), vault.home.row(path), hits[0].title
        if data is None:
            return None
        note = Note.parse(data if hits[0].is_of_note else b"")  # of an attachment, what was found of its text
        is_whole = hits[0].is_of_note and not row.logs and len(note.body) <= _WHOLE
        text = note.body.strip() if is_whole else "\n\n".join(hit.passage for hit in hits).strip()
        if words.isdisjoint(words_of(f"{title} {text}")) or not _HEADING.sub("", text).strip() or _is_superseded(note):
            return None
        origin = self.recall.foreign.source(path, data)
        return Reading(path, title, date=_day(note), authority="own", text=text, origin=origin)


def _is_superseded(note: Note) -> bool:
    entry = parse_entry(note.data)
    return entry is not None and bool(entry.superseded_by)


def _day(note: Note) -> str:
    """The day that the note's header gives for it; empty for none."""
    days = (_DAY.match(str(note.header.get(key, ""))) for key in ("created", "date"))
    return next((found[0] for found in days if found), "")


@dataclass(frozen=True, slots=True)
class FolderSource:
    """One folder; its files are named by their paths in it."""

    root: Path
    is_public: bool = False
    _listed: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.root.name or str(self.root)

    def files(self, cancelled: Cancelled) -> Sequence[str]:
        """The files that may be read, in order; the same in each call."""
        if not self._listed:
            names = islice(self._walk(cancelled), _FILES)
            self._listed.extend(sorted(names, key=lambda name: (name.count("/"), name.casefold())))
        return self._listed

    def structure(self, title: str, cancelled: Cancelled) -> Reading:
        """The structure of the folder as a text: how many files of which kind each of its folders has."""
        folders: dict[str, Counter[str]] = defaultdict(Counter)
        files = self.files(cancelled)
        for name in files:
            *parents, file = name.split("/")
            folders["/".join(parents[:2]) or "."][file.rpartition(".")[2]] += 1
        top = ", ".join(each for each in files if "/" not in each)
        rows = [f"{len(files)} files that can be read. At the top: {top}"]
        for folder, held in sorted(folders.items())[:_LISTED]:
            kinds = ", ".join(f"{count} {kind}" for kind, count in held.most_common(4))
            rows.append(f"{folder}/: {held.total()} files ({kinds})")
        return Reading(".", title, authority="code", text="\n".join(rows), origin=self.name)

    def search(self, query: str, most: int, cancelled: Cancelled) -> Sequence[Reading]:
        """The files with the most of the query's words, rare words first, each with its text."""
        words = words_of(query)
        held: dict[str, frozenset[str]] = {}
        for name in self.files(cancelled)[:_SEARCHED]:
            if cancelled():
                raise Interrupted("the search was cancelled")
            with suppress(ToolFailed):
                held[name] = words & words_of(f"{self._text(name)} {name}")
        count = Counter(word for each in held.values() for word in each)
        scores = {name: sum(log(1 + len(held) / count[word]) for word in each) for name, each in held.items() if each}
        best = sorted(scores, key=lambda name: -scores[name])
        return [self.read(Reading(name), cancelled) for name in best[:most]]

    def read(self, found: Reading, cancelled: Cancelled) -> Reading:
        """The text of one file; nobody knows who wrote what lies in a folder, so it counts as a stranger's."""
        name = found.address
        return Reading(name, name, authority="code", text=self._text(name), origin=f"the folder {self.name}")

    def _walk(self, cancelled: Cancelled) -> Iterator[str]:
        for folder, folders, files in os.walk(self.root):
            if cancelled():
                raise Interrupted("the search was cancelled")
            place = Path(folder).relative_to(self.root)
            is_deep = len(place.parts) >= _DEEPEST
            folders[:] = [] if is_deep else [each for each in folders if not _is_skipped(folder, each)]
            yield from ((place / each).as_posix() for each in files if _is_plain(Path(folder, each)))

    def _text(self, name: str) -> str:
        """The text of a file, found by descending from the folder without following a link."""
        try:
            with Files(self.root, SystemClock()).folder(name) as (folder, last):
                data = _read(os.open(last, _FILE, dir_fd=folder))
        except (OSError, BadPath) as error:
            raise ToolFailed(f"{name} cannot be read") from error
        if not data.strip() or b"\0" in data[:_BINARY]:
            raise ToolFailed(f"{name} is no text")
        return data.decode("utf-8", "replace")


def named_folder(path: str) -> FolderSource:
    """The folder that a person names; raises `UserError` for none."""
    found = Path(os.path.abspath(os.path.expanduser(path)))  # noqa: PTH100, PTH111 - a link is named as it is typed
    if not found.is_dir():
        raise UserError("{path} is no folder", hint="name a folder on this machine, such as a clone", path=path)
    return FolderSource(found)


def _is_skipped(parent: str, name: str) -> bool:
    return name.startswith(".") or name.casefold() in _SKIPPED or Path(parent, name).is_symlink()


def _is_plain(path: Path) -> bool:
    """True for a file that may be read, and is neither hidden, nor large, nor a key by its name."""
    if path.name.startswith(".") or _KEYS.fullmatch(path.name):
        return False
    with suppress(OSError):
        found = path.lstat()
        return S_ISREG(found.st_mode) and 0 < found.st_size <= _LARGEST
    return False


def _read(descriptor: int) -> bytes:
    """The begin of an open file; nothing of what is no plain file."""
    with os.fdopen(descriptor, "rb") as file:
        return file.read(_LARGEST) if S_ISREG(os.fstat(descriptor).st_mode) else b""
