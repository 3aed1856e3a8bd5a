"""Commands that the daemon answers for `entry`: run here by their own code, printed on pages instead of a terminal.

It refuses where another process would answer otherwise: another version, other settings, other variables.
"""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass
from http import HTTPStatus
from importlib import import_module
from io import StringIO
from pathlib import Path

from agent.config.directories import VAULT_FILE
from agent.config.private import make_folder, replace
from agent.interfaces.cli.entry import DRAWING, PATH, pointer, relevant, served_command, version
from agent.interfaces.cli.host import Host, run_in
from agent.interfaces.cli.language import asks_json, speak_here, terminal_language
from agent.interfaces.cli.main import run_command
from agent.interfaces.cli.printing import print_on
from agent.interfaces.http.command_line import Caller, CommandLine, CommandOperation, Printed, command_operation
from agent.interfaces.http.operation import AnyOperation, AnyStream
from agent.interfaces.http.problems import Refused
from agent.interfaces.http.service import Service
from agent.texts import Language
from agent.workspace.workspace import Workspace


class CapturedStream(StringIO):
    """A stream that is printed on elsewhere: on a terminal of this size, or on none."""

    def __init__(self, size: list[int]) -> None:
        super().__init__()
        self.terminal_size = (size[0], size[1]) if len(size) == 2 else None

    @property
    def encoding(self) -> str:  # type: ignore[override]  # the base class has a plain attribute
        return "utf-8"

    def isatty(self) -> bool:
        return self.terminal_size is not None


@dataclass(frozen=True, slots=True)
class Callers:
    """The commands that this daemon answers as their own process would: those that agree with it as it was started, in
    `version`, `settings` and `environ`."""

    workspace: Workspace
    version: list[str | int]
    settings: list[tuple[int, int]]
    environ: Mapping[str, str]

    @classmethod
    def of(cls, workspace: Workspace) -> "Callers":
        """Those that agree with this process as it is now."""
        return cls(workspace, version(), _settings(workspace), relevant(os.environ))

    def check(self, caller: Caller, *, draws: bool = False) -> None:
        """Raise `Refused` for one that would answer otherwise; one that `draws` by itself may have another terminal."""
        unseen = DRAWING if draws else ()
        has, wants = (
            {name: value for name, value in each.items() if name not in unseen}
            for each in (self.environ, caller.environ)
        )
        is_same = (has, self.version, self.settings) == (wants, caller.version, _settings(self.workspace))
        if not is_same or caller.root != os.path.realpath(self.workspace.vault.place.root):
            raise Refused(HTTPStatus.CONFLICT, "another process has to answer this command")

    @property
    def has_same_settings(self) -> bool:
        """True if no file of settings has changed since the daemon was started."""
        return self.settings == _settings(self.workspace)

    def language(self, caller: Caller, *, is_document: bool) -> Language:
        """The language in which the caller is told what there is to tell."""
        found = terminal_language(["--vault", caller.root], {**caller.environ, **caller.locale})
        return "en" if is_document else found


def own_routes(workspace: Workspace) -> tuple[AnyOperation | AnyStream, ...]:
    """What a daemon answers for the command line, with the settings that it has now."""
    callers = Callers.of(workspace)
    runs = import_module("agent.interfaces.cli.served_runs")
    searches = import_module("agent.interfaces.cli.served_searches")
    return command_route(callers), runs.run_route(callers), searches.search_route(callers)


def command_route(callers: Callers) -> CommandOperation:
    """The operation that answers commands at once."""

    def answer(service: Service, asked: CommandLine) -> Printed:
        callers.check(asked)
        if served_command(asked.args) is None:
            raise Refused(HTTPStatus.CONFLICT, "another process has to answer this command")
        out, err = CapturedStream(asked.terminals[0]), CapturedStream(asked.terminals[1])

        def run() -> int:
            print_on(out, err)
            speak_here(callers.language(asked, is_document=asks_json(asked.args)))
            run_in(Host(service.workspace, service.index.index, service.index.held))
            return run_command(asked.args)

        code = copy_context().run(run)
        return Printed(out.getvalue(), err.getvalue(), code)

    return command_operation(PATH, answer)


@contextmanager
def answering(workspace: Workspace) -> Iterator[None]:
    """Let `entry` find this vault's daemon, in this block."""
    root = os.path.realpath(workspace.vault.place.root)
    file = Path(pointer(str(workspace.directories.state), root))
    make_folder(file.parent)
    replace(file, json.dumps({"root": root, "folder": str(workspace.vault.private_folder)}))
    try:
        yield
    finally:
        file.unlink(missing_ok=True)


def _settings(workspace: Workspace) -> list[tuple[int, int]]:
    """What differs when the settings are changed: when each of their files was, and its size."""
    places = workspace.directories
    files = (workspace.vault.place.root / VAULT_FILE, places.settings_file, places.keys)
    return [_stamp(each) for each in files]


def _stamp(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return (0, 0)
    return (found.st_mtime_ns, found.st_size)
