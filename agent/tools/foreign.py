"""Text in the vault that does not come from its owner: told by the note's header, or by what tainted runs have written.

A run that has read a web page may write what it likes into a note, and the next run reads that note. So each line that
a tainted run writes is remembered on this machine by its hash, wherever it is moved to, and a run that is shown it is
tainted in its turn; a short line is remembered together with those below it, and so is a name that could say more than
a name. A note that says itself where it is from (`untrusted:`, or `source:` with an address, as web clippers write it)
counts whole, also when its header cannot be read, and so does the note of a session in which such text was read, and a
skill's file that nobody here has looked at.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from agent.markdown.note import Note
from agent.skills.reviewed import Pins
from agent.skills.strange import stranger
from agent.vault.durable import append

_LEAST = 8
"""Bytes that a line must have to be told from everybody's lines."""
_TOGETHER = 8
"""Short lines that are looked at together at most."""
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]{1,20}://", re.IGNORECASE)
_SOURCE = 160
_HEADER = 64 * 1024
_IN_A_HEADER = re.compile(rb"^(?:untrusted|(source|url)):[ \t]*([^\r\n]{0,160})", re.MULTILINE | re.IGNORECASE)
_IN_A_SESSION = re.compile(rb'^%% vault-agent: taint \{[^\n]{0,80}"source": "([^\n"]{0,160})', re.MULTILINE)
_HEADING = re.compile(rb"[ ]{0,3}#{1,6}[ \t]|(?:title|alias(?:es)?):")
_UNDERLINE = re.compile(rb"[ ]{0,3}(?:=+|-+)[ \t]*\r?")
_MERE_NAME = re.compile(r"[\w .()+-]{0,48}")


@dataclass(slots=True)
class Foreign:
    """The lines that tainted runs have written, kept in a file outside the vault that only grows.

    `reviewed` are the skills that somebody here has looked at.
    """

    file: Path
    reviewed: Pins
    _known: dict[str, str] = field(default_factory=dict)
    _read: int = 0

    def remember(self, written: bytes, before: bytes, sources: Iterable[str]) -> None:
        """Note the lines of `written` that `before` does not have; durable when this returns."""
        self._refresh()
        old = set(_marks(before.split(b"\n")))
        new = [mark for mark in _marks(written.split(b"\n")) if mark and mark not in old | self._known.keys()]
        source = " ".join(", ".join(sources).split())[:_SOURCE]
        if new:
            append(self.file, "\n" + "".join(f"{mark} {source}\n" for mark in dict.fromkeys(new)))

    def remember_name(self, path: str, sources: Iterable[str]) -> None:
        """Note that a tainted run has given a note this path; one that can be nothing but a name is nobody's."""
        if not all(_MERE_NAME.fullmatch(name) for name in path.split("/")):
            self.remember(path.encode("utf-8", "replace"), b"", sources)

    def named(self, *paths: str) -> str:
        """Where the first of these paths comes from that a tainted run has given; empty for none."""
        self._refresh()
        marks = (_mark(path.encode("utf-8", "replace")) for path in paths)
        return next((self._known[mark] for mark in marks if mark in self._known), "")

    def source(self, path: str, data: bytes, lines: tuple[int, int] | None = None) -> str:
        """Where the text in these lines (inclusive, from 1; None: all) comes from; empty where it is the owner's.

        The headings above them and the note's title and path count, too: they are shown with them.
        """
        said = _said(path, data) or self.named(path) or stranger(self.reviewed, path, data)
        if said:
            return f"{path} (from {said})"
        rows = data.split(b"\n")
        first, last = lines or (1, len(rows))
        marks = [*_marks(rows[first - 1 : last]), *_marks(list(_above(rows[: first - 1])))]
        return next((f"{path} (from {self._known[mark]})" for mark in marks if mark in self._known), "")

    def _refresh(self) -> None:
        """Take in what this or another process has added."""
        try:
            with self.file.open("rb") as stream:
                stream.seek(self._read)
                added = stream.read()
        except (FileNotFoundError, IsADirectoryError):
            return
        whole = added[: added.rfind(b"\n") + 1]
        self._read += len(whole)
        for line in whole.decode("utf-8", "replace").splitlines():
            mark, _, source = line.partition(" ")
            if mark:  # a line that a crash tore is ended by the empty one that every addition begins with
                self._known.setdefault(mark, source or "a run that had read untrusted text")


def _said(path: str, data: bytes) -> str:
    if path.startswith("sessions/") and (found := _IN_A_SESSION.search(data)):
        return found[1].decode("utf-8", "replace")
    note = Note.parse(data)
    if note.problem is not None:  # a stranger's title may have broken it
        return next((said for each in _IN_A_HEADER.finditer(data[:_HEADER]) if (said := _of_header(each))), "")
    untrusted = note.strings("untrusted")
    if untrusted:
        return ", ".join(untrusted)[:_SOURCE]
    named = [text for key in ("source", "url") for text in note.strings(key)]
    return next((text[:_SOURCE] for text in named if _ADDRESS.match(text)), "")


def _of_header(found: re.Match[bytes]) -> str:
    said = found[2].decode("utf-8", "replace").strip()
    return (said or "a stranger") if found[1] is None or _ADDRESS.search(said) else ""


def _above(rows: Sequence[bytes]) -> Iterator[bytes]:
    """The lines among `rows` that may be headings or titles."""
    for at, row in enumerate(rows):
        if _HEADING.match(row) or (at + 1 < len(rows) and _UNDERLINE.fullmatch(rows[at + 1])):
            yield row


def _marks(lines: Sequence[bytes]) -> list[str]:
    """A mark for each line; a short one is told from others by those that follow it."""
    texts = [line.strip() for line in lines]
    following = [at for at, text in enumerate(texts) if text]
    marks = [""] * len(texts)
    for number, at in enumerate(following):
        text = texts[at]
        for other in following[number + 1 : number + _TOGETHER]:
            if len(text) >= _LEAST:
                break
            text += texts[other]
        marks[at] = _mark(text)
    return marks


def _mark(text: bytes) -> str:
    return sha256(text).hexdigest()[:16] if len(text) >= _LEAST else ""
