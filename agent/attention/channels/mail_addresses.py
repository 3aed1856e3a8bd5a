"""The addresses in a header of a mail, in one pass that no header can stop.

Comments, quoted names and groups are skipped by counting, not by recursion (RFC 5322, section 3.4, read leniently).
"""

import re
from collections.abc import Iterator

_PIECE = re.compile(r'"(?:[^"\\]|\\.)*"|\\.|[(),;<>:"]|[^\\(),;<>:"]+', re.DOTALL)
_ADDRESS = re.compile(r"[^\s<>@]{1,200}@[^\s<>@]{1,255}")


def parse_addresses(header: str) -> list[str]:
    """The addresses in small letters, in their order; a part between commas without one is left out."""
    return [found[0].lower() for each in _members(header) if (found := _ADDRESS.search(each))]


def _members(header: str) -> Iterator[str]:
    """Each part between commas: what stands in its angle brackets, else all of it but comments and quoted names."""
    words: list[str] = []
    angle: list[str] | None = None
    is_in_angle, depth = False, 0
    for piece in (found[0] for found in _PIECE.finditer(header)):
        if piece in "()" and (piece == "(" or depth):
            depth += 1 if piece == "(" else -1
        elif depth:
            continue
        elif piece in ",;" and not is_in_angle:
            yield "".join(words if angle is None else angle)
            words, angle = [], None
        elif piece == ":" and not is_in_angle:  # the name of a group
            words = []
        elif piece in "<>":
            is_in_angle = piece == "<"
            angle = [] if is_in_angle else angle
        elif is_in_angle and angle is not None:
            angle.append(piece)
        elif not piece.startswith('"') or angle is not None:
            words.append(piece)
    yield "".join(words if angle is None else angle)
