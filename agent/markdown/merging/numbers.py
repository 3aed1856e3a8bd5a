"""The numbers of list items after a merge: an item that followed the one above it by number still does."""

import re
from collections.abc import Mapping, Sequence

from agent.markdown.blocks import columns
from agent.markdown.merging.units import Unit

_NUMBERED = re.compile(r"([ \t]*)([0-9]{1,9})(?=[.)])")


def renumber(
    order: Sequence[int], lines: Mapping[int, tuple[str, ...]], units: Mapping[int, Unit]
) -> Mapping[int, tuple[str, ...]]:
    """The lines of the units, with the numbers of numbered items in sequence; lists that have others keep theirs."""
    changed: dict[int, tuple[str, ...]] = {}
    above: dict[int, int] = {}
    for at in order:
        if units[at].kind != "item":
            if units[at].kind != "code":
                above.clear()
            continue
        first, *rest = lines[at]
        width = columns(first)
        for deeper in [each for each in above if each > width]:
            del above[deeper]
        found = _NUMBERED.match(first)
        if found is None:
            above.pop(width, None)
            continue
        number = int(found[2])
        if units[at].is_counted and width in above and number != above[width] + 1:
            number = above[width] + 1
            changed[at] = (f"{found[1]}{number}{first[found.end() :]}", *rest)
        above[width] = number
    return {**lines, **changed} if changed else lines
