"""Rows of cells as a table of Markdown, and separated values (CSV) as rows."""

import csv
import io
from collections.abc import Iterable, Sequence
from itertools import islice

from agent.attachments.html.charset import decode
from agent.attachments.limits import LONGEST_CELL, MOST_COLUMNS, MOST_ROWS
from agent.markdown.paged_text import PagedText, TextPart

_DELIMITERS = ",;\t|"
_SAMPLE = 50


def markdown_table(rows: Iterable[Sequence[str]], most: int = MOST_ROWS) -> tuple[str, bool]:
    """The rows as a table, the first as its header, without empty rows and without the columns that are empty in all;
    True with it if there were more than `most`."""
    there = (list(map(_cell, row[:MOST_COLUMNS])) for row in rows)
    found = list(islice((row for row in there if any(row)), most + 1))
    is_cut, found = len(found) > most, found[:most]
    width = max((at + 1 for row in found for at, cell in enumerate(row) if cell), default=0)
    used = [at for at in range(width) if any(at < len(row) and row[at] for row in found)]
    lines = ["| " + " | ".join(row[at] if at < len(row) else "" for at in used) + " |" for row in found]
    if not lines:
        return "", False
    return "\n".join([lines[0], "|" + " --- |" * len(used), *lines[1:]]), is_cut


def _cell(text: str) -> str:
    return " ".join(text[:LONGEST_CELL].split()).replace("|", "\\|")


def read_separated(data: bytes) -> PagedText:
    """The table in a file of separated values, in whatever encoding and with whatever separator."""
    text = decode(data)
    return _table(text, _delimiter(text))


def read_tabbed(data: bytes) -> PagedText:
    """The table in a file of values that tabs separate."""
    return _table(decode(data), "\t")


def _table(text: str, delimiter: str) -> PagedText:
    csv.field_size_limit(max(len(text), 1))
    table, is_cut = markdown_table(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    return PagedText((TextPart("", table),), problem=rows_left_out() if is_cut else "")


def rows_left_out() -> str:
    """Why a table is not whole."""
    return f"only the first {MOST_ROWS} rows of a table are read"


def _delimiter(text: str) -> str:
    """The sign that divides the first rows most evenly: the same number in each, and many."""
    rows = [row for row in text[:20_000].splitlines()[:_SAMPLE] if row.strip()]

    def fits(sign: str) -> tuple[int, int]:
        counts = [row.count(sign) for row in rows]
        usual = max(set(counts), key=counts.count, default=0)
        return (counts.count(usual) if usual else 0, usual)

    return max(_DELIMITERS, key=fits)
