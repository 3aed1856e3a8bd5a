"""The lines around a passage that belong to it: what answers, and not only what was looked for."""

import re
from collections.abc import Iterable, Sequence

from agent.markdown.passages import words

LINES = 8
"""The most lines that are added on either side."""
WORDS = 160
"""The words of a passage from which no more lines are added."""
HEADER = 12
"""The most lines of a note's header that are given with the top of its text: what a person keeps there, such as a day
or a number, is often what is asked for."""
_GAP = 2
"""Passages with at most so many other lines between them are one."""
_HEADING = re.compile(r"#{1,6} ")
_QUESTION = re.compile(r".*[?？]\W*")


def widened(rows: Sequence[str], lines: tuple[int, int], first: int = 1) -> tuple[int, int]:
    """The lines (inclusive, from 1) of a passage at `lines` with those around it, in turns after and before it, within
    its section; a last line that asks is followed by the next one. None of them is before line `first`."""
    begin, end = lines
    size = sum(words(row) for row in rows[begin - 1 : end])
    after = before = True
    for _ in range(LINES):
        after = after and size < WORDS and end < len(rows) and not _HEADING.match(rows[end])
        if after:
            end += 1
            size += words(rows[end - 1])
        before = before and size < WORDS and begin > first and not _HEADING.match(rows[begin - 1])
        if before:
            begin -= 1
            size += words(rows[begin - 1])
    while end < len(rows) and (not rows[end - 1].strip() or _QUESTION.fullmatch(rows[end - 1])):
        end += 1
    return _trimmed(rows, begin, end)


def with_header(rows: Sequence[str], lines: tuple[int, int], body: int) -> tuple[int, int]:
    """The lines of a passage with the note's header, if the passage begins with the note's text and the header is
    short; `body` is the line on which the text begins."""
    begin, end = lines
    is_top = begin >= body and not any(row.strip() for row in rows[body - 1 : begin - 1])
    return (1 if is_top and 1 < body <= HEADER + 1 else begin), end


def merged(passages: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The passages of one note in reading order; those that touch, or nearly do, are one."""
    found: list[tuple[int, int]] = []
    for begin, end in sorted(passages):
        if found and begin <= found[-1][1] + _GAP + 1:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((begin, end))
    return found


def _trimmed(rows: Sequence[str], begin: int, end: int) -> tuple[int, int]:
    """The lines without blank ones at either end, and without headings at the end."""
    while end > begin and (not rows[end - 1].strip() or _HEADING.match(rows[end - 1])):
        end -= 1
    while begin < end and not rows[begin - 1].strip():
        begin += 1
    return begin, end
