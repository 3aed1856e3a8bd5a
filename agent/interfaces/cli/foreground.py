"""A run in the foreground of a command: its text on the screen, Ctrl-C, and decisions asked for at the terminal.

Where it goes on is left to the command: in this process, or in the daemon (`runs_in_daemon`).
"""

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import field
from functools import partial
from importlib import import_module
from threading import Thread
from types import FrameType
from typing import TYPE_CHECKING, TypeVar

from agent.dataclass import dataclass
from agent.interfaces.cli.language import tr
from agent.interfaces.cli.output import Output, say
from agent.interfaces.cli.progress_bar import indexing
from agent.interfaces.cli.prompt import keyboard, silent_keys
from agent.interfaces.cli.run_messages import AnsweredRun
from agent.interfaces.cli.screen import Screen, is_terminal
from agent.runs.run_io import RunIO
from agent.texts import text
from agent.workspace.catch_up import catch_up, show_nothing

if TYPE_CHECKING:
    from agent.runs.service import RunService
    from agent.workspace.search_index import SearchIndex


_POLL = 0.1

if TYPE_CHECKING:
    from agent.runs.decisions import PersonDecision
    from agent.workspace.workspace import Workspace


A = TypeVar("A", bound=AnsweredRun)


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
    """Runs one after the other on one screen. `asks`: a person is at the terminal and is asked for decisions at once.

    `close` finishes what the runs write into memory, and `workspace` opens the vault where a decision is asked for.
    """

    screen: Screen
    asks: bool
    close: Callable[[], object]
    workspace: "Callable[[], Workspace]"

    def run(self, begin: Callable[[RunIO], A]) -> A:
        """The result of one run, which ends, waits, or is stopped by Ctrl-C."""
        with stopped_by_ctrl_c() as cancelled, _silent(self.screen.live), self.screen.running(cancelled):
            ended = begin(RunIO(self.screen.show_text, cancelled))
            self.screen.show_rest(ended.answer)
        return ended

    @contextmanager
    def closing(self) -> Iterator[None]:
        """Call `close` at the end of the block, and show that it finishes what it writes into memory.

        Ctrl-C then ends the waiting, not the command: the answer is there already.
        """
        try:
            yield
        finally:
            closing = Thread(target=self.close, name="vault-agent-close", daemon=True)
            with stopped_by_ctrl_c() as cancelled, self.screen.running(what="live.closing"):
                closing.start()
                while closing.is_alive() and not cancelled():
                    closing.join(_POLL)  # a longer wait may miss a signal that another thread received
            if closing.is_alive():
                say(text("live.left", self.screen.language))

    def run_and_decide(self, begin: Callable[[RunIO], A], resume: "Callable[[str, PersonDecision, RunIO], A]") -> A:
        """The result of one run, which is resumed while it waits for a decision and the person decides at the
        terminal."""
        ended = self.run(begin)
        if not self.asks or not ended.outcome.waits:
            return ended

        def go_on(session: str, decision: "PersonDecision") -> A:
            return self.run(lambda line: resume(session, decision, line))

        module = import_module("agent.interfaces.cli.decide")  # slow to load, and few runs wait
        settled: A = module.settle(self.workspace(), ended, keyboard, go_on)
        return settled


def foreground(agent: "RunService", output: Output) -> Foreground:
    """The foreground of this command: live on a terminal, silent in a pipe and with `--json`."""
    screen = screen_of(agent, sys.stdout.isatty() and not output.json, output.progress)
    return Foreground(screen, is_terminal() and not output.json, agent.close, lambda: agent.workspace)


def screen_of(agent: "RunService", live: bool, tell: Callable[[str, str], object] | None = None) -> Screen:
    """The screen for the runs of this agent; `tell` is as in `Screen`."""
    model = agent.account.models.main.model
    screen = Screen(live, agent.workspace.settings.vault.language, model.name if model.present else "", tell=tell)
    screen.watch(agent.bus)
    return screen


def update_index(workspace: "Workspace", index: "SearchIndex", output: Output, known: str | None = None) -> str | None:
    """Update the index before a run, and say why it stays behind, unless that is `known`: the answer may lack what was
    written last. Returns the reason, None if it is up to date."""
    late = catch_up(workspace, index, show=show_nothing if output.json else partial(indexing, output))
    if late is not None and late != known:
        output.note(tr("degraded: {reason}", reason=tr(late)))
    return late
