"""The keyword index on Whoosh finds every note of a common term, and maps its files."""

import tracemalloc
from collections.abc import Sequence
from pathlib import Path

from agent.index.keyword import FIELDS, FieldTerms, Weights, open_engine
from agent.index.whoosh_keyword import WhooshKeyword


def of_body(words: Sequence[str]) -> FieldTerms:
    return {name: () for name in FIELDS} | {"body": tuple(words), "title": tuple(words[:1])}


def test_a_term_of_thousands_of_notes_is_found_in_all(tmp_path: Path) -> None:
    keyword = open_engine("whoosh", tmp_path / "keyword", Weights())
    keyword.change(((key, of_body(["tea"] * (1 + key % 3) + ["pot"] * (2 - key % 3))) for key in range(1, 3001)), [])
    assert sorted(keyword.search(["tea"], 5000)) == [*range(1, 3001)]
    assert [key % 3 for key in keyword.search(["tea"], 3)] == [2, 2, 2], "those that have it most often"


def test_an_open_index_holds_no_copy_of_its_files(tmp_path: Path) -> None:
    folder = tmp_path / "keyword"
    writer = WhooshKeyword(folder, Weights())
    writer.change([(key, of_body([f"word{key * 20 + at}" for at in range(20)])) for key in range(1, 1001)], [])
    writer.close()
    size = sum(path.stat().st_size for path in folder.glob("*.seg"))
    assert size > 500_000
    reader = WhooshKeyword(folder, Weights())
    tracemalloc.start()
    try:
        reader.refresh()
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert reader.search(["word4321"], 5) == [216]
    assert held < size / 4
    reader.close()
