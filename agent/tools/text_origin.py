"""Finds the text in the vault that its owner did not write.

Three sources: the record of the vault (text that arrived from elsewhere, and lines that tainted runs have written:
`vault.provenance`), the file's own statement (`stated_origin`), and an unreviewed skill that contains the file. A run
that is shown any of this text becomes tainted. What a tainted run writes is recorded before it is written, line by
line, so that it is also found after a move, and so is a file name that could be read as a sentence.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from typing import TypeAlias

from agent.dataclass import dataclass
from agent.skills.loading.pins import ReviewPins, pins_of
from agent.skills.trust.untrusted import untrusted_source
from agent.tools.stated_origin import stated_origin
from agent.vault.provenance.marks import name_mark, new_marks
from agent.vault.store import Vault

Lines: TypeAlias = tuple[int, int] | None
"""The first and the last line of a part of a note, from 1; None: the whole note."""

_TEXT = (".md", ".txt", ".canvas", ".base")
"""Files of which the lines are those that are shown."""
_FROM = re.compile(r".* \(from (.*)\)", re.DOTALL)
_HEADING = re.compile(rb"[ ]{0,3}#{1,6}[ \t]|(?:title|alias(?:es)?):")
_UNDERLINE = re.compile(rb"[ ]{0,3}(?:=+|-+)[ \t]*\r?")


@dataclass(frozen=True, slots=True)
class TextOrigin:
    """The origin of the text in one vault; `reviewed` are the skills reviewed on this machine, `mine` the files
    beside notes that the owner has written, as in `Options.mine`."""

    vault: Vault
    reviewed: ReviewPins
    mine: Sequence[str] = ()

    def remember(self, run: str, written: bytes, before: bytes, sources: Iterable[str]) -> None:
        """Record the lines of `written` that `before` does not have and that this run is about to write; durable when
        this returns."""
        self.vault.provenance.foreign.add_lines(run, new_marks(written, [before]), map(without_path, sources))

    def remember_name(self, run: str, path: str, sources: Iterable[str]) -> None:
        """Record that a tainted run gave a note this path, if it can be read as a sentence."""
        if name_mark(path) is not None:
            self.remember(run, path.encode("utf-8", "replace"), b"", sources)

    def named(self, *paths: str) -> str:
        """The origin of the first of these names that another person or a tainted run chose; empty if there is none."""
        telling = [path for path in paths if name_mark(path) is not None]
        found = (self.vault.provenance.strangers(path, path.encode("utf-8", "replace")) for path in telling)
        return next(filter(None, found), "")

    def source(self, path: str, data: bytes, lines: Lines = None) -> str:
        """The origin of the text in these lines; empty for the owner's text.

        The headings above them and the note's title and path count, too, because they are shown with them. The lines of
        an attachment are those of its text, not of the file: the file has one origin.
        """
        provenance = self.vault.provenance
        is_note = path.endswith(_TEXT)
        lines = lines if is_note else None
        source = "" if not is_note and self._is_mine(path) else stated_origin(path, data)
        source = source or self.named(path)
        source = source or untrusted_source(self.reviewed, self.vault.home.name_of(path), data)
        source = source or provenance.strangers(path, data, lines)
        if not source and lines is not None:
            above = list(_above(data.split(b"\n")[: lines[0] - 1]))
            source = provenance.strangers(path, b"\n".join(above)) if above else ""
        return f"{path} (from {source})" if source else ""

    def _is_mine(self, path: str) -> bool:
        """True if the owner has named a file, or a folder that it is in, as their own writing."""
        return any(path.startswith(f"{each.rstrip('/')}/") or fnmatchcase(path, each) for each in self.mine)


def without_path(source: str) -> str:
    """An origin as `TextOrigin.source` gives it, without the name of the note: what is kept about a text outlives the
    note, and must not tell what it was about when that is forgotten."""
    found = _FROM.fullmatch(source)
    return found[1] if found else source


def text_origin_of(vault: Vault) -> TextOrigin:
    """The origin of the text in a vault, as this machine knows it."""
    return TextOrigin(vault, pins_of(vault), vault.options.mine)


def _above(rows: Sequence[bytes]) -> Iterator[bytes]:
    """Yield the lines among `rows` that may be headings or titles."""
    for at, row in enumerate(rows):
        if _HEADING.match(row) or (at + 1 < len(rows) and _UNDERLINE.fullmatch(rows[at + 1])):
            yield row
