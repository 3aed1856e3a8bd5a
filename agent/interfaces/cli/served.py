"""Commands that the daemon answers for `entry`: run here by their own code, printed on pages instead of a terminal.

Searches that the daemon does for the servers of other programs (`mcp`), in the index that it has open already.
"""

import base64
import json
import os
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import copy_context
from http import HTTPStatus
from io import StringIO
from pathlib import Path

from agent.config.private import make_folder, replace
from agent.errors import AgentError
from agent.interfaces.cli.callers import Callers
from agent.interfaces.cli.entry import PATH, pointer, served_command
from agent.interfaces.cli.host import Host, run_in
from agent.interfaces.cli.language import asks_json, speak_here
from agent.interfaces.cli.main import run_command
from agent.interfaces.cli.printing import print_on
from agent.interfaces.cli.served_runs import run_route
from agent.interfaces.http.command_line import (
    CommandLine,
    Printed,
    SearchAsked,
    SearchFound,
    command_operation,
    search_operation,
)
from agent.interfaces.http.operation import Operation
from agent.interfaces.http.problems import RequestRefused
from agent.interfaces.http.service import Service
from agent.interfaces.mcp.search_messages import DAEMON_PATH, SearchFailure, SearchQuestion, settings_of
from agent.interfaces.mcp.search_process import Found, find_in
from agent.runs.recall_source import RecallSource, recall_source
from agent.workspace.catch_up import catch_up
from agent.workspace.daemon_socket import program_version
from agent.workspace.workspace import Workspace


def search_route(callers: Callers) -> Operation:
    """The operation of a daemon that searches with the settings that it was started with."""
    started = (program_version(), settings_of(os.environ))
    opened: list[RecallSource] = []

    def answer(service: Service, asked: SearchAsked) -> SearchFound:
        if (asked.version, asked.environ) != started or not callers.has_same_settings:
            raise RequestRefused(HTTPStatus.CONFLICT, "another process has to search")
        question = SearchQuestion(asked.text, asked.limit, asked.memories, asked.channel, asked.run)
        with service.index.held() as index:
            if not opened:
                opened.append(recall_source(service.workspace, index))
            found: Found | SearchFailure
            try:
                late = catch_up(service.workspace, index)
                found = find_in(service.workspace, opened[0], question, late)
            except AgentError as error:
                found = SearchFailure(str(error.message), str(error.hint))
        return SearchFound(base64.b64encode(pickle.dumps(found)).decode())

    return search_operation(DAEMON_PATH, answer)


class CapturedStream(StringIO):
    """A stream that is printed on elsewhere: on a terminal of this size, or on none."""

    def __init__(self, size: list[int]) -> None:
        super().__init__()
        self.terminal_size = os.terminal_size((size[0], size[1])) if len(size) == 2 else None

    @property
    def encoding(self) -> str:  # type: ignore[override]  # the base class has a plain attribute
        return "utf-8"

    def isatty(self) -> bool:
        return self.terminal_size is not None


def own_routes(workspace: Workspace) -> tuple[Operation, ...]:
    """What a daemon answers for the command line, with the settings that it has now."""
    callers = Callers.of(workspace)
    return command_route(callers), run_route(callers), search_route(callers)


def command_route(callers: Callers) -> Operation:
    """The operation that answers commands at once."""

    def answer(service: Service, asked: CommandLine) -> Printed:
        callers.check(asked)
        if served_command(asked.args) is None:
            raise RequestRefused(HTTPStatus.CONFLICT, "another process has to answer this command")
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
