"""A run in the foreground of a command: its text on the screen, Ctrl-C, and decisions asked for at the terminal."""

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import TYPE_CHECKING

from agent.interfaces.cli.decide import settle
from agent.interfaces.cli.output import Output, progress
from agent.interfaces.cli.prompt import keyboard
from agent.interfaces.cli.screen import Screen, is_terminal
from agent.loop.outcome import Ended
from agent.runs.service import RunIO, RunService
from agent.workspace.catch_up import catch_up
from agent.workspace.workspace import Workspace

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


@dataclass(frozen=True, slots=True)
class Foreground:
    """Runs one after the other on one screen. `asks`: a person is at the terminal and is asked for decisions at
    once."""

    agent: RunService
    screen: Screen
    asks: bool

    def run(self, begin: Callable[[RunIO], Ended]) -> Ended:
        """The result of one run, which ends, waits, or is stopped by Ctrl-C."""
        with stopped_by_ctrl_c() as cancelled:
            ended = begin(RunIO(self.screen.show_text, cancelled))
        self.screen.show_rest(ended.answer)
        return ended

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
    screen = Screen(sys.stdout.isatty() and not output.json)
    screen.watch(agent.bus)
    return Foreground(agent, screen, is_terminal() and not output.json)


def update_index(workspace: Workspace, index: "SearchIndex", output: Output) -> None:
    """Update the index before a run; print on standard error why the index is still behind."""
    late = catch_up(workspace, index, progress=progress)
    if late:
        output.note(f"search is behind: {late}")
