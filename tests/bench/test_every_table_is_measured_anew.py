"""The tables of measured values have the rows that one script measures, and the script writes them."""

import tempfile
from pathlib import Path

import pytest

from tests.bench import all as measurements
from tests.bench.all import README, main, written
from tests.bench.tables.catalogue import TABLES
from tests.bench.tables.page import NOTHING, Measured, load_table
from tests.bench.tables.parts import PARTS
from tests.bench.tables.row import Row

PAGE = README.read_text("utf-8")
ROWS = [row for rows in TABLES.values() for row in rows]


@pytest.mark.parametrize("table", TABLES)
def test_the_page_has_the_rows_that_are_measured_in_their_order(table: str) -> None:
    found = load_table(PAGE, table)
    assert list(found) == [row.what for row in TABLES[table]]
    for row in TABLES[table]:
        wanted, value, load, command = found[row.what]
        assert (wanted, command) == (row.wanted, f"`{PARTS[row.part].command}`"), row.what
        assert value and load and value != NOTHING.value, f"{row.what} has no value: python -m tests.bench.all --write"


def test_there_is_no_other_table_between_such_marks() -> None:
    assert PAGE.count("<!-- measured: ") == len(TABLES)


def test_each_row_is_measured_by_a_part_and_each_part_measures_a_row() -> None:
    assert {row.part for row in ROWS} == PARTS.keys()
    assert len({row.what for row in ROWS}) == len({(row.part, row.key) for row in ROWS}) == len(ROWS)


def test_what_is_written_changes_the_rows_that_were_measured_alone() -> None:
    row = TABLES["commands"][0]
    page = written(PAGE, {row.what: Measured("0.50 ×", "0.1 to 0.2")})
    assert load_table(page, "commands")[row.what][1:3] == ("0.50 ×", "0.1 to 0.2")
    changed = [line for line in page.splitlines() if line not in PAGE.splitlines()]
    assert len(changed) <= 1 and page.count("\n") == PAGE.count("\n")
    assert written(PAGE, {}) == PAGE, "the page is as the script would write it"


def test_a_value_that_misses_its_limit_is_bold() -> None:
    most = Row("x", "start", "help", "ms", 150.0)
    assert (most.shown(53.4), most.shown(1234.0), most.wanted) == ("53.4 ms", "**1,234 ms**", "at most 150 ms")
    least = Row("x", "locomo", "at-5", "", 0.96, at_least=True)
    assert (least.shown(0.9563), least.shown(1.0), least.wanted) == ("**0.956**", "1", "at least 0.96")
    assert Row("x", "writes", "written", "KB").wanted == "–"


def run(*arguments: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """The script with a page and a temporary folder of its own."""
    page = folder / "page.md"
    page.write_text(PAGE, "utf-8")
    monkeypatch.setattr(measurements, "README", page)
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return main(["--quick", "--write", *arguments])


@pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="the kernel does not say what was written")
def test_parts_are_measured_and_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("--only", "commit", "writes", "upkeep", folder=tmp_path, monkeypatch=monkeypatch) in {0, 1}
    printed = capsys.readouterr().out
    assert "failed" not in printed and "3 parts in" in printed
    page = (tmp_path / "page.md").read_text("utf-8")
    for row in TABLES["commands"]:
        cells = load_table(page, "commands")[row.what]
        is_measured = row.part in {"commit", "writes", "upkeep"}
        assert " to " in cells[2] if is_measured else cells == load_table(PAGE, "commands")[row.what], row.what
    assert list(tmp_path.glob("vault-agent-bench-*")) == []


def test_no_part_begins_when_the_time_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("--minutes", "-1", folder=tmp_path, monkeypatch=monkeypatch) == 0
    assert capsys.readouterr().out.count("no time is left") == len(ROWS)
    assert (tmp_path / "page.md").read_text("utf-8") == PAGE


@pytest.mark.chaos
def test_every_part_gives_its_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(folder=tmp_path, monkeypatch=monkeypatch)
    assert "failed" not in capsys.readouterr().out
