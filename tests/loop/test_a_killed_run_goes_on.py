"""A run that was killed goes on where its note ends: nothing is lost, nothing is done twice."""

from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from agent.llm.messages import Cancelled, JsonObject, Model, OnText, Reply, Request, ToolResult, ignore, never
from agent.llm.scripted import Scripted, ScriptedCall, ScriptedReply
from agent.loop.outcome import Ended, RunOutcome
from agent.loop.session import Session, load_session, sessions
from agent.tools.tool import RunContext, Tool, ToolOutput
from tests.loop.stage import Stage, carried_out, note

LINES = [
    ScriptedReply(
        "",
        (
            ScriptedCall("vault_append", {"path": "log.md", "text": f"line {n}"}),
            ScriptedCall("vault_read", {"path": "a.md"}),
        ),
    )
    for n in range(4)
]
WHOLE = "\n".join(f"line {n}\n" for n in range(4))


class Killed(BaseException):
    """The process is gone: nothing after this happens."""


@dataclass
class Mortal:
    """A model whose process is killed when it is called once too often."""

    left: int
    inner: Scripted = field(default_factory=lambda: Scripted([*LINES, ScriptedReply("All done.")]))

    @property
    def model(self) -> Model:
        return self.inner.model

    def chat(self, request: Request, on_text: OnText = ignore, cancelled: Cancelled = never) -> Reply:
        self.left -= 1
        if self.left < 0:
            raise Killed
        return self.inner.chat(request, on_text, cancelled)


def deadly(tool: Tool, calls: list[int]) -> Tool:
    """The tool, whose process is killed right after it has done its work once too often."""

    def perform(arguments: JsonObject, context: RunContext) -> ToolOutput:
        given = tool.perform(arguments, context)
        calls[0] -= 1
        if calls[0] < 0:
            raise Killed
        return given

    return replace(tool, perform=perform)


def go_on(here: Stage) -> tuple[Ended, Session]:
    """What a new process does with what it finds."""
    here.model = Mortal(100)
    (path,) = sessions(here.vault)
    session = load_session(here.vault, path)
    began = session.open_run
    assert began is not None
    return here.run(began.task, session, began.run).go(resumed=True), session


@pytest.mark.parametrize("calls", [1, 4, 7, 8])
def test_the_same_result_is_counted_over_the_kill(tmp_path: Path, calls: int) -> None:
    again = Scripted([ScriptedReply("", (ScriptedCall("vault_read", {"path": "a.md"}),))] * 40)
    here = Stage(tmp_path, Mortal(calls, again), {"a.md": "Apples.\n"})
    with pytest.raises(Killed):
        here.ask("Read it")
    (path,) = sessions(here.vault)
    session = load_session(here.vault, path)
    began = session.open_run
    assert began is not None
    here.model = again
    ended = here.run(began.task, session, began.run).go(resumed=True)
    assert (ended.outcome, len(carried_out(session))) == (RunOutcome.LIMIT, 8)


@pytest.mark.parametrize("calls", range(5))
def test_killed_while_the_model_thinks(tmp_path: Path, calls: int) -> None:
    here = Stage(tmp_path, Mortal(calls), {"a.md": "Apples.\n"})
    with pytest.raises(Killed):
        here.ask("Keep a log")
    ended, session = go_on(here)
    assert (ended.outcome, ended.answer, note(here.vault, "log.md")) == (RunOutcome.FINISHED, "All done.", WHOLE)
    assert len([message for message in session.history if isinstance(message, ToolResult)]) == 8


@pytest.mark.parametrize("calls", range(4))
def test_killed_between_a_write_and_its_record(tmp_path: Path, calls: int) -> None:
    here = Stage(tmp_path, Mortal(100), {"a.md": "Apples.\n"})
    agent = here.agent()
    wrapped = agent.tools._tools  # the registry has no door for this, and needs none but here
    wrapped["vault_append"] = deadly(wrapped["vault_append"], [calls])
    run = here.run("Keep a log", here.session("log"))
    run.agent = replace(agent, tools=agent.tools)
    with pytest.raises(Killed):
        run.go()
    assert note(here.vault, "log.md") == "\n".join(f"line {n}\n" for n in range(calls + 1))
    ended, session = go_on(here)
    assert (ended.outcome, note(here.vault, "log.md")) == (RunOutcome.FINISHED, WHOLE)
    results = [message for message in session.history if isinstance(message, ToolResult)]
    assert not any(result.failed for result in results) and len(results) == 8


def test_the_transcript_is_whole_after_a_kill(tmp_path: Path) -> None:
    here = Stage(tmp_path, Mortal(2), {"a.md": "Apples.\n"})
    with pytest.raises(Killed):
        here.ask("Keep a log")
    _, session = go_on(here)
    assert load_session(here.vault, session.path).history == session.history
    assert session.open_run is None and not session.open_calls
