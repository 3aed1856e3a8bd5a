"""An answer of a model about a run: asked for again where something is wrong with it, and never lost; nothing in it can
end the program."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.context.prompt import nothing
from agent.errors import LimitReached, Retryable
from agent.growth.lessons.reflecting import parse_answer
from agent.growth.lessons.reflection import Reflection, Strategy
from agent.growth.model_reply import ParsedReply, ask_model
from agent.llm.messages import Assistant, Cancelled, Model, OnText, Reply, Request, Usage, ignore, never
from tests.growth.work import NOW

PLACED = Reflection("reflections/a.md", NOW, "task", ("r1",), ())


def judged(*words: Any) -> Reflection:
    """A reflection with these words, in the order of its fields."""
    return Reflection(PLACED.path, NOW, "task", ("r1",), (), *words)


def parsed(reply: str) -> ParsedReply[Reflection]:
    return parse_answer(reply, PLACED)


def ask(model: "Says") -> ParsedReply[Reflection]:
    return ask_model(model, "Judge.", parsed, 100, nothing)


def part(name: str, text: str = "a", **more: object) -> dict[str, object]:
    return {"part": name, "text": text, **more}


def parts(*found: dict[str, object]) -> str:
    return json.dumps(found)


WHOLE = f"""Here is what I think:

```json
{
    parts(
        part("result", "The table was written."),
        part("error", "The note was replaced as a whole.", kind="Strategy"),
        part(
            "strategy",
            "只改一节。",
            when="笔记已经存在",
            effect="什么都不丢",
            confidence="HIGH",
            severity="medium",
            restricts=True,
        ),
        part("strategy", "Never replace a note without asking.", when=None, confidence="low", severity="high"),
        part("gap", "A tool for tables."),
        part("mood", "good"),
    )
}
```
"""


def test_its_parts_are_those_of_a_reflection() -> None:
    found = parsed(WHOLE)
    assert found.problems == () and found.value == judged(
        "The table was written.",
        "",
        "The note was replaced as a whole.",
        "strategy",
        (
            Strategy("只改一节。", "笔记已经存在", "什么都不丢", "high", "medium", True),
            Strategy("Never replace a note without asking.", "", "", "low", "high"),
        ),
        "A tool for tables.",
    )


HOSTILE = {
    "no array": "I think that all went well: mostly.",
    "no object": "[1, 2]",
    "other parts": parts(part("mood")),
    "cut off": WHOLE[:200],
    "deep": "[" * 20_000 + "]" * 20_000,
    "a number": '[{"part": "result", "text": ' + "9" * 5_000 + "}]",
}


@pytest.mark.parametrize("reply", HOSTILE.values(), ids=HOSTILE.keys())
def test_what_cannot_be_parsed_is_asked_for_once_more(reply: str) -> None:
    model = Says(reply, reply)
    found = ask(model)
    assert found.value is None and found.text == reply.strip() and len(model.asked) == 2
    assert "could not be used" in model.asked[1].messages[-1].text


STRATEGY = part("strategy", confidence="low", severity="low")


@pytest.mark.parametrize(
    ("found", "problem"),
    [
        ([STRATEGY | {"confidence": "perhaps"}], "confidence is one of"),
        ([STRATEGY | {"severity": 11}], "severity is one of"),
        ([part("error", "b", kind="E")], "the kind of the error is one of"),
        ([STRATEGY | {"text": ""}], "strategy 1 has no text"),
        ([STRATEGY] * 5, "there are 5 strategies"),
    ],
)
def test_wrong_words_are_asked_about_once_and_count_least(found: list[dict[str, object]], problem: str) -> None:
    reply = parts(part("result"), *found)
    model = Says(reply, reply)
    answer = ask(model).value
    assert isinstance(answer, Reflection) and answer.result == "a" and problem in model.asked[1].messages[-1].text
    assert len(answer.strategies) <= 3 and answer.error_kind is None
    assert {each.confidence for each in answer.strategies} <= {"low"}
    mended = Says(reply, parts(part("result", "better")))
    assert ask(mended).value == judged("better")


def test_an_error_of_the_second_try_loses_nothing_of_the_first() -> None:
    half = parts(part("error", "b", kind="E"))
    found = ask(Says(half, Retryable("busy"))).value
    assert isinstance(found, Reflection) and found.error == "b"
    assert ask(Says("Well.", LimitReached("no money", limit="x"))).text == "Well."
    with pytest.raises(Retryable):
        ask(Says("Well.", Retryable("busy")))


@pytest.mark.parametrize("none", ["", "none", "null", "N/A", "无"])
def test_a_form_that_is_filled_in_to_its_end_says_nothing_more(none: str) -> None:
    found = parsed(parts(part("result", "Done."), part("error", none, kind="tool"), part("gap", none)))
    assert found.problems == () and found.value == judged("Done.")


@settings(max_examples=200, deadline=None)
@given(st.lists(st.one_of(st.text(max_size=12), st.sampled_from((*'[]{}:,"', '{"part": "strategy", ', "null")))))
def test_no_answer_ends_the_program(pieces: list[str]) -> None:
    found = parsed("".join(pieces))
    assert found.value is not None or found.problems


@pytest.mark.parametrize("when", ["always", "Always.", "总是", "任何情况下"])
def test_a_strategy_for_every_case_names_none(when: str) -> None:
    found = parsed(parts(STRATEGY | {"when": when})).value
    assert found is not None and [each.when for each in found.strategies] == [""]


class Says:
    """A model that says these texts in order, or raises these errors."""

    def __init__(self, *replies: str | Exception) -> None:
        self.replies = list(replies)
        self.asked: list[Request] = []

    @property
    def model(self) -> Model:
        return Model("said", 100_000, 4_000)

    def chat(self, request: Request, on_text: OnText = ignore, cancelled: Cancelled = never) -> Reply:
        self.asked.append(request)
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return Reply(Assistant(reply), Usage(1, 1), "end", "said")
