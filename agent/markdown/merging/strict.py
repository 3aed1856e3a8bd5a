"""Three-way merges that refuse instead of choosing: for what the agent writes beside a person, and for an undo.

The header is merged key by key, as `merging.header` does it, the body line by line: the caller passes the line merge
(the vault uses git's). Both changes of adjacent lines are accepted, which git's own merge reports as a conflict: there
is only one possible result. Overlapping changes, and two different insertions at one point, are refused.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from os.path import commonprefix
from typing import TypeAlias, TypeVar

from agent.errors import BadNote
from agent.markdown import note
from agent.markdown.merging.header import Header, merge_headers
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


class _Conflict(Exception):
    """Both sides changed the same thing; `merge` returns None for it."""


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
    sides = [Header(parts) for parts in (base, ours, theirs)]
    if None in (each.segments for each in sides):
        raise BadNote("a header cannot be merged by its keys")
    header = merge_headers(*sides)
    if header.is_conflict or _is_contradiction(*sides):
        raise _Conflict
    body = _pick_lines(base.body, ours.body, theirs.body, lines)
    merged = Parts(_pick(base.bom, ours.bom, theirs.bom), header.opening, header.header, header.closing, body)
    if note.split(merged.join()) != merged:
        raise _Conflict
    return merged.join()


def _is_contradiction(base: Header, ours: Header, theirs: Header) -> bool:
    """True if one side deleted a key of which the other changed the value, the form or a comment, or both changed a
    value that is not merged by its items: also a time or a counter, which another merge would choose."""
    b, o, t = (side.segments or {} for side in (base, ours, theirs))
    removed = [(side, key) for side, other in ((o, t), (t, o)) for key in side.keys() & b.keys() - other.keys()]
    if any(side[key].lines != b[key].lines for side, key in removed):
        return True
    return any(_differ(b[key].value if key in b else None, o[key].value, t[key].value) for key in o.keys() & t.keys())


def _differ(base: Value, ours: Value, theirs: Value) -> bool:
    if same(ours, theirs) or same(base, ours) or same(base, theirs):
        return False
    if isinstance(ours, Mapping) and isinstance(theirs, Mapping):
        before = base if isinstance(base, Mapping) else {}
        return any(_differ(before.get(key), ours.get(key), theirs.get(key)) for key in ours.keys() | theirs.keys())
    return not (is_list(ours) and is_list(theirs)) or any(isinstance(each, Mapping) for each in (*ours, *theirs))
