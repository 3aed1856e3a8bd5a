"""What every keyword engine promises to the index, whichever it is."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from agent.index.analysis import query_terms, terms
from agent.index.files import Damaged
from agent.index.keyword import FIELDS, Engine, FieldTerms, KeywordIndex, Weights, open_engine

TEXTS = {
    1: "The kettle is in the kitchen, and the kettle is hot",
    2: "A letter about kitchens, gardens and rivers",
    3: "TypeError in foo_bar: ENOENT, code E1234-5, version v1.2.3",
    4: "猫坐在垫子上",
}


@pytest.fixture(params=["whoosh", "tantivy", "postgres"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Engine:
    name: Engine = request.param
    if name == "tantivy":
        pytest.importorskip("tantivy")
    if name == "postgres":
        monkeypatch.setenv("VAULT_AGENT_DATABASE__URL", request.getfixturevalue("database_url"))
    return name


@pytest.fixture
def index(engine: Engine, tmp_path: Path) -> Iterator[KeywordIndex]:
    opened = open_engine(engine, tmp_path / "keyword", Weights())
    opened.change(((key, fields(text)) for key, text in TEXTS.items()), [])
    yield opened
    opened.close()


def fields(body: str, **others: str) -> FieldTerms:
    return {name: terms(body if name == "body" else others.get(name, "")) for name in FIELDS}


def found(index: KeywordIndex, question: str, count: int = 10) -> list[int]:
    return index.search(query_terms(question), count)


def test_any_term_finds_and_the_best_note_comes_first(index: KeywordIndex) -> None:
    assert found(index, "hot kitchen") == [1, 2]
    assert found(index, "nothing like it") == []
    assert index.count() == 4


def test_words_are_found_in_other_forms(index: KeywordIndex) -> None:
    assert found(index, "garden river") == [2]
    assert set(found(index, "kitchens")) == {1, 2}


@pytest.mark.parametrize("text", ["ENOENT", "E1234-5", "foo_bar", "v1.2.3", "TypeError", "e1234-5"])
def test_identifiers_and_error_codes_are_found_exactly(index: KeywordIndex, text: str) -> None:
    assert found(index, text)[0] == 3


@pytest.mark.parametrize("text", ["垫子", "猫", "坐在垫子上"])
def test_chinese_is_found_by_words_and_by_single_characters(index: KeywordIndex, text: str) -> None:
    assert found(index, text) == [4]


def test_a_title_counts_more_than_the_text_below_it(index: KeywordIndex) -> None:
    index.change([(5, fields("something about kettles")), (6, fields("something else", title="kettle"))], [])
    assert found(index, "kettle").index(6) < found(index, "kettle").index(5)


def test_a_change_replaces_a_note_and_forgets_another(index: KeywordIndex) -> None:
    index.change([(1, fields("a bicycle"))], [1, 2])
    assert found(index, "kettle") == found(index, "letter") == []
    assert found(index, "bicycle") == [1]
    assert index.count() == 3


def test_forgetting_what_is_not_there_is_no_error(index: KeywordIndex) -> None:
    index.change([], [99])
    assert index.count() == 4


def test_only_allowed_notes_are_found_and_as_many_as_asked_for(index: KeywordIndex) -> None:
    index.change(((key, fields("kitchen")) for key in range(10, 60)), [])
    allowed = np.array([2, 15, 59], dtype=np.int64)
    assert set(index.search(["kitchen"], 10, allowed)) == {2, 15, 59}
    assert len(index.search(["kitchen"], 7)) == 7
    assert index.search(["kitchen"], 10, np.array([4], dtype=np.int64)) == []


def test_a_reader_sees_a_commit_when_it_refreshes_and_not_before(
    index: KeywordIndex, engine: Engine, tmp_path: Path
) -> None:
    reader = open_engine(engine, tmp_path / "keyword", Weights())
    reader.refresh()
    index.change([(7, fields("a bicycle"))], [1])
    assert found(reader, "bicycle") == []
    assert found(reader, "kettle") == [1]
    reader.refresh()
    assert found(reader, "bicycle") == [7]
    assert found(reader, "kettle") == []
    reader.close()


def test_a_change_that_fails_leaves_the_index_as_it_was(index: KeywordIndex) -> None:
    def broken() -> Iterator[tuple[int, FieldTerms]]:
        yield 8, fields("half a change")
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        index.change(broken(), [1])
    index.refresh()
    assert found(index, "kettle") == [1]
    assert found(index, "half") == []
    index.change([(8, fields("a whole change"))], [])
    assert found(index, "whole") == [8]


def test_a_folder_that_is_not_an_index_is_damage(engine: Engine, tmp_path: Path) -> None:
    folder = tmp_path / "other"
    folder.mkdir()
    with pytest.raises(Damaged):
        open_engine(engine, folder, Weights()).refresh()
