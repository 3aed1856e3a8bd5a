"""Three-way merge of two versions of a note that never drops a line, writes no markers and makes no broken header.

What both sides say goes into one note. Where they contradict each other, one version wins by its content alone, so that
every machine decides the same, and the other is returned whole: the caller keeps it beside the note. `strict`
is the merge of the write protocol and of undo, which refuses instead.
"""

import re
from collections import Counter

from agent.dataclass import dataclass
from agent.markdown.merging.body import merge_bodies, weight
from agent.markdown.merging.header import Header, merge_headers
from agent.markdown.merging.words import pick, words
from agent.markdown.note import BOM, Parts, split

_NUMBER = re.compile(r"^[0-9]{1,9}(?=[.)] )")
_TICK = re.compile(r"^([-*+]) \[.\]")
_BLOCK_ID = re.compile(r"(?:^|[ \t])\^([A-Za-z0-9-]+)[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class MergedNote:
    """`data` is the merged note. `other` is a whole version, some of whose text is not in `data`; None if all is."""

    data: bytes
    other: bytes | None = None


@dataclass(frozen=True, slots=True)
class _Version:
    """A version of a note; `parts` have line feeds only, if all three versions use one line ending each."""

    data: bytes
    newline: str
    parts: Parts
    header: Header

    @property
    def body(self) -> str:
        return self.parts.body.decode("utf-8")


def merge_notes(base: bytes | None, ours: bytes, theirs: bytes, *, is_log: bool = False) -> MergedNote:
    """The note with the changes of both sides, the same for `ours` and `theirs` exchanged.

    `base` is None if both sides made the note. `is_log`: both only add to the note, also if both made it.
    """
    if ours == theirs or theirs == base:
        return MergedNote(ours)
    if ours == base:
        return MergedNote(theirs)
    all_three = (base or b"", ours, theirs)
    if not all(map(_is_text, all_three)):
        return _one_of(ours, theirs)
    newlines = [_newline(data) for data in all_three]
    old, *sides = [
        _version(data, newline if all(newlines) else "") for data, newline in zip(all_three, newlines, strict=True)
    ]
    is_judged = len({version.parts.header for version in (old, *sides)}) == 3
    first, second = sorted(sides, key=lambda version: _weight(version, is_judged=is_judged), reverse=True)
    if is_judged and not first.header.is_readable:
        return MergedNote(first.data, second.data)
    if not is_log and not base and not _have_much_in_common(first.body, second.body):
        return MergedNote(first.data, second.data)
    return _merge(old, first, second)


def _merge(old: _Version, first: _Version, second: _Version) -> MergedNote:
    header = merge_headers(old.header, first.header, second.header)
    body = merge_bodies(old.body, first.body, second.body)
    bom = pick(old.parts.bom, first.parts.bom, second.parts.bom)
    parts = Parts(
        (first, second)[bom - 1].parts.bom if bom else BOM,
        header.opening,
        header.header,
        header.closing,
        body.text.encode("utf-8"),
    )
    is_conflict = header.is_conflict or body.is_conflict
    if not _is_sound(parts, body.text, old, first, second, is_conflict=is_conflict):
        return MergedNote(first.data, second.data)
    newline = pick(old.newline, first.newline, second.newline)
    data = parts.join()
    if ((first, second)[newline - 1].newline if newline else "\n") == "\r\n":
        data = data.replace(b"\n", b"\r\n")
    if is_conflict and data == second.data:
        return MergedNote(data, first.data)
    return MergedNote(data, second.data if is_conflict else None)


def _one_of(ours: bytes, theirs: bytes) -> MergedNote:
    """One whole version and the other, for bytes that are no text."""
    first, second = sorted((ours, theirs), key=lambda data: (len(data), data), reverse=True)
    return MergedNote(first, second)


def _is_text(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return b"\0" not in data


def _newline(data: bytes) -> str:
    """The line ending of a text; empty if it has several."""
    if b"\r" not in data:
        return "\n"
    count = data.count(b"\r\n")
    return "\r\n" if count == data.count(b"\r") == data.count(b"\n") else ""


def _version(data: bytes, newline: str) -> _Version:
    parts = split(data.replace(b"\r\n", b"\n") if newline == "\r\n" else data)
    return _Version(data, newline, parts, Header(parts))


def _weight(version: _Version, *, is_judged: bool) -> tuple[bool, tuple[int, str], bytes]:
    """The version with the greater weight wins a contradiction: by a readable header (`is_judged`), then by length."""
    return not is_judged or version.header.is_readable, weight(version.body), version.data


def _have_much_in_common(one: str, other: str) -> bool:
    """True if two notes that were made apart look like one: a third of the lines of the shorter is in the other."""
    lines = [{line.strip() for line in text.split("\n")} - {""} for text in (one, other)]
    return 3 * len(lines[0] & lines[1]) >= min(map(len, lines))


def _is_sound(parts: Parts, body: str, old: _Version, first: _Version, second: _Version, *, is_conflict: bool) -> bool:
    """True if the merged note has a readable header, no block id twice, and every line that it must have."""
    if split(parts.join()) != parts:
        return False
    if "^" in body and _twice(body) - _twice(first.body) - _twice(second.body):
        return False
    lines = [_counted(text) for text in (old.body, first.body, second.body)]
    wanted = set(lines[1]) - set(lines[0])
    if not is_conflict:
        wanted |= set(lines[2]) - set(lines[0])
        wanted |= {line for line, count in lines[0].items() if lines[1][line] + lines[2][line] > count}
    missing = wanted.difference(_counted(body))
    if not missing:
        return True
    if not old.body.strip():  # both made the note: nobody changed a line, and only a tick may differ
        return {_TICK.sub(r"\1", line) for line in missing} <= {_TICK.sub(r"\1", line) for line in _counted(body)}
    present, before = set(words(body)), set(words(old.body))
    return all(word in present for line in missing for word in words(line) if word not in before)


def _twice(body: str) -> set[str]:
    """The block ids that stand more than once in a body."""
    return {name for name, count in Counter(_BLOCK_ID.findall(body)).items() if count > 1}


def _counted(text: str) -> Counter[str]:
    """The lines of a text that are not blank, without indentation and the numbers of lists."""
    return Counter(_NUMBER.sub("", line) for each in text.split("\n") if (line := each.strip()))
