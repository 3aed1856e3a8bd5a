"""Measures every row of the tables in README.md anew, in one run, and prints the load of the machine beside each value.

    python -m tests.bench.all [--only PART …] [--minutes 25] [--quick] [--write]

A part is one measurement; those that need data or a package that is not here are left out with a word, and so are those
that have not begun after `--minutes`. `--quick` measures next to nothing, to see that all works. `--write` puts the
values into README.md; the rows that were not measured keep theirs. Exits with 1 when a part fails or a value does not
keep its limit.
"""

import argparse
import os
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.bench.tables.catalogue import TABLES
from tests.bench.tables.page import Measured, with_table
from tests.bench.tables.parts import PARTS, QUICK, Sizes, Values
from tests.bench.tables.row import Row

README = Path(__file__).with_name("README.md")


@dataclass(frozen=True, slots=True)
class Result:
    """The values of a part, or why there are none; the load of a minute before it and after it; its seconds."""

    values: Values
    problem: str
    load: tuple[float, float]
    seconds: float

    @property
    def shown_load(self) -> str:
        low, high = sorted(self.load)
        return f"{low:.1f} to {high:.1f}"


def main(arguments: Sequence[str]) -> int:
    """Measure, print, and write if asked to."""
    asked = _parser().parse_args(arguments)
    began = time.monotonic()
    results = dict[str, Result]()
    for name in PARTS:
        if not asked.only or name in asked.only:
            is_late = time.monotonic() - began > 60 * asked.minutes
            results[name] = _skipped("no time is left") if is_late else _measured(name, asked.quick)
    found = dict(_cells(results))
    for table, rows in TABLES.items():
        sys.stdout.write("".join([f"\n{table}\n", *(_line(row, results) for row in rows if row.part in results)]))
    sys.stdout.write(f"\n{len(results)} parts in {(time.monotonic() - began) / 60:.1f} minutes\n")
    if asked.write:
        README.write_text(written(README.read_text("utf-8"), found), "utf-8")
    is_kept = all(row.is_reached(results[row.part].values[row.key]) for row in _rows(results))
    return 0 if is_kept and not any(each.problem.startswith("failed") for each in results.values()) else 1


def written(page: str, found: Mapping[str, Measured]) -> str:
    """The page with these cells in its tables, by the rows' names."""
    commands = {name: part.command for name, part in PARTS.items()}
    for table, rows in TABLES.items():
        page = with_table(page, table, rows, found, commands)
    return page


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m tests.bench.all")
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=[])
    parser.add_argument("--minutes", type=float, default=25.0, help="no part begins after so many")
    parser.add_argument("--quick", action="store_true", help="small sizes, whose values say nothing")
    parser.add_argument("--write", action="store_true", help="put the values into README.md")
    return parser


def _measured(name: str, quick: bool) -> Result:
    """One part, in a folder of its own."""
    part, before, began = PARTS[name], os.getloadavg()[0], time.monotonic()
    if lacks := part.lacks():
        return _skipped(lacks)
    _note(f"{name}: load {before:.1f}")
    values, problem = dict[str, float](), ""
    with _folder() as folder:
        try:
            values = dict(part.run(folder, QUICK if quick else Sizes(), lambda text: _note(f"  {text}")))
            if lost := {row.key for row in _of_part(name)} - values.keys():
                problem = f"failed: it gave no {', '.join(sorted(lost))}"
        except Exception as error:  # noqa: BLE001 - the other parts are measured all the same
            traceback.print_exc()
            problem = f"failed: {error or type(error).__name__}"
    result = Result(values, problem, (before, os.getloadavg()[0]), time.monotonic() - began)
    _note(f"{name}: {result.seconds:.0f} s, load {result.shown_load}")
    return result


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="vault-agent-bench-") as folder:
        yield Path(folder)


def _skipped(why: str) -> Result:
    return Result({}, why, (0.0, 0.0), 0.0)


def _rows(results: Mapping[str, Result]) -> Iterator[Row]:
    """The rows that have a value."""
    for rows in TABLES.values():
        yield from (row for row in rows if row.part in results and row.key in results[row.part].values)


def _of_part(name: str) -> Iterator[Row]:
    yield from (row for rows in TABLES.values() for row in rows if row.part == name)


def _cells(results: Mapping[str, Result]) -> Iterator[tuple[str, Measured]]:
    for row in _rows(results):
        result = results[row.part]
        yield row.what, Measured(row.shown(result.values[row.key]), result.shown_load)


def _line(row: Row, results: Mapping[str, Result]) -> str:
    result = results[row.part]
    if result.problem:
        return f"  {row.what:90} {result.problem}\n"
    return f"  {row.what:90} {row.shown(result.values[row.key]):>14}  {row.wanted:18} load {result.shown_load}\n"


def _note(text: str) -> None:
    sys.stderr.write(f"{text}\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
