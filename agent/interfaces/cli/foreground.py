"""A run in the foreground of a command: its text on the screen, Ctrl-C, and decisions asked for at the terminal."""

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from threading import Thread
from types import FrameType
from typing import TYPE_CHECKING

from agent.interfaces.cli.decide import settle
from agent.interfaces.cli.output import Output, say
from agent.interfaces.cli.progress_bar import indexing
from agent.interfaces.cli.prompt import keyboard, silent_keys
from agent.interfaces.cli.screen import Screen, is_terminal
from agent.loop.outcome import Ended
from agent.runs.service import RunIO, RunService
from agent.texts import text
from agent.workspace.catch_up import catch_up, show_nothing
from agent.workspace.workspace import Workspace

_POLL = 0.1

if TYPE_CHECKING:
    from agent.workspace.search_index import SearchIndex


@dataclass(slots=True)
class StopRequest:
    """A callable that returns True after Ctrl-C or SIGTERM."""

    signals: list[int] = field(default_factory=list)

    def __call__(self) -> bool:
        return bool(self.signals)

    @property
    def ends_program(self) -> bool:
        """True if the whole program must end (SIGTERM), and not only this run."""
        return signal.SIGTERM in self.signals


@contextmanager
def stopped_by_ctrl_c() -> Iterator[StopRequest]:
    """Handle the first Ctrl-C or SIGTERM as a request to stop, which keeps all changes; the second interrupts."""
    request = StopRequest()

    def note(number: int, frame: FrameType | None) -> None:
        if request.signals:
            raise KeyboardInterrupt
        request.signals.append(number)

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield request
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _silent(live: bool) -> AbstractContextManager[None]:
    """Keeps typed keys out of a live view; they stay for the next prompt, or for the shell."""
    return silent_keys() if live and sys.stdin.isatty() else nullcontext()


@dataclass(frozen=True, slots=True)
class Foreground:
    """Runs one after the other on one screen. `asks`: a person is at the terminal and is asked for decisions at
    once."""

    agent: RunService
    screen: Screen
    asks: bool

    def run(self, begin: Callable[[RunIO], Ended]) -> Ended:
        """The result of one run, which ends, waits, or is stopped by Ctrl-C."""
        with stopped_by_ctrl_c() as cancelled, _silent(self.screen.live), self.screen.running(cancelled):
            ended = begin(RunIO(self.screen.show_text, cancelled))
            self.screen.show_rest(ended.answer)
        return ended

    @contextmanager
    def closing(self) -> Iterator[None]:
        """Close the agent at the end of the block, and show that it finishes what it writes into memory.

        Ctrl-C then ends the waiting, not the command: the answer is there already.
        """
        try:
            yield
        finally:
            closing = Thread(target=self.agent.close, name="vault-agent-close", daemon=True)
            with stopped_by_ctrl_c() as cancelled, self.screen.running(what="live.closing"):
                closing.start()
                while closing.is_alive() and not cancelled():
                    closing.join(_POLL)  # a longer wait may miss a signal that another thread received
            if closing.is_alive():
                say(text("live.left", self.screen.language))

    def run_and_decide(self, begin: Callable[[RunIO], Ended]) -> Ended:
        """The result of one run, which is resumed while it waits for a decision and the person decides at the
        terminal."""
        ended = self.run(begin)
        if not self.asks:
            return ended
        resume = self.agent.resume
        return settle(self.agent, ended, keyboard, lambda path, first: self.run(lambda line: resume(path, line, first)))


def foreground(agent: RunService, output: Output) -> Foreground:
    """The foreground of this command: live on a terminal, silent in a pipe and with `--json`."""
    screen = screen_of(agent, sys.stdout.isatty() and not output.json)
    return Foreground(agent, screen, is_terminal() and not output.json)


def screen_of(agent: RunService, live: bool) -> Screen:
    """The screen for the runs of this agent."""
    model = agent.account.models.main.model
    screen = Screen(live, agent.workspace.settings.vault.language, model.name if model.present else "")
    screen.watch(agent.bus)
    return screen


def update_index(workspace: Workspace, index: "SearchIndex", output: Output) -> None:
    """Update the index before a run; if it stays behind, `status` says so, and the output of the run is left alone."""
    catch_up(workspace, index, shown=show_nothing if output.json else partial(indexing, output))
