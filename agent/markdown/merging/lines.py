"""The merge of bodies by line: for changes that are far from each other, and to cut long bodies into parts."""

import re
from collections.abc import Iterator, Sequence

from agent.markdown.merging.sequences import chunks
from agent.markdown.merging.words import merge_lines

CONTEXT = 40
"""Lines that stay on each side of a cut, so that a change has its surroundings."""
_COUNTED = re.compile(r"[ \t>]*[0-9]{1,9}[.)][ \t]")


def merge_apart(base: str, first: str, second: str) -> str | None:
    """The body if both sides changed different lines, moved none, and no line stands in it twice; else None.

    This is the quick path: for such changes the merge by unit has the same result, and costs five times as much.
    """
    b, f, s = base.split("\n"), first.split("\n"), second.split("\n")
    places = {line: at for at, line in enumerate(b)}
    if not _is_plain(b, places) or not _is_plain(f, places) or not _is_plain(s, places):
        return None
    merged = merge_lines(b, f, s)
    return "\n".join(merged) if merged is not None and _is_plain(merged, places) else None


def _is_plain(lines: Sequence[str], places: dict[str, int]) -> bool:
    """True if no line but blank ones stands twice, those of the base are in its order, and no new one is numbered."""
    written = [line for line in lines if line and not line.isspace()]
    if len(set(written)) != len(written):
        return False
    at = -1
    for line in written:
        place = places.get(line)
        if place is None:
            if _COUNTED.match(line):
                return False
        elif place < at:
            return False
        else:
            at = place
    return True


def segments(base: str, first: str, second: str) -> Iterator[tuple[str, str, str]]:
    """The three bodies in parts that belong together; each cut is in a long stretch that is the same in all three."""
    b, f, s = (_lines(text) for text in (base, first, second))
    start = (0, 0, 0)
    steady = 0
    for at, to_f, to_s, is_stable in [*((c.base.start, c.first.start, c.second.start, c.is_stable)
                                        for c in chunks(b, f, s)), (len(b), len(f), len(s), False)]:  # fmt: skip
        if is_stable:
            steady += 1
            continue
        if steady > 3 * CONTEXT:
            for back in (steady - CONTEXT, CONTEXT):
                end = (at - back, to_f - back, to_s - back)
                yield _between(b, start[0], end[0]), _between(f, start[1], end[1]), _between(s, start[2], end[2])
                start = end
        steady = 0
    yield _between(b, start[0], len(b)), _between(f, start[1], len(f)), _between(s, start[2], len(s))


def _lines(text: str) -> list[str]:
    """The lines with their line feeds (`splitlines` would split at other characters too)."""
    lines = [f"{line}\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines


def _between(lines: Sequence[str], start: int, end: int) -> str:
    return "".join(lines[start:end])
