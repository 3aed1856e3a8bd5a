"""The floor of recall: general tasks are given no memory, questions about what was said keep theirs.

Both halves are measured on conversations that the floor was not fitted on; LoCoMo's where the data is.
"""

import tempfile
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from agent.config.load import load_settings
from agent.index.embedder import EmbedderChoice, choose_embedder
from agent.index.hit import Hit, Leg
from agent.memory.entry import Entry, EntryType
from agent.memory.recall.asker import Asker
from agent.memory.recall.floor import LEAST, is_personal, probability
from agent.memory.recall.recaller import Recollection
from tests.bench import recall
from tests.bench.floor import CONVERSATIONS, general_tasks
from tests.bench.locomo import DATA
from tests.bench.vault import MemoryVault, recaller_over

SETTINGS = load_settings(environ={}).settings.memory
NOW = datetime(2026, 11, 21, tzinfo=UTC)


def hit(passage: str = "", **signals: float) -> Hit:
    return Hit(
        "a.md", "A", None, 1.0, (1, 1), passage, (), tuple(Leg(name, 1, value, 0.0) for name, value in signals.items())
    )


def recalling(notes: dict[str, bytes], ask: Callable[[Callable[[str], Recollection]], None],
              chosen: EmbedderChoice | None = None) -> None:  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        searcher = MemoryVault(notes).searcher(Path(folder), "whoosh", chosen or choose_embedder())
        found = recaller_over(
            lambda text, limit: searcher.search(text, limit, explain=True), notes.get, lambda: NOW, recall.lasting()
        )
        ask(lambda question: found.recall(question, Asker(), 8, unasked=True))
        searcher.close()


def told(number: int) -> tuple[dict[str, bytes], list[tuple[str, str]]]:
    """The facts of a file of conversations as entries, and the questions for them with their notes."""
    file = yaml.safe_load((CONVERSATIONS / f"fortnight{number}.yaml").read_text("utf-8"))
    entries = [
        Entry(f"01HZZZZZZZ{at:016d}", NOW, each["says"], EntryType.FACT) for at, each in enumerate(file["facts"])
    ]
    questions = [(each["question"], entry.path) for each, entry in zip(file["facts"], entries, strict=True)]
    return {each.path: each.note() for each in entries}, questions


def shares(
    recalled: Callable[[str], Recollection], general: Sequence[str], questions: Sequence[tuple[str, Sequence[str]]]
) -> tuple[float, float]:
    """The share of general tasks that are given something, and of questions that lose the evidence they would have."""
    given = [bool(recalled(task).above("normal").found) for task in general]
    answered = [(recalled(question), evidence) for question, evidence in questions]
    had = [found for found, evidence in answered if {each.path for each in found.found}.intersection(evidence)]
    lost = [not found.above("normal").found for found in had]
    return sum(given) / len(given), sum(lost) / len(lost)


def test_general_tasks_are_given_nothing_and_questions_in_other_words_keep_most() -> None:
    notes, questions = told(2)

    def ask(recalled: Callable[[str], Recollection]) -> None:
        given, lost = shares(recalled, general_tasks(2), [(question, [path]) for question, path in questions])
        assert given <= 0.10, given
        assert lost <= 0.25, lost

    recalling(notes, ask)


@pytest.mark.skipif(not DATA.exists(), reason="LoCoMo is not here")
def test_no_question_of_locomo_loses_its_evidence() -> None:
    talk = recall.read()[3]

    def ask(recalled: Callable[[str], Recollection]) -> None:
        given, lost = shares(recalled, general_tasks(2)[:100], talk.questions)
        assert lost <= 0.03, lost
        assert given <= 0.10, given

    recalling(dict(talk.notes), ask)


def test_without_vectors_the_words_alone_decide() -> None:
    notes, questions = told(1)

    def ask(recalled: Callable[[str], Recollection]) -> None:
        assert recalled("What is the derivative of x squared?").above("normal").found == ()
        assert recalled("Which digits end my library card?").above("normal").found != ()

    recalling(notes, ask, EmbedderChoice(None))


@pytest.mark.parametrize(
    ("task", "passage", "personal"),
    [
        ("Where is my passport?", "", True),
        ("Where's the key we hid?", "", True),
        ("外婆今年多大了？", "", True),
        ("What does Callum teach?", "my husband Callum teaches woodwork", True),
        ("What does Einstein's equation say?", "my husband Callum teaches woodwork", False),
        ("What is the plural of sister-in-law?", "My sister lives in Porto", False),
        ("酸雨是怎么形成的？", "我每周六上午教中文", False),
    ],
)
def test_a_task_is_personal_by_its_words_or_a_name_that_is_known(task: str, passage: str, personal: bool) -> None:
    assert is_personal(task, [hit(passage)]) is personal


def test_a_day_that_is_named_is_given_and_nothing_found_helps_nothing() -> None:
    assert probability("Where did we stop yesterday?", [hit(date=0.5)], "hybrid") == 1.0
    assert probability("Where is my passport?", [], "hybrid") == 0.0


def test_the_floor_is_a_setting_and_strict_is_above_normal() -> None:
    assert SETTINGS.floor == "normal"
    assert LEAST["off"] == 0.0 < LEAST["normal"] < LEAST["strict"] < 1.0
    assert Recollection((), helps=0.0).above("off").helps == 0.0
