"""Text in the vault that does not come from its owner: told by the note's header, or by what tainted runs have written.

A run that has read a web page may write what it likes into a note, and the next run reads that note. So each line that
a tainted run writes is remembered on this machine by its hash, wherever it is moved to, and a run that is shown it is
tainted in its turn. A note that says itself where it is from (`untrusted:`, or `source:` with an address, as web
clippers write it) counts whole.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from agent.markdown.note import Note
from agent.tools.durable import append

_LEAST = 8
"""Characters that a line must have to be told from everybody's lines."""
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]{1,20}://", re.IGNORECASE)
_SOURCE = 160


@dataclass(slots=True)
class Foreign:
    """The lines that tainted runs have written, kept in a file outside the vault that only grows."""

    file: Path
    _known: dict[str, str] = field(default_factory=dict)
    _read: int = 0

    def remember(self, written: bytes, before: bytes, sources: Iterable[str]) -> None:
        """Note the lines of `written` that `before` does not have; durable when this returns."""
        self._refresh()
        old = set(map(_mark, before.split(b"\n")))
        new = [mark for mark in map(_mark, written.split(b"\n")) if mark and mark not in old | self._known.keys()]
        source = " ".join(", ".join(sources).split())[:_SOURCE]
        if new:
            append(self.file, "\n" + "".join(f"{mark} {source}\n" for mark in dict.fromkeys(new)))

    def source(self, path: str, data: bytes, lines: tuple[int, int] | None = None) -> str:
        """Where the text in these lines (inclusive, from 1; None: all) comes from; empty where it is the owner's."""
        said = _said(Note.parse(data))
        if said:
            return f"{path} (from {said})"
        self._refresh()
        first, last = lines or (1, data.count(b"\n") + 1)
        marks = map(_mark, data.split(b"\n")[first - 1 : last])
        return next((f"{path} (from {self._known[mark]})" for mark in marks if mark in self._known), "")

    def _refresh(self) -> None:
        """Take in what this or another process has added."""
        try:
            with self.file.open("rb") as stream:
                stream.seek(self._read)
                added = stream.read()
        except FileNotFoundError:
            return
        whole = added[: added.rfind(b"\n") + 1]
        self._read += len(whole)
        for line in whole.decode("utf-8", "replace").splitlines():
            mark, _, source = line.partition(" ")
            if mark:  # a line that a crash tore is ended by the empty one that every addition begins with
                self._known.setdefault(mark, source or "a run that had read untrusted text")


def _said(note: Note) -> str:
    untrusted = note.strings("untrusted")
    if untrusted:
        return ", ".join(untrusted)[:_SOURCE]
    named = [text for key in ("source", "url") for text in note.strings(key)]
    return next((text[:_SOURCE] for text in named if _ADDRESS.match(text)), "")


def _mark(line: bytes) -> str:
    text = line.strip()
    return sha256(text).hexdigest()[:16] if len(text) >= _LEAST else ""
