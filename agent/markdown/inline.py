"""Hidden spans of a paragraph: inline code, `%%` and HTML comments, and math, where no link, tag or task is parsed.

Finds the hidden characters of one run of lines, and the comment or formula that continues below it; `blocks` splits
the lines into runs. Every search is linear in the length of the run.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator

MARKS = ("`", "%%", "<!--", "$")
CLOSERS = {"%%": "%%", "<!--": "-->", "$$": "$$"}
_TOKEN = re.compile(r"\\.|`+|%%|<!--|\$\$?")
_BACKTICKS = re.compile(r"`+")


def hidden(run: str, start: int = 0) -> tuple[list[tuple[int, int]], str]:
    """The hidden spans of a run from `start` on, and the opening mark that is still open at its end (empty for none).

    Only a mark at the beginning of a line continues below the run; any other unclosed mark is plain text.
    """
    spans: list[tuple[int, int]] = []
    backticks = _by_length(run) if "`" in run else {}
    missing: set[str] = set()
    position = start
    while found := _TOKEN.search(run, position):
        mark, begin, position = found[0], found.start(), found.end()
        if mark[0] == "\\":
            continue
        if mark[0] == "`":
            end = _closing_backticks(backticks, len(mark), position)
        elif mark == "$":
            end = _inline_math(run, begin)
        else:
            closer = CLOSERS[mark]
            at = -1 if mark in missing else run.find(closer, position)
            end = at + len(closer) if at >= 0 else -1
            if end < 0:
                missing.add(mark)
                if _begins_line(run, begin):
                    return [*spans, (begin, len(run))], mark
        if end >= 0:
            spans.append((begin, end))
            position = end
    return spans, ""


def blank(text: str, spans: Iterator[tuple[int, int]] | list[tuple[int, int]]) -> str:
    """The text with the spans (in order) replaced by NULs; line feeds stay, so offsets do not change."""
    pieces: list[str] = []
    position = 0
    for start, end in spans:
        pieces.append(text[position:start])
        gone = text[start:end]
        pieces.append("\n".join("\0" * len(line) for line in gone.split("\n")) if "\n" in gone else "\0" * len(gone))
        position = end
    pieces.append(text[position:])
    return "".join(pieces)


def _by_length(run: str) -> dict[int, list[int]]:
    """The start offsets of the runs of backticks, by length of the run."""
    found: dict[int, list[int]] = {}
    for ticks in _BACKTICKS.finditer(run):
        found.setdefault(ticks.end() - ticks.start(), []).append(ticks.start())
    return found


def _closing_backticks(backticks: dict[int, list[int]], length: int, position: int) -> int:
    starts = backticks.get(length, [])
    index = bisect_right(starts, position - 1)
    return starts[index] + length if index < len(starts) else -1


def _inline_math(run: str, begin: int) -> int:
    """The end of `$…$`, or -1: no space inside its ends, no line end, no digit after it (so prices stay text)."""
    end = run.find("$", begin + 1)
    if end < 0 or end == begin + 1 or run[begin + 1].isspace() or run[end - 1].isspace():
        return -1
    if "\n" in run[begin:end] or run[end + 1 : end + 2].isdigit():
        return -1
    return end + 1


def _begins_line(run: str, position: int) -> bool:
    before = run[max(0, position - 100) : position]  # more than any real indentation; bounds the cost
    line = before[before.rfind("\n") + 1 :]
    return not line.strip(" \t>") and (len(line) < len(before) or position == len(before))
