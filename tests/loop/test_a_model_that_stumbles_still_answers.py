"""Answers that are cut off go on, half answers are no whole ones, requests that are too long are made smaller."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from agent.deeds.runs import run_result
from agent.errors import AgentError, LimitReached, Retryable
from agent.llm.failures import TooLong
from agent.llm.ledger import SpendTotals
from agent.llm.messages import (
    Assistant,
    Cancelled,
    Context,
    Model,
    OnText,
    Reply,
    Request,
    StopReason,
    ToolCall,
    ToolResult,
    Usage,
    ignore,
    never,
)
from agent.loop.asking import MOST_CALLS
from agent.loop.outcome import RunOutcome
from agent.loop.session import load_session
from agent.memory.forgetting.forgotten_statements import phrase
from agent.memory.forgetting.private_state import forget_in_model_texts
from agent.runs.report import RunReport
from agent.texts import Sentence
from tests.loop.stage import Stage, carried_out, note

Line = Reply | AgentError | Callable[[Request], Reply]
KEPT = ({"type": "thinking", "thinking": "SECRETTHOUGHT", "signature": "c2ln"},)


@dataclass
class Stumbler:
    """A model that says its lines, the last one for ever."""

    lines: Sequence[Line]
    heard: list[Request] = field(default_factory=list)
    model: Model = Model("stumbler", 100_000, 4_096)

    def chat(self, request: Request, on_text: OnText = ignore, cancelled: Cancelled = never) -> Reply:
        self.heard.append(request)
        line = self.lines[min(len(self.heard), len(self.lines)) - 1]
        if isinstance(line, AgentError):
            raise line
        reply = line if isinstance(line, Reply) else line(request)
        for piece in reply.message.text.partition(" "):
            on_text(piece)
        return reply


def says(text: str, stop: StopReason = "end", *calls: ToolCall, remarks: Sequence[str] = ()) -> Reply:
    return Reply(Assistant(text, calls), Usage(10, 5), stop, "stumbler", tuple(map(Sentence, remarks)))


def reads(path: str, id: str = "c1") -> Reply:
    return says("", "tools", ToolCall(id, "vault_read", {"path": path}))


def too_long(window: int = 0, sent: int = 0) -> TooLong:
    return TooLong(Sentence("the prompt is too long"), window=window, sent=sent, hint=Sentence("set llm.window"))


@pytest.mark.parametrize(
    ("first", "second", "whole"),
    [
        ("The roof is ti", "ght.", "The roof is tight."),
        ("The roof is tight and", " the door is red.", "The roof is tight and the door is red."),
        ("The roof is tight and the door", "is tight and the door is red.", "The roof is tight and the door is red."),
        ("屋顶不漏，门", "是红的。", "屋顶不漏，门是红的。"),
    ],
)
def test_an_answer_that_was_cut_off_goes_on(tmp_path: Path, first: str, second: str, whole: str) -> None:
    model = Stumbler([says(first, "length"), says(second)])
    here = Stage(tmp_path, model)
    ended = here.ask("How is the house?")
    assert (ended.outcome, ended.answer, "".join(here.said)) == (RunOutcome.FINISHED, whole, whole)
    said, told = model.heard[1].messages[-2:]
    assert said == Assistant(first)
    assert isinstance(told, Context) and "cut off" in told.text
    assert model.heard[1].messages[: len(model.heard[0].messages)] == model.heard[0].messages, "the cache matches"
    session = load_session(here.vault, ended.session)
    assert session.history[-1] == Assistant(whole)
    assert session.usage_of(ended.run) == Usage(20, 10)


def test_a_model_that_thought_until_the_end_is_asked_for_its_words(tmp_path: Path) -> None:
    model = Stumbler([says("", "length"), says("Yes.")])
    assert Stage(tmp_path, model).ask("Is it?").answer == "Yes."
    assert not any(isinstance(each, Assistant) for each in model.heard[1].messages)


def test_an_answer_without_an_end_stops_at_a_limit_with_what_it_has(tmp_path: Path) -> None:
    model = Stumbler([says("and on ", "length")])
    ended = Stage(tmp_path, model).ask("Tell me everything")
    assert (ended.outcome, len(model.heard)) == (RunOutcome.LIMIT, MOST_CALLS + 1)
    assert ended.answer == "and on " * (MOST_CALLS + 1)
    assert "cut off" in ended.reason


@pytest.mark.parametrize(
    "failure",
    [Retryable("the server is busy"), too_long(), LimitReached("the run has cost $1", limit="spend.run")],
    ids=["busy", "too long", "too dear"],
)
def test_what_has_come_is_kept_if_it_cannot_go_on(tmp_path: Path, failure: AgentError) -> None:
    ended = Stage(tmp_path, Stumbler([says("The roof is ti", "length"), failure])).ask("How is the house?")
    assert (ended.outcome, ended.answer) == (RunOutcome.LIMIT, "The roof is ti")


def test_a_call_that_was_cut_off_is_the_model_s_to_repeat(tmp_path: Path) -> None:
    call = ToolCall("c1", "vault_read", {}, problem="the call was cut off")
    model = Stumbler([says("I read.", "length", call), says("Done.")])
    here = Stage(tmp_path, model)
    ended = here.ask("Read it")
    assert (ended.outcome, len(model.heard)) == (RunOutcome.FINISHED, 2)
    assert "cut off" in carried_out(load_session(here.vault, ended.session))[0].text


def test_half_an_answer_that_was_refused_is_not_finished(tmp_path: Path) -> None:
    here = Stage(tmp_path, Stumbler([says("I ca", "refused")]))
    ended = here.ask("How do I …?")
    assert (ended.outcome, ended.answer) == (RunOutcome.LIMIT, "I ca")
    assert "not whole" in ended.reason
    assert "not whole" in note(here.vault, ended.session)


def test_a_refusal_without_words_is_a_failure(tmp_path: Path) -> None:
    ended = Stage(tmp_path, Stumbler([says("", "refused")])).ask("How do I …?")
    assert ended.outcome is RunOutcome.FAILED
    assert "refused" in ended.reason


BIG = "# Big\n" + "The spare key story goes on.\n" * 1_000


def refuses_over(tokens: int, error: TooLong) -> Callable[[Request], Reply]:
    def line(request: Request) -> Reply:
        if sum(len(each.text) for each in request.messages) // 4 > tokens:
            raise error
        return says("Ana has it.")

    return line


@pytest.mark.parametrize("error", [too_long(8_192, 9_056), too_long(8_192), too_long()], ids=["both", "window", "none"])
def test_a_request_that_is_too_long_is_sent_again_with_less(tmp_path: Path, error: TooLong) -> None:
    model = Stumbler([reads("big.md"), refuses_over(4_000, error)])
    here = Stage(tmp_path, model, {"big.md": BIG})
    ended = here.ask("Who has the spare key?")
    assert (ended.outcome, ended.answer) == (RunOutcome.FINISHED, "Ana has it.")
    result = model.heard[-1].messages[-1]
    assert isinstance(result, ToolResult) and "left out here" in result.text
    (kept,) = (each for each in load_session(here.vault, ended.session).history if isinstance(each, ToolResult))
    assert kept.text.count("The spare key story goes on.") > 500, "it is kept whole"
    assert "The spare key story" not in note(here.vault, ended.session), "and the note has no copy"


def test_the_next_request_is_as_small(tmp_path: Path) -> None:
    fits = refuses_over(4_000, too_long())
    model = Stumbler([reads("big.md"), fits])
    here = Stage(tmp_path, model, {"big.md": BIG})
    session = here.session()
    here.ask("Who has the spare key?", session)
    asked = len(model.heard)
    here.ask("And the car key?", session)
    assert len(model.heard) == asked + 1


def test_what_cannot_be_made_smaller_fails_with_what_to_do(tmp_path: Path) -> None:
    model = Stumbler([too_long(100, 90_000)])
    ended = Stage(tmp_path, model).ask("Who has the spare key?")
    assert ended.outcome is RunOutcome.FAILED
    assert ended.hint == "set llm.window"
    assert len(model.heard) <= 4


def test_the_oldest_turns_are_left_out_when_nothing_else_helps(tmp_path: Path) -> None:
    words = "and so on " * 700
    model = Stumbler([says(words), says(words), refuses_over(4_000, too_long(8_192))])
    here = Stage(tmp_path, model)
    session = here.session()
    for task in ("Tell me a story", "Another one", "And the end?"):
        ended = here.ask(task, session)
    assert ended.answer == "Ana has it."
    texts = [each.text for each in model.heard[-1].messages]
    assert "And the end?" in texts and "Tell me a story" not in texts


def test_remarks_on_a_model_are_told_once_below_the_answer_and_in_the_note(tmp_path: Path) -> None:
    remark = "answered by the other model"
    model = Stumbler([replace(reads("a.md"), remarks=(Sentence(remark),)), says("Done.", remarks=[remark])])
    here = Stage(tmp_path, model, {"a.md": "one\n"})
    ended = here.ask("Read it")
    assert ended.remarks == (remark,)
    assert note(here.vault, ended.session).count(remark) == 1
    assert run_result(RunReport(ended, (), SpendTotals())).remarks == [remark]


def with_thinking(reply: Reply) -> Reply:
    return replace(reply, message=replace(reply.message, thinking=KEPT, thinking_by="stumbler at home"))


def thinking_in(request: Request) -> list[object]:
    return [each.thinking for each in request.messages if isinstance(each, Assistant) and each.thinking]


def test_thinking_goes_back_in_a_later_process_and_never_into_the_note(tmp_path: Path) -> None:
    model = Stumbler([with_thinking(reads("a.md")), says("Done."), says("Again.")])
    here = Stage(tmp_path, model, {"a.md": "one\n"})
    ended = here.ask("Read it")
    assert thinking_in(model.heard[1]) == [KEPT]
    assert "SECRETTHOUGHT" not in note(here.vault, ended.session)
    here.ask("And now?", load_session(here.vault, ended.session))
    assert thinking_in(model.heard[2]) == [KEPT]
    forget_in_model_texts(here.vault, phrase("My code word is Heffalump"))
    here.ask("And after a forgetting?", load_session(here.vault, ended.session))
    assert thinking_in(model.heard[3]) == []
