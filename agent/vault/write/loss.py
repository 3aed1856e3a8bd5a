"""Finds the notes that a change loses: most of their text is gone, and is found nowhere else in the change.

Moved text is not lost: a renamed note, an archive, a large note split into small ones. Neither is text that is
re-wrapped, ticked off or corrected: a line still exists while at least half of its pairs of neighbouring words exist.
`mass_change` has the limit.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias, TypeVar

from agent.dataclass import dataclass
from agent.markdown.note import Note
from agent.vault.worktree.paths import is_note

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]|[^\W_]+")
"""A word, or one character of a script without spaces between words."""

_Piece: TypeAlias = str | tuple[str, str]
"""A word, or two neighbouring words."""
_Part = TypeVar("_Part", str, _Piece)


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A file before and after a change (None: no file)."""

    path: str
    before: bytes | None
    after: bytes | None


Rewrites: TypeAlias = Callable[[], Iterable[Rewrite]]
"""All files of a change, read again at each call, because they may be too many for memory."""


def lost_notes(rewrites: Rewrites) -> frozenset[str]:
    """The paths of the notes that a change loses.

    A note is lost if more than half of its lines with text are gone, or more than half of its text by characters: a
    heading that stays does not make up for the paragraph below it. Frontmatter counts only if a note with nothing else
    is deleted. A note without text cannot be lost.
    """
    damaged = [each for rewrite in rewrites() if (each := _measure(rewrite)) is not None and each.is_lost([])]
    if not damaged:
        return frozenset()
    lines, pieces = Counter[str](), Counter[_Piece]()
    for rewrite in rewrites():
        added = _added(rewrite, _lines)
        lines.update(added)
        if added:
            pieces.update(_added(rewrite, _pieces))
    found = [_same(each.gone, lines, pieces) for each in damaged]  # exact matches first, for all files
    for each, same in zip(damaged, found, strict=True):
        same += _found(list((Counter(each.gone) - Counter(same)).elements()), pieces)
    return frozenset(each.path for each, same in zip(damaged, found, strict=True) if each.is_lost(same))


def removes_text(rewrite: Rewrite) -> bool:
    """True if an exact line of a note is missing after the change: a quick check before anything is measured."""
    if rewrite.before is None or not is_note(rewrite.path):
        return False
    return bool(Counter(rewrite.before.splitlines()) - Counter((rewrite.after or b"").splitlines()))


@dataclass(frozen=True, slots=True)
class _Damage:
    """The missing part of a note: `gone` lines, out of `lines` with `size` characters."""

    path: str
    lines: int
    size: int
    gone: tuple[str, ...]

    def is_lost(self, found: Sequence[str]) -> bool:
        """True if most of the note is gone, given the lines of it that were `found` elsewhere."""
        lines = len(self.gone) - len(found)
        size = sum(map(len, self.gone)) - sum(map(len, found))
        return 2 * lines > self.lines or 2 * size > self.size


def _measure(rewrite: Rewrite) -> _Damage | None:
    """The damage to a note; None if there is none, and for files that are not notes."""
    if rewrite.before is None or not is_note(rewrite.path):
        return None
    lines = _lines(_body(rewrite.before))
    if not lines and rewrite.after is None:
        lines = _lines(_decoded(rewrite.before))
    after = "" if rewrite.after is None else _body(rewrite.after)
    left = Counter(_lines(after))
    changed = []
    for line in lines:
        if left[line]:
            left[line] -= 1
        else:
            changed.append(line)
    if not changed:
        return None
    rest = Counter(_pieces("\n".join(left.elements())))
    found = Counter(_found(changed, rest))
    gone = []
    for line in changed:
        if found[line]:
            found[line] -= 1
        else:
            gone.append(line)
    return _Damage(rewrite.path, len(lines), sum(map(len, lines)), tuple(gone)) if gone else None


def _found(lines: Iterable[str], pool: Counter[_Piece]) -> list[str]:
    """The lines of which at least half the pieces are in `pool`; the pieces of each are removed from it."""
    if not pool:
        return []
    found = []
    for line in lines:
        wanted = Counter(_of_line(line))
        there = wanted & pool
        if 2 * there.total() >= wanted.total():
            pool.subtract(there)
            found.append(line)
    return found


def _same(gone: Iterable[str], lines: Counter[str], pieces: Counter[_Piece]) -> list[str]:
    """The lines that are among `lines`; each is removed there, and its pieces from `pieces`."""
    found = []
    for line in gone:
        if lines[line] > 0:
            lines[line] -= 1
            pieces.subtract(_of_line(line))
            found.append(line)
    return found


def _added(rewrite: Rewrite, parts: Callable[[str], Iterable[_Part]]) -> Counter[_Part]:
    """The parts of a file's text that a change adds."""
    if rewrite.after is None:
        return Counter()
    after = Counter(parts(_decoded(rewrite.after)))
    return after if rewrite.before is None else after - Counter(parts(_decoded(rewrite.before)))


def _pieces(text: str) -> Iterator[_Piece]:
    """All words and pairs of words, across line ends, and a substitute for each line without words."""
    words = _words(text)
    yield from words
    yield from zip(words, words[1:], strict=False)
    yield from (line for line in _lines(text) if not _WORD.search(line))


def _of_line(line: str) -> Sequence[_Piece]:
    """The pieces that identify a line: its pairs of words, or everything if it has no pair."""
    words = _words(line)
    return list(zip(words, words[1:], strict=False)) or words or [line]


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _lines(text: str) -> list[str]:
    """The lines with text, without surrounding white space."""
    return [line for each in text.splitlines() if (line := each.strip())]


def _body(data: bytes) -> str:
    return Note.parse(data).body


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "replace")
