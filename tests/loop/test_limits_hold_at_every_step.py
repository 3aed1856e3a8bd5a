"""The limits of a run are looked at before each use of a tool and during each call of the model, not once an answer."""

import json
import random
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from agent.clock import Clock
from agent.errors import Interrupted, Retryable
from agent.llm.messages import (
    Assistant,
    Cancelled,
    JsonObject,
    Model,
    OnText,
    Provider,
    Reply,
    Request,
    ToolCall,
    ToolResult,
    Usage,
    ignore,
    never,
)
from agent.llm.retry import CountedText, with_retries
from agent.llm.scripted import Scripted, ScriptedCall, ScriptedReply
from agent.loop.conclusion import SECONDS
from agent.loop.outcome import Ended, RunOutcome
from agent.loop.session import Session, load_session
from agent.tools.tool import RunContext, Tool, ToolOutput
from agent.workspace.interruptible import InterruptibleClock
from tests.fakes import FakeClock
from tests.llm.dialects import openai
from tests.llm.servers import Part, Visit, answers, model_server
from tests.loop.stage import Stage, carried_out
from tests.trust.agent_plants import plant

SCHEMA: JsonObject = {"type": "object", "properties": {"n": {"type": "integer"}}}


class Uses:
    """A tool that counts how often it is really used; `after` is done at each use, with their number."""

    def __init__(self, *, readonly: bool, after: Callable[[int], None] = lambda number: None) -> None:
        self.made: list[int] = []
        self._mutex = threading.Lock()
        self._after = after
        self.tool = Tool("web_use", "for tests", SCHEMA, self._perform, frozenset({"web"}), readonly, timeout=0.0)

    def _perform(self, arguments: JsonObject, context: RunContext) -> ToolOutput:
        with self._mutex:
            self.made.append(int(str(arguments["n"])))
            number = len(self.made)
        self._after(number)
        return ToolOutput(f"used {arguments['n']}")


class Wanting:
    """A model that asks for as many uses of the tool as this says, one answer after the other; then it is done."""

    model = Model("wanting", 1_000_000, 4_096)

    def __init__(self, *wanted: int) -> None:
        self.wanted = list(wanted)
        self.heard: list[Request] = []

    def chat(self, request: Request, on_text: OnText = ignore, cancelled: Cancelled = never) -> Reply:
        self.heard.append(request)
        number, calls = len(self.heard), self.wanted.pop(0) if self.wanted else 0
        asked = tuple(ToolCall(f"c{number}-{n}", "web_use", {"n": number * 1000 + n}) for n in range(calls))
        return Reply(Assistant("" if asked else "done", asked), Usage(10, 5), "tools" if asked else "end", "wanting")


def go(here: Stage, session: Session | None = None, **limits: float) -> Ended:
    """A run with these limits."""
    run = here.run("do it", session or here.session())
    run.agent = replace(run.agent, limits=replace(run.agent.limits, **limits))  # type: ignore[arg-type]  # of any type
    return run.go()


def results(here: Stage, ended: Ended) -> dict[str, ToolResult]:
    """The results in the session's note, by the call."""
    found = [each for each in load_session(here.vault, ended.session).history if isinstance(each, ToolResult)]
    assert len({each.call for each in found}) == len(found)
    return {each.call: each for each in found}


@pytest.mark.parametrize("readonly", [True, False])
def test_of_one_answer_so_many_calls_are_carried_out_and_the_others_refused_in_words(
    tmp_path: Path, readonly: bool
) -> None:
    uses, model = Uses(readonly=readonly), Wanting(90)
    here = Stage(tmp_path, model, more=(uses.tool,))
    ended = go(here)
    assert ended.outcome == RunOutcome.FINISHED and sorted(uses.made) == list(range(1000, 1032))
    told = results(here, ended)
    assert len(told) == 90
    refused = [each.text for each in told.values() if each.failed]
    assert len(refused) == 58 and all("at most 32" in text and "ask again" in text for text in refused)
    sent = [each for each in model.heard[1].messages if isinstance(each, ToolResult)]
    assert len(sent) == 90, "each call must have its result before the model is asked again"


@pytest.mark.parametrize("readonly", [True, False])
@pytest.mark.parametrize("most", [0, 1, 5, 6, 8])
def test_the_uses_of_a_run_end_in_the_middle_of_an_answer(tmp_path: Path, readonly: bool, most: int) -> None:
    uses, model = Uses(readonly=readonly), Wanting(3, 6)
    here = Stage(tmp_path, model, more=(uses.tool,))
    ended = go(here, tool_calls=most)
    assert (ended.outcome, len(uses.made)) == (RunOutcome.LIMIT, most) and "uses of tools" in ended.reason
    assert len(carried_out(load_session(here.vault, ended.session))) == most
    model.wanted = []
    again = here.ask("go on", load_session(here.vault, ended.session))
    assert again.outcome == RunOutcome.FINISHED and len(uses.made) == most


@pytest.mark.parametrize(("readonly", "most"), [(False, 3), (True, 4)])
def test_a_stop_is_heard_between_the_calls_of_one_answer(tmp_path: Path, readonly: bool, most: int) -> None:
    def stop(number: int) -> None:
        here.cancel = here.cancel or number == 3

    uses = Uses(readonly=readonly, after=stop)
    here = Stage(tmp_path, Wanting(20), more=(uses.tool,))
    ended = go(here)
    assert ended.outcome == RunOutcome.INTERRUPTED and 3 <= len(uses.made) <= most


def test_the_time_of_a_run_ends_between_the_calls_of_one_answer(tmp_path: Path) -> None:
    clock = FakeClock()
    uses = Uses(readonly=False, after=lambda number: clock.advance(10))
    here = Stage(tmp_path, Wanting(20), clock=clock, more=(uses.tool,))
    ended = go(here, seconds=35)
    assert (ended.outcome, len(uses.made)) == (RunOutcome.LIMIT, 4) and "35 seconds" in ended.reason


def test_a_tool_hears_that_the_time_is_over(tmp_path: Path) -> None:
    clock, heard = FakeClock(), list[bool]()

    def perform(arguments: JsonObject, context: RunContext) -> ToolOutput:
        heard.append(context.cancelled())
        clock.advance(100)
        heard.append(context.cancelled())
        return ToolOutput("late")

    tool = Tool("web_use", "for tests", SCHEMA, perform, frozenset({"web"}), timeout=0.0)
    ended = go(Stage(tmp_path, Wanting(1, 1), clock=clock, more=(tool,)), seconds=50)
    assert heard == [False, True] and ended.outcome == RunOutcome.LIMIT


@dataclass
class Slow:
    """A model that says a word a second for as long as it is let."""

    clock: FakeClock
    model: Model = Model("slow", 32_768, 4_096)

    def chat(self, request: Request, on_text: OnText = ignore, cancelled: Cancelled = never) -> Reply:
        for number in range(100):
            if cancelled():
                raise Interrupted("the call of the model was cancelled")
            self.clock.advance(1)
            on_text(f"word{number} ")
        return Reply(Assistant("all of it"), Usage(1, 1), "end", "slow")


def test_the_time_of_a_run_ends_a_call_of_the_model_and_keeps_what_was_said(tmp_path: Path) -> None:
    clock = FakeClock()
    here = Stage(tmp_path, Slow(clock), clock=clock)
    ended = go(here, seconds=5)
    assert ended.outcome == RunOutcome.LIMIT and ended.answer == "word0 word1 word2 word3 word4 "
    assert "5 seconds" in ended.reason and "run.seconds" in ended.hint
    session = load_session(here.vault, ended.session)
    assert session.history[-1] == Assistant("word0 word1 word2 word3 word4 ") and session.open_run is None


@dataclass
class Unreachable:
    """A model whose server does not answer while this process is asked to stop."""

    clock: FakeClock
    model: Model = Model("gone", 32_768, 4_096)

    def chat(self, request: Request, on_text: OnText = ignore, cancelled: Cancelled = never) -> Reply:
        def attempt() -> Reply:
            raise Retryable("no answer")

        clock = InterruptibleClock(self.clock, stopping=lambda: True)
        return with_retries(attempt, CountedText(on_text), 4, clock, lambda: 0.5, cancelled)


def test_a_run_whose_process_is_asked_to_stop_between_two_tries_can_go_on(tmp_path: Path) -> None:
    clock = FakeClock()
    here = Stage(tmp_path, Unreachable(clock), clock=clock)
    ended = go(here)
    assert ended.outcome == RunOutcome.INTERRUPTED and ended.failure is None
    assert load_session(here.vault, ended.session).open_run is not None


def pings(clock: FakeClock) -> Part:
    """A server that says only that it lives, a second after the other."""

    def part(visit: Visit) -> None:
        visit.head()
        while not visit.closing.is_set():
            visit.send(b": ping\n\n")
            clock.advance(1)
            visit.wait(0.01)

    return part


def says_nothing(clock: FakeClock) -> Part:
    """A server that does not even begin to answer."""

    def part(visit: Visit) -> None:
        clock.advance(100)
        visit.wait(5)

    return part


def asks_to_wait(clock: FakeClock) -> Part:
    return answers("503 Busy", b"", retry_after="59")


@pytest.mark.parametrize("part", [pings, says_nothing, asks_to_wait])
def test_the_time_of_a_run_ends_whatever_a_server_does(part: Callable[[FakeClock], Part], tmp_path: Path) -> None:
    clock = FakeClock()
    with model_server(part(clock)) as server:
        ended = go(Stage(tmp_path, _wire(server.url, clock), clock=clock), seconds=20)
        assert ended.outcome == RunOutcome.LIMIT and "20 seconds" in ended.reason
        asked = [json.loads(each.body).get("tool_choice") for each in server.asked]
        assert asked[0] is None and set(asked[1:]) == {"none"}, "only a conclusion follows"
        assert clock.monotonic() <= 100 + SECONDS + 100, "each call is cut within a step of the server's"


def _wire(url: str, clock: Clock) -> Provider:
    return openai.provider(url, clock, timeout=30)


def test_what_was_refused_is_not_carried_out_when_the_run_is_taken_up_again(tmp_path: Path) -> None:
    """The process dies at the second use: the note has the refusals already."""

    class Killed(BaseException):
        pass

    def die(number: int) -> None:
        if number == 2:
            raise Killed

    uses = Uses(readonly=False, after=die)
    here = Stage(tmp_path, Wanting(40), more=(uses.tool,))
    session = here.session()
    run = here.run("do it", session)
    with pytest.raises(Killed):
        run.go()
    assert len(uses.made) == 2
    again = here.run("do it", load_session(here.vault, session.path), run.context.run)
    here.model = again.models.main
    ended = again.go(resumed=True)
    assert ended.outcome == RunOutcome.FINISHED
    assert set(uses.made) == set(range(1000, 1032)) and len(results(here, ended)) == 40


@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(n, marks=pytest.mark.chaos) for n in range(4, 40))])
def test_no_mixture_of_answers_passes_a_limit(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    wanted = [chance.choice((1, 3, 7, 20, 60)) for _ in range(6)]
    most, each = chance.randint(1, 60), chance.randint(1, 20)
    uses = Uses(readonly=chance.random() < 0.5)
    here = Stage(tmp_path, Wanting(*wanted), more=(uses.tool,))
    ended = go(here, tool_calls=most, calls_per_reply=each)
    expected = sum(min(calls, each) for calls in wanted)
    assert len(uses.made) == len(set(uses.made)) == min(expected, most)
    assert ended.outcome == (RunOutcome.FINISHED if expected < most else RunOutcome.LIMIT)
    assert max(sum(1 for made in uses.made if made // 1000 == number) for number in range(1, 7)) <= each


def test_the_scripted_model_meets_the_limit_too(tmp_path: Path) -> None:
    line = ScriptedReply("", tuple(ScriptedCall("vault_write", {"path": f"{n}.md", "content": "."}) for n in range(40)))
    here = Stage(tmp_path, Scripted([line, ScriptedReply("done")]))
    assert go(here).outcome == RunOutcome.FINISHED
    assert len(list(here.root.glob("[0-9]*.md"))) == 32


@pytest.mark.parametrize("bug", ["limits are looked at once an answer", "a run's time does not end a call"])
def test_limits_that_are_forgotten_are_caught(bug: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(bug, monkeypatch.setattr)
    with pytest.raises(AssertionError):
        if bug == "limits are looked at once an answer":
            test_the_uses_of_a_run_end_in_the_middle_of_an_answer(tmp_path, False, 5)
        else:
            test_the_time_of_a_run_ends_a_call_of_the_model_and_keeps_what_was_said(tmp_path)
