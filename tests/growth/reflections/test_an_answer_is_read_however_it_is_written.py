"""An answer of a model about a run: read in either language, mended where it is clear, asked about again where not, and
never lost; nothing in it can end the program."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.context.prompt import nothing
from agent.errors import LimitReached, Permanent, Retryable
from agent.growth.lessons.reflecting import ask_for_answer
from agent.growth.lessons.reflection import Reflection, Strategy
from agent.growth.lessons.reflection_answer import ParsedAnswer, parse_answer
from agent.llm.messages import Assistant, Cancelled, Model, OnText, Reply, Request, Usage, ignore, never
from agent.markdown.yaml_write import MAX_BYTES
from tests.growth.work import NOW

PLACED = Reflection("reflections/a.md", NOW, "task", ("r1",), ())


def judged(*words: Any) -> Reflection:
    """A reflection with these words, in the order of its fields."""
    return Reflection(PLACED.path, NOW, "task", ("r1",), (), *words)


def parsed(said: str) -> ParsedAnswer:
    return parse_answer(said, PLACED)


ENGLISH = """Here is what I think:

```yaml
result: "The table was written."
efficiency: Two reads of one note: one was enough.
error:
  what: "The note was replaced as a whole."
  kind: B
strategies:
  - strategy: "Change one section only."
    when: "a note is there already"
    effect: "nothing is lost"
    confidence: HIGH
    severity: medium
    restricts: true
  - strategy: "Never replace a note without asking."
    confidence: LOW
    severity: HIGH
    restricts: true
gap: "A tool for tables."
```
"""
CHINESE = """五维反思:
  1. 结果评估: 表格写好了。
  2. 效率分析: 读了两次同一篇笔记。
  3. 错误诊断:
    根本原因: 整篇笔记被替换了。
    类别: B. 策略不当
  4. 策略建议:
    - 策略: 只改一节。
      适用场景: 笔记已经存在
      预期效果: 什么都不丢
      置信度: 高
      严重程度: 中
  能力缺口: 没有改表格的工具。
"""


def test_english_keys_are_read() -> None:
    found = parsed(ENGLISH)
    assert found.problems == () and found.answer == judged(
        "The table was written.",
        "Two reads of one note: one was enough.",
        "The note was replaced as a whole.",
        "strategy",
        (
            Strategy("Change one section only.", "a note is there already", "nothing is lost", "high", "medium", True),
            Strategy("Never replace a note without asking.", "", "", "low", "high", restricts=True),
        ),
        "A tool for tables.",
    )


def test_chinese_keys_are_read() -> None:
    found = parsed(CHINESE)
    assert found.problems == () and found.answer == judged(
        "表格写好了。",
        "读了两次同一篇笔记。",
        "整篇笔记被替换了。",
        "strategy",
        (Strategy("只改一节。", "笔记已经存在", "什么都不丢", "high", "medium"),),
        "没有改表格的工具。",
    )


HOSTILE = {
    "aliases": "result: &a [x, x]\nefficiency: *a\n",
    "a bomb": "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nresult: [*b,*b,*b,*b,*b,*b,*b,*b]\n",
    "a tag": "result: !!python/object/apply:os.system ['true']\n",
    "an own tag": "result: !thing x\n",
    "huge": "result: " + "x" * (MAX_BYTES + 1),
    "deep": "result: " + "[" * 200 + "]" * 200,
    "two documents": "result: a\n---\nresult: b\n",
    "twice": "result: a\nresult: b\n",
    "a list": "- result\n- gap\n",
    "prose": "I think that all went well: mostly.",
    "other keys": "mood: good\nweather: fine\n",
    "control characters": "result: a\x00b\n",
    "half a character": "result: \udcff\n",
    "an endless key": "? " * 400,
}


@pytest.mark.parametrize("said", HOSTILE.values(), ids=HOSTILE.keys())
def test_what_cannot_be_read_is_kept_as_text_after_one_more_try(said: str) -> None:
    model = Says(said, said)
    found = ask_for_answer(model, "Judge.", PLACED, nothing)
    assert found == said.strip() and len(model.asked) == 2
    assert "could not be used" in model.asked[1].messages[-1].text


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ("result: a\nstrategies: [{strategy: s, confidence: perhaps}]\n", "confidence is 'perhaps'"),
        ("result: a\nstrategies: [{strategy: s, confidence: HIGH, severity: 11}]\n", "severity is '11'"),
        ("result: a\nerror: {what: b, kind: E}\n", "error.kind is 'E'"),
        ("result: a\nstrategies: [{strategy: '', confidence: HIGH}]\n", "strategy 1 has no text"),
        ("result: a\nstrategies: [" + "{strategy: s, confidence: LOW}," * 5 + "]\n", "there are 5 strategies"),
    ],
)
def test_wrong_words_are_asked_about_once_and_count_least(said: str, problem: str) -> None:
    model = Says(said, said)
    found = ask_for_answer(model, "Judge.", PLACED, nothing)
    assert isinstance(found, Reflection) and found.result == "a" and problem in model.asked[1].messages[-1].text
    assert len(found.strategies) <= 3 and found.error_kind is None
    assert {each.confidence for each in found.strategies} <= {"low", "high"}
    mended = Says(said, "result: better\n")
    assert ask_for_answer(mended, "Judge.", PLACED, nothing) == judged("better")


def test_an_error_of_the_second_try_loses_nothing_of_the_first() -> None:
    half = "result: a\nerror: {what: b, kind: E}\n"
    found = ask_for_answer(Says(half, Retryable("busy")), "Judge.", PLACED, nothing)
    assert isinstance(found, Reflection) and found.error == "b"
    assert ask_for_answer(Says("Well.", LimitReached("no money", limit="x")), "Judge.", PLACED, nothing) == "Well."
    with pytest.raises(Retryable):
        ask_for_answer(Says("Well.", Retryable("busy")), "Judge.", PLACED, nothing)


def test_an_empty_answer_is_an_error() -> None:
    with pytest.raises(Permanent):
        ask_for_answer(Says(" "), "Judge.", PLACED, nothing)


@pytest.mark.parametrize("none", ["", "none", "null", "[]", "无", "- none"])
def test_no_strategy_is_said_in_many_ways(none: str) -> None:
    found = parsed(f"result: a\nstrategies:{' ' if not none.startswith('-') else chr(10) + '  '}{none}\n")
    assert found.answer == judged("a") and found.problems == ()


keys = st.sampled_from(
    ("result", "error", "strategies", "结果", "策略", "gap", "confidence", "when", "x", "&a", "*a", "!t")
)
pieces = st.one_of(
    keys,
    st.text(max_size=12),
    st.sampled_from(
        (
            ": ",
            "\n",
            "- ",
            "  ",
            "[",
            "]",
            "{",
            "}",
            "```yaml\n",
            "\n```\n",
            "|",
            ">",
            '"',
            "'",
            "---\n",
            "#",
            "\t",
            "\x00",
        )
    ),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(pieces, max_size=40).map("".join))
def test_no_answer_ends_the_program(said: str) -> None:
    found = parsed(said)
    assert found.answer is not None or found.problems
    for each in found.answer.strategies if found.answer else ():
        assert each.text and "\n" not in each.text


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


def test_a_kind_of_error_without_an_error_says_nothing() -> None:
    """A model fills in the form to its end: where nothing went wrong, the note does not say of what kind it was."""
    found = parsed('result: "It is done."\nerror:\n  what: ""\n  kind: A\n')
    assert found.problems == () and found.answer == judged("It is done.")
    assert parsed('result: "It is done."\nerror:\n  what: none\n  kind: nothing\n').problems == ()


@pytest.mark.parametrize("when", ["always", "Always.", "总是", "任何情况下"])
def test_a_strategy_for_every_case_names_none(when: str) -> None:
    said = f'result: "Done."\nstrategies:\n  - strategy: "Link the note."\n    when: "{when}"\n    confidence: HIGH\n'
    found = parsed(said).answer
    assert found is not None and [each.when for each in found.strategies] == [""]
