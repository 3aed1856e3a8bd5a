"""Whoever presses Ctrl-C twice, the second time before the prompt is back, ends the chat as with a slower finger."""

import io
import signal
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from agent.events.runs import SessionEnded
from agent.interfaces.cli.chat import Chat, ChatInput
from agent.interfaces.cli.foreground import screen_of
from agent.interfaces.cli.output import Output
from agent.workspace.search_index import open_index
from tests.stories.life import life


@dataclass(slots=True)
class OneMessage(ChatInput):
    """Somebody who sends one message and then presses Ctrl-C at the prompt."""

    sent: bool = False

    def line(self, prompt: str, tell: object = None) -> str:
        if self.sent:
            raise KeyboardInterrupt
        self.sent = True
        return "hello"


class Impatient(io.StringIO):
    """A stream whose reader presses Ctrl-C as soon as the hint is there."""

    def write(self, text: str) -> int:
        written = super().write(text)
        if "Ctrl-C again" in text:
            signal.raise_signal(signal.SIGINT)
        return written


@pytest.fixture(autouse=True)
def _hears_ctrl_c() -> Iterator[None]:
    """As on a terminal, also if the tests run in the background of a shell that has it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_it_ends_the_chat_and_closes_its_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = life(tmp_path, monkeypatch.setenv, "Hello.")
    shown, ended = Impatient(), list[SessionEnded]()

    def hear(event: SessionEnded) -> None:
        ended.append(event)

    with mine.sitting() as agent:
        agent.bus.subscribe(hear, SessionEnded, name="listener")
        workspace = agent.workspace
        with closing(open_index(workspace)) as index:
            lines = OneMessage(False, tmp_path / "history")
            chat = Chat(workspace, agent, index, Output(), lines, screen_of(agent, live=False))
            monkeypatch.setattr(sys, "stderr", shown)
            try:
                chat.talk()
            except KeyboardInterrupt:
                pytest.fail("it ended the program instead")
    assert shown.getvalue().count("Ctrl-C again") == 1
    assert [(each.session, each.reason) for each in ended] == [(chat.state.session, "closed")]
