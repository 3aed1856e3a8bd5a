"""The paths of notes are read once while an index does not change, and again when it has changed."""

from array import array
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.index.buckets import Buckets, LookupTable, StoredValue
from agent.index.indexed_paths import IndexedPaths
from tests.bench.vault import KEYWORDS_ONLY, MemoryVault

PARTS = st.text("ab/[]é猫", max_size=6)


@given(st.sets(PARTS), st.text("ab/[]*?é猫", max_size=4))
def test_a_filter_finds_the_paths_that_begin_with_it_or_match_it(paths: set[str], wanted: str) -> None:
    known = IndexedPaths((0, 0), sorted(paths), array("q", range(len(paths))))
    pattern = wanted.replace("[", "[[]")
    fits = {path for path in paths if (fnmatchcase(path, pattern) if "*" in wanted else path.startswith(wanted))}
    assert [number for number, path in enumerate(sorted(paths)) if path in fits] == known.under(wanted).tolist()


def test_an_open_search_sees_what_another_process_has_changed(tmp_path: Path) -> None:
    vault = MemoryVault({"a/tea.md": b"Tea for two.\n", "b/tea.md": b"Tea for three.\n"})
    updater = vault.updater(tmp_path)
    searcher = vault.searcher(tmp_path, "whoosh", KEYWORDS_ONLY)
    assert [hit.path for hit in searcher.search("tea path:a/").hits] == ["a/tea.md"]
    vault.notes = {"a/late tea.md": b"Tea at night.\n", "b/tea.md": b"Tea for three.\n"}
    vault.update(updater)
    assert [hit.path for hit in searcher.search("tea path:a/").hits] == ["a/late tea.md"]
    updater.close()
    searcher.close()


def test_the_paths_are_read_once_for_many_searches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    searcher = MemoryVault({"a/tea.md": b"Tea.\n"}).searcher(tmp_path, "whoosh", KEYWORDS_ONLY)
    read: list[LookupTable] = []
    read_each = Buckets.each

    def counted(buckets: Buckets, table: LookupTable) -> Iterator[dict[str, StoredValue]]:
        read.append(table)
        return read_each(buckets, table)

    monkeypatch.setattr(Buckets, "each", counted)
    for _ in range(3):
        assert searcher.search("tea path:a/").hits
        assert searcher.search("tea path:b/").hits == ()
    assert read.count(LookupTable.NOTES) == 1
    searcher.close()
