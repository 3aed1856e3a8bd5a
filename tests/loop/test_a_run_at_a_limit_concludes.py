"""A run that meets a limit is asked once for a conclusion, without tools, and never past a ceiling of the day."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from agent.errors import Interrupted, LimitReached, Permanent
from agent.llm.messages import (
    Assistant,
    Cancelled,
    Context,
    Model,
    OnText,
    Reply,
    Request,
    ToolCall,
    ToolResult,
    Usage,
    User,
    ignore,
    never,
)
from agent.llm.scripted import Scripted, ScriptedCall, ScriptedReply
from agent.loop.conclusion import SECONDS, TOKENS
from agent.loop.outcome import Ended, RunOutcome
from agent.loop.session import Session, load_session, sessions
from tests.fakes import FakeClock
from tests.loop.stage import Stage, note

SAID = "I read two notes; the third is left."


@dataclass
class Worker:
    """A model that always asks for other calls, and concludes with `conclude` once it may not call."""

    conclude: Callable[[OnText, Cancelled], str] = lambda on_text, cancelled: SAID
    work: Callable[[int], Sequence[ToolCall]] = lambda number: [ToolCall(f"c{number}", "vault_list", {"limit": number})]
    heard: list[Request] = field(default_factory=list)
    model: Model = Model("worker", 100_000, 4_096)

    def chat(self, request: Request, on_text: OnText = ignore, cancelled: Cancelled = never) -> Reply:
        self.heard.append(request)
        if not request.may_call:
            return Reply(Assistant(self.conclude(on_text, cancelled)), Usage(10, 5), "end", "worker")
        return Reply(Assistant("", tuple(self.work(len(self.heard)))), Usage(10, 5), "tools", "worker")

    @property
    def concluding(self) -> list[Request]:
        """The requests for a conclusion."""
        return [request for request in self.heard if not request.may_call]


def go(here: Stage, session: Session | None = None, **limits: float) -> Ended:
    """A run with these limits."""
    run = here.run("Read the notes", session or here.session())
    run.agent = replace(run.agent, limits=replace(run.agent.limits, **limits))  # type: ignore[arg-type]  # of any type
    return run.go()


@pytest.mark.parametrize(("limit", "words"), [("steps", "2 steps"), ("tool_calls", "2 uses of tools")])
def test_the_answer_at_a_limit_is_the_conclusion(tmp_path: Path, limit: str, words: str) -> None:
    model = Worker()
    ended = go(Stage(tmp_path, model), None, **{limit: 2})
    assert (ended.outcome, ended.answer, ended.steps) == (RunOutcome.LIMIT, SAID, 2)
    assert words in ended.reason and "config set" in ended.hint
    (asked,) = model.concluding
    assert asked.max_output == TOKENS and isinstance(asked.messages[-1], Context)
    assert words in asked.messages[-1].text and "what is left" in asked.messages[-1].text


def test_the_conclusion_is_asked_for_at_the_end_of_the_request_of_every_step(tmp_path: Path) -> None:
    """A provider's cache matches: what was sent is sent again, and the tools stay described."""
    model = Worker()
    go(Stage(tmp_path, model), steps=3)
    before, asked = model.heard[-2], model.heard[-1]
    assert asked.messages[: len(before.messages)] == before.messages
    assert asked.tools == before.tools and asked.stable == len(asked.messages)


def test_the_session_s_note_has_the_conclusion_and_the_next_message_goes_on_from_it(tmp_path: Path) -> None:
    model = Worker()
    here = Stage(tmp_path, model)
    ended = go(here, steps=2)
    shown = note(here.vault, ended.session)
    assert shown.index("at a limit") < shown.index(SAID) < shown.index("Run limit")
    session = load_session(here.vault, ended.session)
    assert session.open_run is None and session.history[-1] == Assistant(SAID)
    here.model = Scripted([ScriptedReply("The third says: tea.")])
    here.ask("go on", session)
    (request,) = here.model.requests
    assert [type(each) for each in request.messages[-3:]] == [Assistant, Context, User]


def test_a_run_stopped_by_repetition_concludes_and_its_open_calls_are_answered(tmp_path: Path) -> None:
    model = Worker(work=lambda number: [ToolCall(f"c{number}{n}", "vault_read", {"path": "gone.md"}) for n in range(2)])
    here = Stage(tmp_path, model)
    ended = go(here)
    assert (ended.outcome, ended.answer) == (RunOutcome.LIMIT, SAID)
    assert 'vault_read "gone.md" failed 3 times' in ended.reason
    history = load_session(here.vault, ended.session).history
    asked = [call.id for each in history if isinstance(each, Assistant) for call in each.calls]
    assert [each.call for each in history if isinstance(each, ToolResult)] == asked


def test_calls_in_a_conclusion_are_never_carried_out(tmp_path: Path) -> None:
    write = ScriptedReply("I would write.", (ScriptedCall("vault_write", {"path": "tea.md", "content": "x"}),))
    here = Stage(tmp_path, Scripted([ScriptedReply("", (ScriptedCall("vault_list"),)), write]))
    ended = go(here, steps=1)
    assert ended.answer == "I would write." and not (here.root / "tea.md").exists()
    assert not load_session(here.vault, ended.session).open_calls


@pytest.mark.parametrize("key", ["run.steps", "spend.daily", "spend.daily_tokens", "llm.window"])
def test_only_a_limit_that_leaves_room_is_followed_by_a_conclusion(tmp_path: Path, key: str) -> None:
    model = Worker()

    def stop(number: int) -> Sequence[ToolCall]:
        raise LimitReached("the limit", limit=key, hint="raise it", concludes=key == "run.steps")

    model.work = stop
    ended = go(Stage(tmp_path, model))
    assert (ended.outcome, ended.reason, ended.hint) == (RunOutcome.LIMIT, "the limit", "raise it")
    assert bool(model.concluding) == (key == "run.steps") == (ended.answer == SAID)


@pytest.mark.parametrize("error", [Permanent("gone"), LimitReached("no money", limit="spend.daily"), OSError("disk")])
def test_a_conclusion_that_is_refused_or_fails_leaves_the_end_as_it_is(tmp_path: Path, error: Exception) -> None:
    def fail(on_text: OnText, cancelled: Cancelled) -> str:
        raise error

    here = Stage(tmp_path, Worker(fail))
    ended = go(here, steps=2)
    assert (ended.outcome, ended.answer) == (RunOutcome.LIMIT, "") and "2 steps" in ended.reason
    assert load_session(here.vault, ended.session).open_run is None


def test_an_empty_conclusion_is_none(tmp_path: Path) -> None:
    here = Stage(tmp_path, Worker(lambda on_text, cancelled: " \n"))
    ended = go(here, steps=1)
    assert ended.answer == "" and not isinstance(load_session(here.vault, ended.session).history[-1], Assistant)


def test_a_person_s_stop_is_followed_by_nothing(tmp_path: Path) -> None:
    model = Worker()
    here = Stage(tmp_path, model)
    run = here.run("Read the notes", here.session())
    run.begin()
    here.cancel = True
    run.end(LimitReached("the limit", limit="run.steps", concludes=True))
    assert not model.heard


def test_a_run_whose_time_is_up_gets_a_fixed_time_for_its_conclusion(tmp_path: Path) -> None:
    clock = FakeClock()

    def slow(on_text: OnText, cancelled: Cancelled) -> str:
        while not cancelled():
            on_text("word ")
            clock.advance(20)
        raise Interrupted("the call of the model was cancelled")

    model = Worker(slow)
    work = model.work

    def take_time(number: int) -> Sequence[ToolCall]:
        clock.advance(10)
        return work(number)

    model.work = take_time
    here = Stage(tmp_path, model, clock=clock)
    ended = go(here, seconds=25)
    assert (ended.outcome, ended.answer) == (RunOutcome.LIMIT, "word word word ")
    assert clock.monotonic() == 30 + SECONDS, "the part that arrived in time is kept"


class Killed(BaseException):
    """The process is gone: nothing after this happens."""


def test_a_run_killed_while_it_concludes_is_not_asked_a_second_time(tmp_path: Path) -> None:
    def die(on_text: OnText, cancelled: Cancelled) -> str:
        raise Killed

    here = Stage(tmp_path, Worker(die))
    with pytest.raises(Killed):
        go(here, steps=2)
    (path,) = sessions(here.vault)
    session = load_session(here.vault, path)
    began = session.open_run
    assert began is not None and not session.open_calls
    here.model = again = Worker()
    ended = here.run(began.task, session, began.run).go(resumed=True)
    assert (ended.outcome, again.heard) == (RunOutcome.LIMIT, [])
    assert "2 steps" in ended.reason and "config set run.steps" in ended.hint
    assert load_session(here.vault, path).open_run is None
