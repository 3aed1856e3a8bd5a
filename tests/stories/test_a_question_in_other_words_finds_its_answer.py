"""With `memory.ask_for_words` the fast model gives other words for a question; only the search sees them."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from agent.app.agent import build_runs
from agent.app.open import open_workspace
from agent.runs.question_words import parse_words
from agent.runs.service import RunService
from agent.workspace.search_index import open_index
from tests.stories.agents import document, furnish, script, settings, tell

ASKS = "Below is a question of a person"
ALLERGY = "Penicillin gives me a rash."
QUESTION = "Which antibiotic must a doctor never give me?"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = furnish(tmp_path, monkeypatch.setenv)
    for said in (ALLERGY, "I never give up on a doctor who listens.", "The gate code is 4471."):
        tell(root, settings(tmp_path), "remember", said)
    return root


def own(folder: Path, *replies: object, switch: str = "true") -> dict[str, str]:
    """The settings with a model that says this when it is asked for words."""
    asked = [{"text": reply, "when": ASKS} if isinstance(reply, str) else {**reply, "when": ASKS} for reply in replies]  # type: ignore[dict-item]
    return {
        **settings(folder, script(folder / "script.json", *asked, after="Noted.")),
        "VAULT_AGENT_MEMORY__ASK_FOR_WORDS": switch,
    }


@contextmanager
def opened(root: Path, wanted: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Iterator[RunService]:
    for key, value in wanted.items():
        monkeypatch.setenv(key, value)
    workspace = open_workspace(root)
    with closing(open_index(workspace)) as index, closing(build_runs(workspace, index)) as agent:
        index.refresh()
        yield agent


def test_the_memory_is_given_first_and_the_question_is_asked_about_once(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(root, own(tmp_path, "x", switch="false"), monkeypatch) as agent:
        assert ALLERGY not in [each.text for each in agent.given(QUESTION).memories.found[:1]]
    with opened(root, own(tmp_path, "allergic rash penicillin medicine", {"error": "permanent"}), monkeypatch) as agent:
        for _ in range(2):
            assert agent.given(QUESTION).memories.found[0].text == ALLERGY
    (shown, *_) = document(root, own(tmp_path, "rash, penicillin"), "recall", QUESTION)["pieces"]
    assert shown["text"] == ALLERGY, "recall shows what a run is given"


@pytest.mark.parametrize("reply", ["NONE", "", {"error": "permanent"}])
def test_a_model_that_gives_no_words_changes_nothing(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reply: object
) -> None:
    given = []
    for wanted in (own(tmp_path, "x", switch="false"), own(tmp_path, reply)):
        with opened(root, wanted, monkeypatch) as agent:
            given.append([each.text for each in agent.given(QUESTION).memories.found])
    assert given[0] == given[1]


@pytest.mark.parametrize("task", ["What is the gate code?", "What is the derivative of x squared?"])
def test_the_model_is_not_asked_where_the_first_search_is_sure(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, task: str
) -> None:
    with opened(root, own(tmp_path, "rash penicillin"), monkeypatch) as agent:
        assert ALLERGY not in [each.text for each in agent.given(task).memories.found[:1]]
        assert agent.given(QUESTION).memories.found[0].text == ALLERGY, "the reply was still there"


def test_any_answer_of_the_model_is_words_only() -> None:
    assert parse_words("allergic, path:secrets/ penicillin\nand more") == "allergic path secrets penicillin"
    assert parse_words("NONE") == parse_words("  \n") == parse_words("NONE.") == ""
    assert (
        len(parse_words("word " * 500).split()) == 1 and len(parse_words(" ".join(map(str, range(99)))).split()) == 16
    )
    assert parse_words("护照 抽屉，柜子") == "护照 抽屉 柜子"
