"""Three-way merge of two versions of a note: the header key by key, the body line by line.

A line merge of the header would conflict when two people add adjacent keys, and could duplicate a key. The caller
passes the line merge (the vault uses git's) and handles a note that cannot be merged (None).

A three-way merge of lines that accepts changes in adjacent lines.

git's own merge reports them as a conflict. An undo can apply both: there is only one possible result.
Overlapping changes, and two different insertions at one point, are refused.
"""

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from itertools import pairwise
from os.path import commonprefix
from typing import Literal, TypeAlias, TypeVar

from agent.dataclass import dataclass
from agent.errors import BadNote
from agent.markdown import header_edits, note
from agent.markdown.note import Parts
from agent.markdown.yaml_write import Value, is_list, same

LIMIT = 2000
"""The maximum number of differing lines: difflib's cost grows with their square."""

_TELLING = 12
"""The least bytes of a part that may be found again elsewhere: shorter ones, as a box, stand in many places."""
_Hunk = tuple[int, int, tuple[bytes, ...]]


def merge_touching(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """The lines with both sides' changes; None if they overlap or more than `LIMIT` lines differ."""
    sides = [_lines(data) for data in (base, ours, theirs)]
    head = len(commonprefix(sides))
    tail = len(commonprefix([side[head:][::-1] for side in sides]))
    old, mine, other = (side[head : len(side) - tail] for side in sides)
    if max(len(old), len(mine), len(other)) > LIMIT:
        return None
    hunks = sorted({*_hunks(old, mine), *_hunks(old, other)})
    if any(_overlap(one, next_one) for one, next_one in pairwise(hunks)):
        return None
    merged = sides[0][:head] + _applied(old, hunks) + (sides[0][len(sides[0]) - tail :] if tail else [])
    return b"".join(merged) if all(line.endswith(b"\n") for line in merged[:-1]) else None


def with_parts_taken_back(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """`ours`, with each part in which `base` differs from `theirs` as it is there, if that part stands in it unchanged,
    together and once; None if one does not, or was only taken out.

    This is how a section is taken out of a log of many authors: as they write the same headings and boxes again and
    again, a comparison of whole texts pairs lines of different sections, and sees conflicts.
    """
    more, mine, fewer = _lines(base), _lines(ours), _lines(theirs)
    head = len(commonprefix([more, fewer]))
    tail = len(commonprefix([more[head:][::-1], fewer[head:][::-1]]))
    old, new = fewer[head : len(fewer) - tail], more[head : len(more) - tail]
    if max(len(old), len(new), len(mine)) > LIMIT:
        return None
    for start, end, lines in _hunks(old, new):
        size = len(lines)
        places = [at for at in range(len(mine) - size + 1) if tuple(mine[at : at + size]) == lines]
        if len(b"".join(lines).strip()) < _TELLING or len(places) != 1:
            return None
        mine[places[0] : places[0] + size] = old[start:end]
    return b"".join(mine)


def _lines(data: bytes) -> list[bytes]:
    """The lines, split at line feeds only, as git does."""
    parts = data.split(b"\n")
    return [part + b"\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _hunks(old: Sequence[bytes], new: Sequence[bytes]) -> list[_Hunk]:
    from difflib import SequenceMatcher  # mostly nothing has arrived that is merged

    codes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [(i1, i2, tuple(new[j1:j2])) for tag, i1, i2, j1, j2 in codes if tag != "equal"]


def _overlap(one: _Hunk, next_one: _Hunk) -> bool:
    """True if a hunk and the next one change the same lines or insert at the same point."""
    return next_one[0] < one[1] or (one[0] == one[1] == next_one[0] == next_one[1]) or one[0] == next_one[0] < one[1]


def _applied(old: Sequence[bytes], hunks: Sequence[_Hunk]) -> list[bytes]:
    out: list[bytes] = []
    position = 0
    for start, end, lines in hunks:
        out += [*old[position:start], *lines]
        position = end
    return out + list(old[position:])


LineMerge: TypeAlias = Callable[[bytes, bytes, bytes], bytes | None]
"""`(base, ours, theirs)` to the merged bytes, or None when both changed the same lines."""

T = TypeVar("T")


class _Missing(Enum):
    KEY = "a key that is not there"


_Maybe: TypeAlias = Value | Literal[_Missing.KEY]


class _Conflict(Exception):
    """Both sides changed the same thing; `merge` returns None for it."""


@dataclass(frozen=True, slots=True)
class _Segment:
    """One key of a header: the comments above it, its lines, and its value."""

    lead: str
    text: str
    value: Value


def merge(base: bytes, ours: bytes, theirs: bytes, lines: LineMerge) -> bytes | None:
    """The note with both sides' changes, or None when both changed the same key or lines.

    Keys set on one side are kept, lists of scalars are merged by item, and the result's header can be parsed. When a
    header cannot be parsed, the whole note is merged by `lines`.
    """
    if ours in (theirs, base):
        return theirs
    if theirs == base:
        return ours
    try:
        return _merge_parts(note.split(base), note.split(ours), note.split(theirs), lines)
    except _Conflict:
        return None
    except BadNote:
        merged = lines(base, ours, theirs)
        return merged if merged is None or _readable(merged) or not (_readable(ours) and _readable(theirs)) else None


def merge_append(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """`theirs` plus the lines that `ours` appended to `base`, once; None when `ours` has other changes.

    Two new notes (an empty base) are merged only when they have the same header.
    """
    if ours in (theirs, base):
        return theirs
    if theirs == base:
        return ours
    if not base:
        head = note.split(ours)
        if head.opening:
            base = ours[: len(ours) - len(head.body)]
            if not theirs.startswith(base):
                return None
    suffix = ours[len(base) :]
    on_new_line = not base or base.endswith(b"\n") or suffix.startswith((b"\n", b"\r\n"))
    if not ours.startswith(base) or not on_new_line:
        return None
    if base and not base.endswith(b"\n"):
        suffix = suffix[suffix.index(b"\n") + 1 :]
    newline = b"\r\n" if b"\r\n" in theirs else b"\n"
    added, there = suffix.rstrip(b"\r\n"), theirs.rstrip(b"\r\n")
    above = there[: len(there) - len(added)]
    if theirs.startswith(ours.rstrip(b"\r\n") + newline) or (
        there.endswith(added) and (not above or above.endswith(b"\n") or not added)
    ):
        return theirs
    gap = newline if theirs and not theirs.endswith(b"\n") else b""
    if _ends_a_block(base) and not _ends_a_block(theirs):  # it was written for a place below one
        gap += newline
    return theirs + gap + suffix


def _ends_a_block(data: bytes) -> bool:
    """True if a note ends in a blank line or a heading."""
    last = data.rstrip(b"\r\n").rpartition(b"\n")[2]
    return data.endswith((b"\n\n", b"\n\r\n")) or last.startswith(b"#")


def _readable(data: bytes) -> bool:
    try:
        note.entries(note.split(data))
    except BadNote:
        return False
    return True


def _pick(base: T, ours: T, theirs: T) -> T:
    """The side that changed. Raises _Conflict when both changed and differ."""
    if ours == theirs or theirs == base:
        return ours
    if ours == base:
        return theirs
    raise _Conflict


def _pick_lines(base: bytes, ours: bytes, theirs: bytes, lines: LineMerge) -> bytes:
    try:
        return _pick(base, ours, theirs)
    except _Conflict:
        merged = lines(base, ours, theirs)
        if merged is None:
            raise
        return merged


def _merge_parts(base: Parts, ours: Parts, theirs: Parts, lines: LineMerge) -> bytes:
    header = _merge_headers(base, ours, theirs, lines)
    opening = _pick(base.opening, ours.opening, theirs.opening)
    closing = _pick(base.closing, ours.closing, theirs.closing)
    if header and not opening:
        opening, closing = (ours.opening, ours.closing) if ours.opening else (theirs.opening, theirs.closing)
    body = _pick_lines(base.body, ours.body, theirs.body, lines)
    merged = Parts(_pick(base.bom, ours.bom, theirs.bom), opening, header, closing, body)
    if note.split(merged.join()) != merged:
        raise _Conflict
    note.entries(merged)
    return merged.join()


def _merge_headers(base: Parts, ours: Parts, theirs: Parts, lines: LineMerge) -> bytes:
    sides = [_segments(parts) for parts in (base, ours, theirs)]
    (b, b_tail), (o, o_tail), (t, t_tail) = sides
    if ours.header in (base.header, theirs.header):
        return theirs.header
    if theirs.header == base.header:
        return ours.header
    merged: list[str] = []
    for key in _order(list(b), list(o), list(t)):
        merged.append(_merge_segment(b.get(key), o.get(key), t.get(key), lines))
    tail = _pick_lines(b_tail.encode(), o_tail.encode(), t_tail.encode(), lines)
    return "".join(merged).encode() + tail


def _segments(parts: Parts) -> tuple[dict[str, _Segment], str]:
    """The segments of a header by key, and the text below its last key. Raises BadNote when keys share lines."""
    text = note.text_of(parts.header)
    segments: dict[str, _Segment] = {}
    end = 0
    for entry in note.entries(parts):
        header_edits.require_own_lines(text, entry)
        if entry.start < end:
            raise BadNote("two keys share a line", line=entry.line)
        segments[entry.key] = _Segment(text[end : entry.start], text[entry.start : entry.end], entry.value)
        end = entry.end
    return segments, text[end:]


def _order(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> list[str]:
    """All keys once, in the order of the side that moved keys; a new key follows the key above it."""
    kept = [key for key in base if key in ours]
    moved = kept != [key for key in ours if key in base]
    first, second = (ours, theirs) if moved else (theirs, ours)
    order = list(first)
    for index, key in enumerate(second):
        if key not in order:
            order.insert(order.index(second[index - 1]) + 1 if index else 0, key)
    return order


def _merge_segment(base: _Segment | None, ours: _Segment | None, theirs: _Segment | None, lines: LineMerge) -> str:
    if ours is None or theirs is None:
        kept = _pick(base, ours, theirs)  # a key removed on one side must be unchanged on the other
        return kept.lead + kept.text if kept else ""
    b_lead, b_text = (base.lead, base.text) if base else ("", "")
    lead = _pick_lines(b_lead.encode(), ours.lead.encode(), theirs.lead.encode(), lines).decode()
    try:
        return lead + _pick(b_text, ours.text, theirs.text)
    except _Conflict:
        return lead + _merge_entry(base, ours, theirs, lines)


def _merge_entry(base: _Segment | None, ours: _Segment, theirs: _Segment, lines: LineMerge) -> str:
    """The merged lines of a key that both sides changed differently."""
    value = _merge_values(base.value if base else _Missing.KEY, ours.value, theirs.value)
    b_text = base.text if base else ""
    written = [side.text for side in (ours, theirs) if same(side.value, value)]
    if (by_lines := lines(b_text.encode(), ours.text.encode(), theirs.text.encode())) is not None:
        written.insert(0, by_lines.decode("utf-8", "replace"))
    written.append(_rewritten(ours.text, value))
    comments = [line for line in (ours.text + theirs.text).split("\n") if "#" in line and line not in b_text]
    for text in written:
        found = note.split(b"---\n" + text.encode() + b"---\n")
        if _readable(found.join()) and all(comment in text for comment in comments):
            values = [entry.value for entry in note.entries(found)]
            if len(values) == 1 and same(values[0], value):
                return text
    raise _Conflict


def _rewritten(text: str, value: Value) -> str:
    """A key's lines with another value, written by `header_edits.set_key`."""
    data = b"---\n" + text.encode() + b"---\n"
    (entry,) = note.entries(note.split(data))
    return note.split(header_edits.set_key(data, entry.key, value)).header.decode()


def _merge_values(base: _Maybe, ours: Value, theirs: Value) -> Value:
    if same(ours, theirs) or (not isinstance(base, _Missing) and same(base, theirs)):
        return ours
    if not isinstance(base, _Missing) and same(base, ours):
        return theirs
    if isinstance(ours, Mapping) and isinstance(theirs, Mapping):
        return _merge_mappings(base if isinstance(base, Mapping) else {}, ours, theirs)
    if is_list(ours) and is_list(theirs):
        return _merge_lists(() if isinstance(base, _Missing) or not is_list(base) else base, ours, theirs)
    raise _Conflict


def _merge_mappings(
    base: Mapping[str, Value], ours: Mapping[str, Value], theirs: Mapping[str, Value]
) -> Mapping[str, Value]:
    merged: dict[str, Value] = {}
    for key in _order(list(base), list(ours), list(theirs)):
        if key in ours and key in theirs:
            merged[key] = _merge_values(base.get(key, _Missing.KEY), ours[key], theirs[key])
        else:
            side = ours if key in ours else theirs
            if key not in base:
                merged[key] = side[key]
            elif not same(base[key], side[key]):
                raise _Conflict
    return merged


def _merge_lists(base: Sequence[Value], ours: Sequence[Value], theirs: Sequence[Value]) -> Sequence[Value]:
    """The items of both sides, without those that either removed. Raises _Conflict for lists of lists or mappings."""
    if any(isinstance(item, Mapping) or is_list(item) for side in (base, ours, theirs) for item in side):
        raise _Conflict
    old, mine, other = ({_mark(item) for item in side} for side in (base, ours, theirs))
    kept = [item for item in ours if _mark(item) in other or _mark(item) not in old]
    return (*kept, *(item for item in theirs if _mark(item) not in old | mine))


def _mark(item: Value) -> str:
    return f"{type(item).__name__} {item!r}"
