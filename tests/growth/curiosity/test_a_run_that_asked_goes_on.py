"""A run that has asked its person goes on with their answer right behind the task, and with what it said it would do if
nobody answers in time."""

import json
from pathlib import Path

import pytest

from agent.app.agent import opened_runs
from agent.app.open import open_workspace
from agent.asking.questions.question import write_answer
from agent.events.runs import HumanResponse, Speaker
from agent.llm.scripted import Scripted
from agent.loop.records import RunRequest
from agent.markdown.note import Note
from agent.runs.decisions import open_questions, ready
from tests.fakes import FakeClock
from tests.stories.agents import call, furnish, script

ASK = {"question": "Which colour?", "options": ["red", "blue"], "why": "The boat is bare.", "fallback": "I take red."}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return furnish(tmp_path, monkeypatch.setenv, script(tmp_path / "script.json", call("human_ask", **ASK), "Done."))


def test_the_answer_stands_behind_the_task_and_is_an_event(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen, heard = list[str](), list[object]()
    chat = Scripted.chat

    def listening(self: Scripted, request: object, *more: object) -> object:
        seen.append(request.messages[-1].text)  # type: ignore[attr-defined]
        return chat(self, request, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(Scripted, "chat", listening)
    workspace = open_workspace(root)
    with opened_runs(workspace) as runs:
        runs.bus.subscribe(heard.append, HumanResponse, name="test")
        ended = runs.ask(RunRequest("Paint the boat", Speaker("cli")))
        (asked,) = open_questions(workspace)
        text = (root / asked.path).read_text("utf-8")
        assert "Why I ask: The boat is bare." in text and "Without an answer: I take red." in text
        write_answer(workspace.vault, asked, "blue", "en")
        assert len(ready(workspace)) == 1
        runs.resume(ended.session)
    assert seen[1].index("Paint the boat") < seen[1].index("## The person has answered\n- blue")
    (response,) = heard
    assert isinstance(response, HumanResponse)
    assert (response.answer, response.path, response.run) == ("blue", asked.path, ended.run)


def test_without_an_answer_in_time_it_does_what_it_said(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = FakeClock()
    workspace = open_workspace(root, clock=clock)
    with opened_runs(workspace) as runs:
        ended = runs.ask(RunRequest("Paint the boat", Speaker("cli")))
    (asked,) = open_questions(workspace)
    assert ready(workspace) == ()
    clock.advance(8 * 86_400)
    assert len(ready(workspace)) == 1, "it waits no longer"
    with opened_runs(workspace) as runs:
        later = runs.resume(ended.session)
        assert later.answer == "Done.", later
    note = Note.parse((root / asked.path).read_bytes())
    assert note.string("status") == "expired"
    assert "There was no answer in time" in note.body and note.body.count("Without an answer: I take red.") == 2
    said = (root / ended.session).read_text("utf-8")
    assert "do what you said: I take red." in said or json.dumps("do what you said: I take red.") in said
