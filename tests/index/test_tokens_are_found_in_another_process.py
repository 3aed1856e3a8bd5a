"""What another process finds in a text is what this one would find; whatever stops it, this one finds it itself."""

import shutil
from pathlib import Path

import pytest

from agent.index.embedder import load_wordllama
from agent.index.model_files import FileTokenizer, tokenizer_of

pytest.importorskip("wordllama")
SHIPPED = load_wordllama().ids
TEXTS = ["garden", "", "预算 会议 in Q3?", "naïve 🌱\x00\n\ttwo  spaces", "x" * 1_999]


@pytest.fixture(autouse=True)
def unloaded() -> None:
    """This process has not loaded the tokenizer yet."""
    tokenizer_of.cache_clear()


def file() -> Path:
    assert isinstance(SHIPPED, FileTokenizer)
    return SHIPPED.file


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: repr(text)[:20])
def test_it_finds_the_same(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = SHIPPED([text])
    tokenizer_of.cache_clear()
    asked = FileTokenizer(file())
    asked.begin(text)
    monkeypatch.setattr("agent.index.model_files.tokenizer_of", _never)
    assert asked([text]) == wanted == asked([text])


def test_another_text_is_no_answer() -> None:
    asked = FileTokenizer(file())
    asked.begin("garden")
    assert asked(["budget"]) == SHIPPED(["budget"])
    assert asked(["garden", "budget"]) == SHIPPED(["garden", "budget"])


@pytest.mark.parametrize("text", ["x" * 5_000, "\ud800"], ids=["long", "no text"])
def test_what_is_not_passed_on_is_found_here(text: str) -> None:
    results = []
    for asked in (FileTokenizer(file()), SHIPPED):
        if isinstance(asked, FileTokenizer):
            asked.begin(text)
        try:
            results.append(asked([text]))
        except TypeError:  # of the tokenizer, for what is no text
            results.append([])
    assert results[0] == results[1]


@pytest.mark.parametrize("program", ["false", "true"])
def test_a_process_that_fails_changes_nothing(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", shutil.which(program))
    asked = FileTokenizer(file())
    asked.begin("garden")
    assert asked(["garden"]) == SHIPPED(["garden"])


def _never(*asked: object, **terms: object) -> None:
    raise AssertionError(f"it was not to be done: {asked}")


def test_no_process_is_started_where_the_tokenizer_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = SHIPPED(["garden"])
    monkeypatch.setattr("agent.index.model_files.subprocess.run", _never)
    asked = FileTokenizer(file())
    asked.begin("garden")
    assert asked(["garden"]) == wanted
