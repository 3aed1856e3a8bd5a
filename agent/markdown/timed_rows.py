"""Tables in notes to which the program only ever adds rows, such as a log: each row begins with its moment.

Cells are known by their order, as the names of the columns may be in the vault's language.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime

from agent.markdown.note import Note

_BAR = re.compile(r"(?<!\\)\|")


def format_row(at: datetime, cells: Iterable[str]) -> str:
    """A row without a line end; the cells have no bars of their own."""
    return f"| {' | '.join((at.replace(microsecond=0).isoformat(), *cells))} |"


def format_head(columns: str, count: int) -> str:
    """The two lines above the rows; `columns` is the first one, with the names."""
    return f"{columns}\n|{'|'.join(' --- ' for _ in range(count))}|\n"


def timed_rows(data: bytes) -> Iterator[tuple[datetime, list[str]]]:
    """The rows of a note, each with its moment and the cells behind it. Rows that a merge has doubled count once, and
    those without a moment that has an offset are left out."""
    for row in dict.fromkeys(Note.parse(data).body.splitlines()):
        cells = [cell.strip() for cell in _BAR.split(row.strip())[1:-1]] if row.startswith("|") else []
        try:
            at = datetime.fromisoformat(cells[0]) if cells else None
        except ValueError:
            continue
        if at is not None and at.tzinfo is not None:
            yield at, cells[1:]
