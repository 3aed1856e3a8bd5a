"""Runs in the daemon, shown by this process: the answer as it arrives, Ctrl-C, and decisions at the terminal.

It is light to load, and the agent, its index and its models are in the daemon already. Whatever keeps the daemon from
taking the task (there is none, it is of another version, has other settings or too many runs) is no error: then the
task runs here. Only the warnings that a run writes into its log are in the daemon's.
"""

import json
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import field, replace
from importlib import import_module
from queue import Empty, SimpleQueue
from socket import socket
from threading import Thread
from typing import TYPE_CHECKING, Any

from agent.dataclass import dataclass
from agent.interfaces.cli.entry import caller, connected, private_folder, request
from agent.interfaces.cli.foreground import Foreground
from agent.interfaces.cli.output import Output
from agent.interfaces.cli.run_messages import (
    RUN_PATH,
    RunSummary,
    RunTask,
    parse_error,
    parse_event,
    parse_stream,
    parse_summary,
    show_summary,
    task_message,
)
from agent.interfaces.cli.screen import Screen, is_terminal
from agent.llm.messages import Cancelled
from agent.runs.run_io import RunIO
from agent.texts import LANGUAGES, Language

if TYPE_CHECKING:
    from agent.runs.decisions import PersonDecision
    from agent.workspace.workspace import Workspace

_ANSWERS = 30.0
"""Seconds in which the daemon has to say that it takes a task: on a machine that is so busy, this process would take
longer to do it."""
_LOOK = 0.1
"""Seconds between two looks at whether to stop."""
_LEAVES = 15.0
"""Seconds for a daemon that ends to leave the session: longer than it takes to stop its work."""
_BROKEN = (OSError, ValueError, LookupError, TypeError)
"""What a daemon raises that does not answer as it should."""


class DaemonGone(Exception):
    """The daemon has ended in the middle of a run, or takes no decision any more; `left` is what there is to do."""

    def __init__(self, left: RunTask) -> None:
        super().__init__("the daemon has ended")
        self.left = left


def show_from_daemon(output: Output, wanted: RunTask) -> bool:
    """Have the daemon run the task, and print what has come of it; False if there is none that takes it.

    Raises as `show_summary`, and `DaemonGone`.
    """
    try:
        door = _Door.at(output)
        first = door.begin(wanted)
    except _BROKEN:
        return False
    screen = Screen(sys.stdout.isatty() and not output.json, first.language, tell=output.progress)
    runs = [first]

    def resume(session: str, decision: "PersonDecision", line: RunIO) -> RunSummary:
        going_on = replace(wanted, task="", session="", resume=session, given=decision)
        try:
            runs.append(door.begin(going_on))
        except _BROKEN:
            raise DaemonGone(going_on) from None
        return runs[-1].follow(output, screen, line)

    def close() -> None:
        for each in runs:
            each.wait()

    here = Foreground(screen, is_terminal() and not output.json, close, lambda: _workspace(output))
    with here.closing():
        summary = here.run_and_decide(lambda line: first.follow(output, screen, line), resume)
    show_summary(output, summary)
    if runs[-1].has_news and wanted.is_owners:
        import_module("agent.interfaces.cli.news").show_skill_news(_workspace(output), output)
    return True


def _workspace(output: Output) -> "Workspace":
    """The vault, opened here as well: few runs need it."""
    workspace: Workspace = import_module("agent.app.open").open_workspace(output.vault())
    return workspace


@dataclass(frozen=True, slots=True)
class _Door:
    """The way to the daemon of a vault."""

    folder: str
    root: str
    is_document: bool

    @classmethod
    def at(cls, output: Output) -> "_Door":
        """The door of the vault at hand; raises what `_BROKEN` has if no daemon is at work there."""
        root = os.path.realpath(output.vault())
        return cls(private_folder(root, os.environ), root, output.json)

    def begin(self, task: RunTask) -> "_Run":
        """The run that the daemon begins; raises what `_BROKEN` has if it takes none."""
        asked = {**caller(self.root, os.environ), **task_message(task), "is_document": self.is_document}
        connection = connected(self.folder, _ANSWERS)
        try:
            connection.sendall(request(self.folder, RUN_PATH, json.dumps(asked).encode()))
            lines = connection.makefile("rb")
            if not lines.readline().startswith(b"HTTP/1.1 200 "):
                raise OSError("the daemon does not take the task")
            while lines.readline().strip():
                pass  # the rest of the head
            events = parse_stream(lines)
            name, begun = next(events)
            if name != "begun":
                raise OSError("the daemon speaks otherwise")
            language: Language = next(each for each in LANGUAGES if each == begun["language"])
            run = _Run(self, task, connection, str(begun["run"]), language)
        except (*_BROKEN, StopIteration) as error:
            connection.close()
            raise OSError("the daemon does not take the task") from error
        connection.settimeout(None)
        Thread(target=run.listen, args=(events.__next__,), name="vault-agent-daemon-run", daemon=True).start()
        return run

    def stop(self, run: str) -> None:
        """Ask the daemon to stop a run."""
        with connected(self.folder, _ANSWERS) as connection:
            connection.sendall(request(self.folder, f"/api/v1/runs/{run}/cancel", b""))
            connection.recv(1)


@dataclass(slots=True)
class _Run:
    """A run in the daemon: its events come in a thread of their own, so that Ctrl-C is heard meanwhile."""

    door: _Door
    task: RunTask
    connection: socket
    id: str
    language: Language
    session: str = ""
    has_news: bool = False
    _events: "SimpleQueue[tuple[str, Mapping[str, Any]] | None]" = field(default_factory=SimpleQueue)
    _is_over: bool = False
    _is_stopping: bool = False

    def listen(self, following: Callable[[], tuple[str, Mapping[str, Any]]]) -> None:
        """Take in the events until there are no more; None is the last."""
        with suppress(*_BROKEN, StopIteration), self.connection:
            while True:
                self._events.put(following())
        self._events.put(None)

    def follow(self, output: Output, screen: Screen, line: RunIO) -> RunSummary:
        """Show the run until it has ended or waits; raises `RelayedError`, and `DaemonGone`, or `KeyboardInterrupt` if
        the person has stopped it."""
        while True:
            name, data = self._next(line.cancelled)
            match name:
                case "ended":
                    return parse_summary(data)
                case "failed":
                    raise parse_error(data)
                case "text":
                    line.on_text(str(data["text"]))
                case "note":
                    output.note(str(data["text"]))
                case "model":
                    screen.model = str(data["name"])
                case "started":
                    self.session = str(data["session"])
                case _:
                    screen.on_event(parse_event(name, data))

    def _next(self, cancelled: Cancelled) -> tuple[str, Mapping[str, Any]]:
        """The next event; the daemon is asked to stop the run once it is `cancelled`."""
        while True:
            if cancelled() and not self._is_stopping:
                self._is_stopping = True
                with suppress(*_BROKEN):  # it is gone: then the stream ends, too
                    self.door.stop(self.id)
            with suppress(Empty):
                event = self._events.get(timeout=_LOOK)
                if event is not None:
                    return event
                self._is_over = True
                if self._is_stopping:
                    raise KeyboardInterrupt
                raise DaemonGone(self._left())

    def wait(self) -> None:
        """Wait until the daemon has written what the run says into memory."""
        while not self._is_over:
            event = self._events.get()
            self._is_over = event is None
            if event is not None and event[0] == "closed":
                self.has_news = event[1].get("news") is True

    def _left(self) -> RunTask:
        """What is left to do of a task whose daemon has ended: the run in its session, where that has begun."""
        task = self.task
        if self.session:
            return replace(task, task="", session="", resume=self.session, given=None, patience=_LEAVES)
        return replace(task, patience=_LEAVES)
