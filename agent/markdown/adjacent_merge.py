"""A three-way merge of lines that accepts changes in adjacent lines.

git's own merge reports them as a conflict. An undo can apply both: there is only one possible result.
Overlapping changes, and two different insertions at one point, are refused.
"""

from collections.abc import Sequence
from itertools import pairwise
from os.path import commonprefix

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
