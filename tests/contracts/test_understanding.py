"""What every understanding promises to memory, with a model or without; and what a model is not believed."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest

from agent.errors import Retryable
from agent.memory.understanding.model import CHARACTERS, ITEMS, ModelUnderstanding
from agent.memory.understanding.rules import RULES
from agent.memory.understanding.seam import Fact, FactKind, Pair, SourceText, TextRelation, Understanding
from tests.memory.pairs import DIFFERENT


@dataclass
class ScriptedModel:
    """Answers each question with the next line of a script, an error by raising it; remembers what it was asked."""

    script: list[object] = field(default_factory=list)
    asked: list[tuple[str, list[dict[str, object]]]] = field(default_factory=list)

    def __call__(self, prompt: str, questions: str) -> str:
        self.asked.append((prompt, json.loads(questions)))
        answer = self.script.pop(0) if self.script else []
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)


class Credulous:
    """A model that says of every pair that it is the same, and of every text that all of it is a preference."""

    def __call__(self, prompt: str, questions: str) -> str:
        asked = json.loads(questions)
        if prompt == "facts":
            return json.dumps(
                [{"number": each["number"], "kind": "preference", "quote": each["text"]} for each in asked]
            )
        return json.dumps([{**each, "relation": "same"} for each in asked])


MAKERS: dict[str, Callable[[], Understanding]] = {
    "rules": lambda: RULES,
    "model that says nothing": lambda: ModelUnderstanding(ScriptedModel()),
    "model out of form": lambda: ModelUnderstanding(ScriptedModel(["Sure! Here you go: {", "[1, 2"] * 9)),
    "model that fails": lambda: ModelUnderstanding(ScriptedModel([Retryable("the line is busy")] * 9)),
    "model that says yes to all": lambda: ModelUnderstanding(Credulous()),
}


@pytest.fixture(params=MAKERS)
def understanding(request: pytest.FixtureRequest) -> Understanding:
    return MAKERS[request.param]()


def test_there_is_one_answer_for_each_question(understanding: Understanding) -> None:
    pairs = [
        Pair("Anna likes tea.", "anna likes tea"),
        Pair("", ""),
        Pair("x", "y"),
        *(Pair(*pair) for pair in DIFFERENT),
    ]
    assert len(understanding.compare(pairs)) == len(pairs)
    assert len(understanding.facts([SourceText("I prefer tea."), SourceText(""), SourceText("\n> no")])) == 3
    assert understanding.compare([]) == () and understanding.facts([]) == ()


def test_the_same_words_are_the_same_in_any_language(understanding: Understanding) -> None:
    pairs = [
        Pair("Anna likes tea!", "anna likes tea"),
        Pair("我喜欢绿茶。", "我喜欢绿茶"),
        Pair("Ich mag Tee", "ich mag Tee."),
    ]
    assert set(understanding.compare(pairs)) == {TextRelation.SAME}


@pytest.mark.parametrize(
    ("newer", "older"),
    [
        ("Anna's birthday is on 3 May", "Anna's birthday is on 4 May"),
        ("I eat peanuts", "I never eat peanuts"),
        ("我喜欢绿茶", "我不喜欢绿茶"),
        ("会议定在下午三点", "会议定在下午四点"),
    ],
)
def test_another_number_or_a_not_is_never_the_same(understanding: Understanding, newer: str, older: str) -> None:
    assert understanding.compare([Pair(newer, older)]) != (TextRelation.SAME,)


@pytest.mark.parametrize("text", ["I prefer tea in the morning.\nWhat is new?", "我喜欢绿茶。\n你呢？"])
def test_every_fact_quotes_a_line_of_its_source(understanding: Understanding, text: str) -> None:
    (facts,) = understanding.facts([SourceText(text)])
    assert facts
    for fact in facts:
        assert fact.text in fact.quote and fact.quote in text.splitlines()


def model(*answers: object) -> tuple[ModelUnderstanding, ScriptedModel]:
    script = ScriptedModel(list(answers))
    return ModelUnderstanding(script), script


ADORES = Pair("Anna adores green tea", "Anna loves green tea")


def test_a_model_finds_what_is_said_in_other_words() -> None:
    understanding, script = model(
        [{"number": 1, "relation": "same", "newer": "adores green tea", "older": "loves green tea"}]
    )
    assert understanding.compare([Pair("x", "x"), ADORES]) == (TextRelation.SAME, TextRelation.SAME)
    assert script.asked == [("compare", [{"number": 1, "newer": ADORES.newer, "older": ADORES.older}])]


@pytest.mark.parametrize(
    "answer",
    [
        {"number": 1, "relation": "same", "newer": "adores black tea", "older": "loves green tea"},
        {"number": 1, "relation": "same", "newer": "", "older": ""},
        {"number": 1, "relation": "same"},
        {"number": 7, "relation": "same", "newer": "Anna", "older": "Anna"},
        {"number": 1, "relation": "equal", "newer": "Anna", "older": "Anna"},
        "same",
    ],
)
def test_an_answer_without_its_quotes_or_out_of_form_is_refused(answer: object) -> None:
    understanding, _ = model([answer])
    assert understanding.compare([ADORES]) == (TextRelation.DIFFERENT,)


@pytest.mark.parametrize(
    "answer",
    [
        {"number": 1, "kind": "person", "quote": "Anna hates tea"},
        {"number": 1, "kind": "gossip", "quote": "Anna pours tea on Sundays"},
        {"number": 1, "kind": "person", "quote": "Does she?"},
        {"number": 1, "kind": "person", "quote": "Anna pours tea on Sundays\nDoes she?"},
        {"number": 1, "kind": "person"},
    ],
)
def test_a_fact_that_is_not_in_the_text_is_refused(answer: object) -> None:
    understanding, _ = model([answer])
    source = SourceText("Anna pours tea on Sundays\nDoes she?")
    assert understanding.facts([source]) == RULES.facts([source])


def test_a_model_finds_facts_that_no_rule_knows_and_says_them_in_the_persons_words() -> None:
    understanding, _ = model([{"number": 1, "kind": "person", "quote": "Anna gießt sonntags Tee auf"}])
    source = SourceText("- Anna gießt sonntags Tee auf, wie immer")
    assert understanding.facts([source]) == (
        (Fact("Anna gießt sonntags Tee auf", FactKind.PERSON, "- Anna gießt sonntags Tee auf, wie immer"),),
    )


def test_a_batch_is_one_call_of_a_bounded_size() -> None:
    understanding, script = model()
    many = [
        Pair(f"Anna adores the {word * 90} garden tea", f"Anna loves the {word * 90} garden tea")
        for word in "abcdefghij" * 9
    ]
    understanding.compare(many)
    understanding.facts([SourceText("Tea is good. " * 90)] * 50)
    assert len(script.asked) == 2
    for _, questions in script.asked:
        texts = [text for each in questions for text in each.values() if isinstance(text, str)]
        assert len(questions) <= ITEMS and sum(map(len, texts)) <= CHARACTERS


def test_what_rules_can_tell_is_not_asked() -> None:
    understanding, script = model()
    sure: Sequence[Pair] = (
        Pair("Anna likes tea", "anna likes tea!"),
        Pair("I like coffee", "I don't like coffee"),
        Pair("a b", "x y"),
    )
    assert understanding.compare(sure) == (TextRelation.SAME, TextRelation.CONTRADICTS, TextRelation.DIFFERENT)
    assert script.asked == []
