"""The merge of two headers, key by key; the text of a key that one side left alone stays byte for byte."""

import re
from collections.abc import Sequence
from functools import cached_property

from agent.dataclass import dataclass
from agent.errors import BadNote
from agent.markdown import header_edits, note
from agent.markdown.merging.order import merge_order
from agent.markdown.merging.values import merge_values
from agent.markdown.merging.words import pick
from agent.markdown.note import Parts
from agent.markdown.yaml_read import HeaderEntry
from agent.markdown.yaml_write import Value, same

_COMMENT = re.compile(r"(?:^|[ \t])#.*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Segment:
    """One key of a header: the comments above it, its lines, and its value."""

    lead: str
    text: str
    value: Value

    @property
    def lines(self) -> str:
        """All of its lines."""
        return self.lead + self.text


@dataclass(frozen=True)
class Header:
    """A header by key. `segments` is None if it cannot be parsed, or if two keys share a line."""

    parts: Parts

    @property
    def text(self) -> str:
        return self.parts.header.decode("utf-8", "surrogateescape")

    @cached_property
    def is_readable(self) -> bool:
        """True if the header can be parsed."""
        return self._entries is not None

    @cached_property
    def _entries(self) -> tuple[HeaderEntry, ...] | None:
        try:
            return note.entries(self.parts)
        except BadNote:
            return None

    @cached_property
    def segments(self) -> dict[str, Segment] | None:
        if self._entries is None:
            return None
        text = self.text
        found: dict[str, Segment] = {}
        end = 0
        for entry in self._entries:
            try:
                header_edits.require_own_lines(text, entry)
            except BadNote:
                return None
            if entry.start < end:
                return None
            found[entry.key] = Segment(text[end : entry.start], text[entry.start : entry.end], entry.value)
            end = entry.end
        return found

    @property
    def tail(self) -> str:
        """The text below the last key."""
        return self.text[sum(len(each.lines) for each in (self.segments or {}).values()) :]


@dataclass(frozen=True, slots=True)
class MergedHeader:
    """The parts of the merged note above its body. `is_conflict`: something of the second side is not in it."""

    opening: bytes
    header: bytes
    closing: bytes
    is_conflict: bool = False


def merge_headers(base: Header, first: Header, second: Header) -> MergedHeader:
    """The merged header; `first` wins where they contradict each other, and must be readable if one of them is."""
    b, f, s = (each.parts for each in (base, first, second))
    one = pick(*((bool(parts.opening), parts.header) for parts in (b, f, s)))
    if one:
        side = (f, s)[one - 1]
        return _framed(b, f, s, side.header, is_conflict=False) if side.opening else MergedHeader(b"", b"", b"")
    whole = MergedHeader(f.opening, f.header, f.closing, True)
    if first.segments is None or second.segments is None:
        return whole
    keys, tail, is_conflict = _merge_segments(base, first, second)
    merged = _framed(b, f, s, "".join((*keys, tail)).encode("utf-8", "surrogateescape"), is_conflict=is_conflict)
    parts = Parts(b"", merged.opening, merged.header, merged.closing, b"")
    found = Header(parts).segments
    # Each key must be the one that was merged: the lines of one may become part of another, as blank lines below a text
    # that keeps its line ends (`|+`) do.
    if note.split(parts.join()) != parts or found is None or keys != [each.lines for each in found.values()]:
        return whole
    return merged


def _framed(base: Parts, first: Parts, second: Parts, header: bytes, *, is_conflict: bool) -> MergedHeader:
    """The header between the lines above and below it."""
    lines = []
    for b, f, s in ((base.opening, first.opening, second.opening), (base.closing, first.closing, second.closing)):
        one = pick(b, f, s) if f and s else 1 if f else 2
        lines.append(f if one == 1 else s if one == 2 else max(f, s))
    return MergedHeader(lines[0], header, lines[1], is_conflict)


def _merge_segments(base: Header, first: Header, second: Header) -> tuple[list[str], str, bool]:
    """The lines of each merged key, those below them, and whether the sides contradict each other."""
    b, f, s = base.segments or {}, first.segments or {}, second.segments or {}
    merged: dict[str, str] = {}
    is_conflict = False
    for key in f.keys() | s.keys():
        old, mine, other = b.get(key), f.get(key), s.get(key)
        if mine and other:
            text, bad = _merge_entry(key, old, mine, other)
            merged[key] = _merge_comments(old.lead if old else "", mine.lead, other.lead) + text
            is_conflict = is_conflict or bad
            continue
        side = mine or other
        assert side is not None
        if old is None or not (same(old.value, side.value) and old.text == side.text):
            merged[key] = side.lines
    order = merge_order(list(b), list(f), list(s), merged, lambda one, other: _joined(one, other, merged))
    return [merged[key] for key in order], _merge_comments(base.tail, first.tail, second.tail), is_conflict


def _joined(one: list[str], other: list[str], merged: dict[str, str]) -> list[str]:
    return sum(sorted([one, other], key=lambda run: [merged[key] for key in run]), [])


def _merge_entry(key: str, base: Segment | None, first: Segment, second: Segment) -> tuple[str, bool]:
    """The merged lines of a key that both sides have, and whether they contradict each other."""
    one = pick(base.text if base else "", first.text, second.text)
    if one:
        return (first.text, second.text)[one - 1], False
    found = merge_values(key, base.value if base else None, first.value, second.value)
    old = base.text if base else ""
    written = [side.text for side in (first, second) if same(side.value, found.value)]
    written = sorted(written) if len(written) > 1 else written
    for text in (*written, _merge_comments(old, first.text, second.text), _rewritten(first.text, found.value)):
        if _says(text, key, found.value):
            is_lost = set(_COMMENT.findall(first.text + second.text)) - set(_COMMENT.findall(old + text))
            return text, found.is_conflict or bool(is_lost)
    return first.text, True


def _merge_comments(base: str, first: str, second: str) -> str:
    """The lines of both sides, without those that one of them took out."""
    one = pick(base, first, second)
    if one:
        return (first, second)[one - 1]
    b, f, s = (list(dict.fromkeys(_lines(text))) for text in (base, first, second))
    alive = {line for line in (*f, *s) if (line in f and line in s) or line not in b}
    order = merge_order(b, f, s, alive, lambda mine, other: sum(sorted([mine, other]), []))
    return "".join(order)


def _lines(text: str) -> Sequence[str]:
    return [f"{line}\n" for line in text.removesuffix("\n").split("\n")] if text else []


def _says(text: str, key: str, value: Value) -> bool:
    """True if the lines are one key with this value."""
    try:
        found = note.entries(note.split(b"---\n" + text.encode() + b"---\n"))
    except BadNote:
        return False
    return len(found) == 1 and found[0].key == key and same(found[0].value, value)


def _rewritten(text: str, value: Value) -> str:
    """A key's lines with another value; empty if they cannot be written."""
    data = b"---\n" + text.encode() + b"---\n"
    try:
        (entry,) = note.entries(note.split(data))
        return note.split(header_edits.set_key(data, entry.key, value)).header.decode()
    except BadNote:
        return ""
