"""Several threads share one index: while a search uses its files, nothing else does."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agent.index import search
from agent.index.arrays import Floats, Ints
from agent.index.embedder import EmbedderChoice
from agent.index.search import Searcher
from tests.bench.vault import MemoryVault
from tests.index.fakes import FakeEmbedder

NOTES = {
    "work/kettle.md": b"The kettle is in the kitchen.\n",
    "work/deep/garden.md": b"Plant beans by the wall.\n",
}
FOLDERS = {"work", "work/deep"}


@dataclass(slots=True)
class AsksInTheMiddle:
    """An embedder that has `ask` asked by another thread in the middle of a search, and waits for the answer."""

    ask: Callable[[], object] | None = None
    answers: list[object] = field(default_factory=list)
    name: str = "fake-256"
    dimensions: int = 256

    def tokens(self, texts: Sequence[str]) -> list[Ints]:
        ask, self.ask = self.ask, None
        if ask is not None:
            with ThreadPoolExecutor(1) as another:
                self.answers.append(another.submit(ask).result(60))
        return FakeEmbedder().tokens(texts)

    def vectors(self, tokens: Ints) -> Floats:
        return FakeEmbedder().vectors(tokens)


@pytest.fixture(name="middle")
def make_middle() -> AsksInTheMiddle:
    return AsksInTheMiddle()


@pytest.fixture(name="searcher")
def make_searcher(tmp_path: Path, middle: AsksInTheMiddle) -> Searcher:
    return MemoryVault(dict(NOTES)).searcher(tmp_path, "whoosh", EmbedderChoice(middle))


def test_a_small_question_waits_for_its_turn(searcher: Searcher, middle: AsksInTheMiddle) -> None:
    with ThreadPoolExecutor(1) as another:

        def ask() -> bool:
            middle.answers.append(asked := another.submit(searcher.folders))
            return bool(wait([asked], 0.05).done)

        middle.ask = ask
        assert searcher.search("the kettle").hits[0].path == "work/kettle.md"
        asked, came_in_the_middle = middle.answers
        assert not came_in_the_middle
        assert isinstance(asked, Future)
        assert asked.result(60) == FOLDERS


def test_a_small_question_uses_no_file_of_a_search_under_way_and_does_not_hang(
    searcher: Searcher, middle: AsksInTheMiddle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "PATIENCE", 0.01)
    assert searcher.folders() == FOLDERS
    middle.ask = searcher.folders
    assert searcher.search("the kettle").hits[0].path == "work/kettle.md"
    assert middle.answers == [frozenset()]
    assert searcher.folders() == FOLDERS


def test_many_threads_ask_at_once(searcher: Searcher) -> None:
    def ask(number: int) -> object:
        if number % 2:
            return searcher.folders()
        return searcher.search("kettle" if number % 4 else "beans").hits[0].path

    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(ask, range(200)))
    assert answers[:4] == ["work/deep/garden.md", FOLDERS, "work/kettle.md", FOLDERS]
    assert answers == answers[:4] * 50
