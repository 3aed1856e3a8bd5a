"""What is written for Whoosh is what Whoosh itself reads: every posting of every term, after any changes."""

import tracemalloc
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from whoosh import index as whoosh_index

from agent.index.keyword import FIELDS, FieldTerms, Weights, open_engine
from agent.index.whoosh_keyword import WhooshKeyword

WORDS = ["tea", "kettle", "茶", "чай", "é", "a", "b" * 64, "\0", "\U0001f375"]
NOTES = st.lists(st.lists(st.sampled_from(WORDS), max_size=12), max_size=9)


def of_body(words: Sequence[str]) -> FieldTerms:
    return {name: () for name in FIELDS} | {"body": tuple(words), "title": tuple(words[:1])}


def postings(folder: Path) -> Iterator[tuple[str, str, int, float]]:
    """All that Whoosh reads in the index: field, term, note and weight."""
    reader = whoosh_index.open_dir(str(folder)).reader()  # type: ignore[no-untyped-call]
    for leaf, _ in reader.leaf_readers() if reader.doc_count_all() else ():
        keys = leaf.column_reader("key").load()
        for name, term in leaf.all_terms():
            matcher = leaf.postings(name, term)
            seen = []
            while matcher.is_active():
                seen.append(matcher.id())
                yield name, term.decode(), int(keys[matcher.id()]), matcher.weight()
                matcher.next()
            assert seen == sorted(seen)
            info = leaf.term_info(name, term)
            assert info.doc_frequency() >= len(seen) > 0 or leaf.has_deletions()
    reader.close()


def expected(notes: dict[int, list[str]]) -> set[tuple[str, str, int, float]]:
    counts = {key: Counter(words) for key, words in notes.items()}
    counted = {("body", word, key, float(count)) for key, each in counts.items() for word, count in each.items()}
    return counted | {("title", words[0], key, 1.0) for key, words in notes.items() if words}


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forms for many postings are used for few."""
    monkeypatch.setattr("agent.index.whoosh_writer._BESIDE_TERM", 2)
    monkeypatch.setattr("agent.index.whoosh_writer._BLOCK", 3)


@given(st.lists(st.tuples(NOTES, st.integers(0, 20)), min_size=1, max_size=8), st.booleans())
@pytest.mark.usefixtures("small")
def test_whoosh_reads_every_posting(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[list[list[str]], int]], optimized: bool
) -> None:
    folder = tmp_path_factory.mktemp("keyword")
    keyword = WhooshKeyword(folder, Weights())
    there: dict[int, list[str]] = {}
    key = 0
    for added, removals in changes:
        gone = [*there][: removals if optimized else min(removals, 2)]
        new = {key + at: words for at, words in enumerate(added, 1)}
        key += len(added)
        keyword.change([(number, of_body(words)) for number, words in new.items()], gone)
        there = {number: words for number, words in there.items() if number not in gone} | new
        assert set(postings(folder)) == expected(there)
        assert keyword.count() == len(there)
    keyword.close()


def test_a_term_of_thousands_of_notes_is_found_in_all(tmp_path: Path) -> None:
    keyword = open_engine("whoosh", tmp_path / "keyword", Weights())
    keyword.change(((key, of_body(["tea"] * (1 + key % 3))) for key in range(1, 3001)), [])
    assert sorted(keyword.search(["tea"], 5000)) == [*range(1, 3001)]
    assert {weight for name, *_, weight in postings(tmp_path / "keyword") if name == "body"} == {1.0, 2.0, 3.0}


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
