"""Reads and writes the tables of a page between `<!-- measured: NAME -->` and `<!-- /measured: NAME -->`."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tests.bench.tables.row import Row

HEAD = ("what", "wanted", "measured", "load", "reproduce with")


@dataclass(frozen=True, slots=True)
class Measured:
    """The cells of a row that a measurement fills."""

    value: str
    load: str


NOTHING = Measured("not measured yet", "–")


def load_table(page: str, name: str) -> dict[str, tuple[str, ...]]:
    """The cells of each row of a table by their first, without it; raises `ValueError` where there is none."""
    lines = page[slice(*_between(page, name))].strip().splitlines()
    rows = [tuple(cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))) for line in lines[2:]]
    if len({row[0] for row in rows}) < len(rows):
        raise ValueError(f"two rows of {name} have one name")
    return {row[0]: row[1:] for row in rows}


def with_table(
    page: str, name: str, rows: Sequence[Row], found: Mapping[str, Measured], commands: Mapping[str, str]
) -> str:
    """The page with these rows in the table; what was not measured keeps its cells. `found` is by the rows' `what`."""
    before = load_table(page, name)
    lines = [_line(HEAD), _line(["---"] * len(HEAD))]
    for row in rows:
        old = before.get(row.what)
        cells = found.get(row.what) or (Measured(old[1], old[2]) if old else NOTHING)
        lines.append(_line((row.what, row.wanted, cells.value, cells.load, f"`{commands[row.part]}`")))
    start, end = _between(page, name)
    return page[:start] + "\n".join(["", *lines, ""]) + page[end:]


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _between(page: str, name: str) -> tuple[int, int]:
    """Where the text between a table's marks begins and ends."""
    found = re.search(rf"<!-- measured: {name} -->(.*?)<!-- /measured: {name} -->", page, re.DOTALL)
    if found is None:
        raise ValueError(f"the page has no table {name}")
    return found.span(1)
