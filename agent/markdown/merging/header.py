"""The merge of two headers, key by key; the text of a key that one side left alone stays byte for byte.

The merge of header values: lists as sets, mappings by key, times and counters by what their key means.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from functools import cached_property
from typing import TypeGuard

from agent.dataclass import dataclass
from agent.errors import BadNote
from agent.markdown import header_edits, note
from agent.markdown.merging.order import merge_order
from agent.markdown.merging.words import pick
from agent.markdown.note import Parts
from agent.markdown.yaml_read import HeaderEntry
from agent.markdown.yaml_write import Value, is_list, same

EARLIEST = frozenset({"created", "created_at", "date created", "since"})
"""Keys whose time never moves forward: two machines that made the same note made it at the earlier one."""
LATEST = frozenset(
    {"said", "updated", "updated_at", "modified", "date modified", "last_used", "last_run", "last_seen", "last_update",
     "last_updated", "reviewed"}
)  # fmt: skip
"""Keys whose time says when something was last so."""
COUNTERS = frozenset({"times", "uses", "count", "usage_count", "success_count", "failure_count", "runs", "samples"})
"""Whole numbers that both sides count on: what each side added is added."""


@dataclass(frozen=True, slots=True)
class MergedValue:
    """`is_conflict`: the value is the first side's, which the second contradicts."""

    value: Value
    is_conflict: bool = False


def merge_values(key: str, base: Value, first: Value, second: Value) -> MergedValue:
    """The value of a key that both sides have; `base` is None where the base has no such key."""
    if same(first, second) or same(base, second):
        return MergedValue(first)
    if same(base, first):
        return MergedValue(second)
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return _merge_mappings(base if isinstance(base, Mapping) else {}, first, second)
    if is_list(first) and is_list(second) and not any(map(is_list, (*first, *second))):  # `[[a]]` is a link
        before = base if is_list(base) else () if base is None or isinstance(base, Mapping) else (base,)
        return MergedValue(merge_lists(before, first, second))
    ordered = _by_meaning(key, base, first, second)
    return MergedValue(first, True) if ordered is None else MergedValue(ordered)


def merge_lists(base: Sequence[Value], first: Sequence[Value], second: Sequence[Value]) -> Sequence[Value]:
    """The items of both sides once each, without those that one of them took out."""
    sides = [_numbered(items) for items in (base, first, second)]
    b, f, s = sides
    alive = {mark for mark in f | s if (mark in f and mark in s) or mark not in b}
    order = merge_order(list(b), list(f), list(s), alive, lambda one, other: sum(sorted([one, other]), []))
    return tuple((f | s)[mark] for mark in order)


def _numbered(items: Sequence[Value]) -> dict[str, Value]:
    """The items by a text that tells them apart; equal items get numbers."""
    found: dict[str, Value] = {}
    for item in items:
        mark, number = f"{type(item).__name__} {item!r}", 0
        while f"{mark} {number}" in found:
            number += 1
        found[f"{mark} {number}"] = item
    return found


def _merge_mappings(base: Mapping[str, Value], first: Mapping[str, Value], second: Mapping[str, Value]) -> MergedValue:
    merged: dict[str, Value] = {}
    is_conflict = False
    for key in first.keys() | second.keys():
        if key in first and key in second:
            found = merge_values(key, base.get(key), first[key], second[key])
            merged[key], is_conflict = found.value, is_conflict or found.is_conflict
        else:
            side = first if key in first else second
            if key not in base or not same(base[key], side[key]):
                merged[key] = side[key]
    order = merge_order(list(base), list(first), list(second), merged, lambda one, other: sum(sorted([one, other]), []))
    return MergedValue({key: merged[key] for key in order}, is_conflict)


def _by_meaning(key: str, base: Value, first: Value, second: Value) -> Value:
    """The later or earlier of two times, or the sum of what was counted; None for a key of no such meaning."""
    name = key.casefold()
    if name in COUNTERS and is_count(first) and is_count(second):
        return max(first, second, first + second - (base if is_count(base) else 0))
    if name in EARLIEST | LATEST:
        times = [(_moment(value), str(value), value) for value in (first, second)]
        if all(time is not None for time, _, _ in times):
            chosen = min if name in EARLIEST else max
            return chosen(times, key=lambda each: (each[0], each[1]))[2]
    return None


def is_count(value: Value) -> TypeGuard[int]:
    """True for a whole number that is no boolean."""
    return isinstance(value, int) and not isinstance(value, bool)


def _moment(value: Value) -> datetime | None:
    """The moment of a date or time; one without a zone counts as UTC."""
    if isinstance(value, datetime):
        return value if value.tzinfo else value.replace(tzinfo=UTC)
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=UTC)
    return None


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
        if old is None or old.lines != side.lines:  # a comment above it counts, too
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
