"""Finds the text in the vault that its owner did not write.

Four sources: the git history (text that arrived from elsewhere: `vault.provenance`), the file's own statement
(`stated_origin`), an unreviewed skill that contains the file, and tainted runs: the hash of each line that such a run
writes is stored on this machine, so that the line is also found after a move, and so is a file name that could be
read as a sentence. A run that is shown any of this text becomes tainted.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field
from pathlib import Path
from typing import TypeAlias

from agent.dataclass import dataclass
from agent.skills.loading.pins import ReviewPins, pins_of
from agent.skills.trust.untrusted import untrusted_source
from agent.tools.stated_origin import stated_origin
from agent.vault.durable import append
from agent.vault.folders import AgentFolder
from agent.vault.provenance.marks import line_marks, name_mark, new_marks
from agent.vault.store import Vault

Lines: TypeAlias = tuple[int, int] | None
"""The first and the last line of a part of a note, from 1; None: the whole note."""
Arrived: TypeAlias = Callable[[str, bytes, Lines], str]
"""Function from (path, bytes, lines) to the origin of that text in the git history; empty for the person's own."""

_SOURCE = 160
_DIGITS = 16
_HEADING = re.compile(rb"[ ]{0,3}#{1,6}[ \t]|(?:title|alias(?:es)?):")
_UNDERLINE = re.compile(rb"[ ]{0,3}(?:=+|-+)[ \t]*\r?")


@dataclass(slots=True)
class TextOrigin:
    """The lines that tainted runs have written, in an append-only file outside the vault.

    `reviewed` are the skills reviewed on this machine, `arrived` gives the origin in the git history.
    """

    file: Path
    reviewed: ReviewPins
    arrived: Arrived
    home: AgentFolder
    _known: dict[int, str] = field(default_factory=dict)
    _read: int = 0

    def remember(self, written: bytes, before: bytes, sources: Iterable[str]) -> None:
        """Record the lines of `written` that `before` does not have; durable when this returns."""
        self._refresh()
        new = [mark for mark in new_marks(written, [before]) if mark not in self._known]
        source = " ".join(", ".join(sources).split())[:_SOURCE]
        if new:
            append(self.file, "\n" + "".join(f"{_shown(mark)} {source}\n" for mark in new))

    def remember_name(self, path: str, sources: Iterable[str]) -> None:
        """Record that a tainted run gave a note this path, if it can be read as a sentence."""
        if name_mark(path) is not None:
            self.remember(path.encode("utf-8", "replace"), b"", sources)

    def named(self, *paths: str) -> str:
        """The origin of the first of these names that another person or a tainted run chose; empty if there is none."""
        self._refresh()
        telling = [path for path in paths if name_mark(path) is not None]
        found = (self._known.get(name_mark(path) or 0) or self.arrived(path, path.encode(), None) for path in telling)
        return next(filter(None, found), "")

    def source(self, path: str, data: bytes, lines: Lines = None) -> str:
        """The origin of the text in these lines; empty for the owner's text.

        The headings above them and the note's title and path count, too, because they are shown with them.
        """
        source = stated_origin(path, data) or self.named(path)
        source = source or untrusted_source(self.reviewed, self.home.name_of(path), data)
        source = source or self.arrived(path, data, lines)
        if not source:
            rows = data.split(b"\n")
            first, last = lines or (1, len(rows))
            above = list(_above(rows[: first - 1]))
            source = self.arrived(path, b"\n".join(above), None) if above else ""
            marks = [*line_marks(rows[first - 1 : last]), *line_marks(above)]
            source = source or next((self._known[mark] for mark in marks if mark in self._known), "")
        return f"{path} (from {source})" if source else ""

    def _refresh(self) -> None:
        """Read the lines that this or another process has added to the file."""
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
            if len(mark) == _DIGITS and (known := _parsed(mark)) is not None:  # a crash may have cut the line
                self._known.setdefault(known, source or "a run that had read untrusted text")


def text_origin_of(vault: Vault) -> TextOrigin:
    """This machine's record of text in the vault that its owner did not write."""
    folder = vault.private_folder
    return TextOrigin(folder / "foreign-lines.txt", pins_of(vault), vault.provenance.strangers, vault.home)


def _above(rows: Sequence[bytes]) -> Iterator[bytes]:
    """Yield the lines among `rows` that may be headings or titles."""
    for at, row in enumerate(rows):
        if _HEADING.match(row) or (at + 1 < len(rows) and _UNDERLINE.fullmatch(rows[at + 1])):
            yield row


def _shown(mark: int) -> str:
    return f"{mark & (2**64 - 1):0{_DIGITS}x}"


def _parsed(text: str) -> int | None:
    try:
        mark = int(text, 16)
    except ValueError:
        return None
    return mark - 2**64 if mark >= 2**63 else mark
