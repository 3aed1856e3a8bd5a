"""The gate of recall: general tasks are given nothing, questions about what was said keep theirs, one by one.

Measured on conversations that the gate was not fitted on.
"""

import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.config.load import load_settings
from agent.index.embedder import choose_embedder
from agent.index.query import Hit, Leg
from agent.memory.recall.likely import (
    LEAST,
    LikelyPassage,
    fits_by_itself,
    in_one_order,
    judge,
    likelihood,
    likelihood_by_itself,
    named_notes,
    nearly_best,
)
from agent.memory.recall.recaller import Remembered
from agent.memory.recall.where_and_when import MOST, clauses, sentences
from tests.bench import gate
from tests.bench.vault import KEYWORDS_ONLY, MemoryVault


def hit(passage: str = "", path: str = "a.md", *, score: float = 1.0, **signals: float) -> Hit:
    legs = tuple(Leg(name, 1, value, 0.0) for name, value in signals.items())
    return Hit(path, path.removesuffix(".md"), None, score, (1, 1), passage, (), legs)


def test_general_tasks_are_given_nothing_and_questions_in_other_words_keep_most() -> None:
    notes, questions = gate.facts(2)
    vault = MemoryVault(notes)
    with tempfile.TemporaryDirectory() as folder:
        searcher = vault.searcher(Path(folder), "whoosh", choose_embedder())

        def chances(task: str) -> dict[str, float]:
            found: dict[str, float] = {}
            for part in (part for sentence in sentences(task) for part in clauses(sentence)):
                answer = searcher.search(part, 12, passages=True, explain=True)
                for each in judge(part, answer.hits, answer.mode):
                    found[each.hit.path] = max(each.chance, found.get(each.hit.path, 0.0))
            return found

        given_ = [max(chances(task).values(), default=0.0) >= LEAST["normal"] for task in gate.general_tasks(2)]
        had = [(found, path) for question, path in questions if path in (found := chances(question))]
        kept = [found[path] >= LEAST["normal"] for found, path in had]
        searcher.close()
    assert sum(given_) / len(given_) <= 0.10
    assert sum(kept) / len(kept) >= 0.82


def test_what_the_link_says_is_not_said_again() -> None:
    passage = Remembered("Projects/Kitchen.md", "Kitchen > Open", "", (1, 2), "- tiles", 1.0, "note", length=9)
    assert passage.model_text == "[[Projects/Kitchen]] > Open, lines 1–2 of 9\n- tiles"
    assert replace(passage, title="The kitchen").model_text.startswith("[[Projects/Kitchen]] The kitchen, lines")


def test_without_vectors_the_words_alone_decide() -> None:
    notes, _ = gate.facts(1)
    with tempfile.TemporaryDirectory() as folder:
        searcher = MemoryVault(notes).searcher(Path(folder), "whoosh", KEYWORDS_ONLY)
        for task, is_given in (
            ("What is the derivative of x squared?", False),
            ("Which digits end my library card?", True),
        ):
            answer = searcher.search(task, 12, passages=True, explain=True)
            best = max((likelihood(task, each, answer.mode) for each in answer.hits), default=0.0)
            assert (best >= LEAST["normal"]) is is_given
        searcher.close()


@pytest.mark.parametrize(
    ("about_the_person", "general"),
    [
        ("Where is my passport?", "What is a passport?"),
        ("Which of the two offers should I take?", "How do I compare two offers?"),
        ("When did we paint the fence?", "Tell me how to paint a fence"),
        ("外婆今年多大了？", "什么是闰年？"),
        ("我的护照放在哪里？", "请给我解释护照是什么意思"),
    ],
)
def test_what_asks_for_one_case_of_the_person_s_needs_less_of_a_passage(about_the_person: str, general: str) -> None:
    passage = hit("It is in the drawer.", unit_cosine=0.3, coverage=0.3, missed=1.0)
    assert likelihood(about_the_person, passage, "hybrid") > likelihood(general, passage, "hybrid") + 0.2


def test_a_stranger_s_text_gains_nothing_from_what_is_asked() -> None:
    passage = hit("My sister Ana", unit_cosine=0.3, coverage=0.3, missed=1.0)
    assert likelihood("Where does my sister Ana live?", passage, "hybrid") > 0.8
    assert likelihood_by_itself(passage, "hybrid") < 0.25 and not fits_by_itself(passage, "hybrid")


@pytest.mark.parametrize(
    ("asked", "title", "others", "is_named"),
    [
        ("What does the Blue Heron need?", "Blue heron", 9, True),
        ("Call Rui about it", "Rui", 0, True),
        ("What shall we do at work today?", "Work", 9, False),
        ("The heron is blue", "Blue heron", 0, False),
        ("给李小雷写信", "李小雷", 9, True),
        ("看看今天的工作", "工作", 9, False),
    ],
)
def test_a_name_in_the_request_counts_if_it_is_long_or_rare(
    asked: str, title: str, others: int, is_named: bool
) -> None:
    found = [hit("", f"{title}.md"), *(hit(f"more {title} here", f"{at}.md") for at in range(others))]
    assert (f"{title}.md" in named_notes(asked, found)) is is_named


def test_an_alias_names_a_note_too() -> None:
    note = Hit("p/l.md", "L", None, 1.0, (1, 1), "", (), (), (("aliases", "lia santos"),))
    assert named_notes("Can Lia Santos eat this?", [note]) == {"p/l.md"}


def test_one_passage_comes_in_and_its_neighbour_does_not() -> None:
    right = hit("Rui repairs roofs", "rui.md", unit_cosine=0.6, coverage=0.6, missed=0.5)
    wrong = hit("The boiler is old", "boiler.md", unit_cosine=0.05, coverage=0.0, missed=2.0)
    question, behind = "Which roofer should I take?", "Consider money and time."
    searches = [judge(part, [right, wrong], "hybrid") for part in (question, behind)]
    assert [each.hit.path for each in in_one_order(nearly_best(searches, "normal"))] == ["rui.md"]
    assert {each.hit.path for each in in_one_order(nearly_best(searches, "off"))} == {"rui.md", "boiler.md"}
    assert nearly_best([judge("Translate hello into French", [wrong], "hybrid")], "normal") == [[]]


def test_what_is_no_question_is_given_nothing_that_shares_neither_word_nor_meaning_with_it() -> None:
    far = hit("Tom has a course", "tom.md", unit_cosine=0.12, coverage=0.0, missed=1.7)
    near = hit("The lift is on the 14th", "lift.md", unit_cosine=0.4, coverage=0.0, missed=1.7)
    for said in ("No wait, take that back, I do need it", "哎不对，我看错了"):
        assert [each.hit.path for each in nearly_best([judge(said, [far, near], "hybrid")], "normal")[0]] == ["lift.md"]
    asked = judge("What did I forget there?", [far], "hybrid")
    assert nearly_best([asked], "normal") == [asked], "a question may be in wholly other words"


@pytest.mark.parametrize(
    "question",
    ["btw what was the name of the deputy head again and when does she answer", "对了 副校长叫什么来着 哪天回信"],
)
def test_half_of_a_question_s_rare_words_are_enough(question: str) -> None:
    has = hit("Deputy head at Ashton Park", "joyce.md", unit_cosine=0.29, coverage=0.55, missed=1.2)
    less = hit("Head of the lettuce", "salad.md", unit_cosine=0.1, coverage=0.3, missed=1.7)
    assert [each.hit.path for each in nearly_best([judge(question, [has, less], "hybrid")], "normal")[0]] == [
        "joyce.md"
    ]


def test_a_part_with_a_day_does_not_keep_out_what_answers_another_part() -> None:
    of_day = hit("Swimming with Tom", "journal.md", unit_cosine=0.5, coverage=0.5, date=1.0)
    lock = hit("The lock opens with 4711", "lock.md", unit_cosine=0.3, coverage=0.3)
    parts = [[LikelyPassage(0.99, of_day, "hybrid")], [LikelyPassage(0.6, lock, "hybrid")]]
    assert nearly_best(parts, "normal") == [parts[0], []]
    queues = [queue for each in parts for queue in nearly_best([each], "normal")]
    assert [each.hit.path for each in in_one_order(queues)] == ["journal.md", "lock.md"]


@given(st.lists(st.lists(st.floats(0, 1), max_size=6), max_size=4))
def test_the_order_is_of_likely_ones_once_each(rows: list[list[float]]) -> None:
    searches = [
        [LikelyPassage(chance, hit("", f"{at}.md", coverage=1.0), "hybrid") for at, chance in enumerate(row)]
        for row in rows
    ]
    found = in_one_order(nearly_best(searches, "normal"))
    assert len({each.hit.path for each in found}) == len(found)
    assert all(each.chance >= LEAST["normal"] for each in found)
    best = max((chance for row in rows for chance in row), default=0.0)
    assert bool(found) == (best >= LEAST["normal"])


@given(st.text(max_size=3_000))
def test_a_request_has_few_parts_and_none_is_a_filter(text: str) -> None:
    parts = sentences(text)
    assert len(parts) <= MOST and len(set(parts)) == len(parts)
    assert all(len(each) <= 1_200 and each in clauses(each) and len(clauses(each)) <= MOST for each in parts)


def test_a_request_is_cut_where_it_says_something_else() -> None:
    assert sentences("Which roofer should I take? Consider money and time.") == (
        "Which roofer should I take?", "Consider money and time.",
    )  # fmt: skip
    long = "I meet Marek on Sunday for the hike, and Nuno wants to know what to bring: who has the tent?"
    assert "and Nuno wants to know what to bring" in clauses(long) and long in clauses(long)
    assert sentences("Is it 3.5 or 12:30 in v1.2?") == ("Is it 3.5 or 12: 30 in v1.2?",)
    assert sentences("?!") == ()


def test_the_floor_is_a_setting_and_strict_is_above_normal() -> None:
    assert load_settings(environ={}).settings.memory.floor == "normal"
    assert LEAST["off"] == 0.0 < LEAST["normal"] < LEAST["strict"] < 1.0
