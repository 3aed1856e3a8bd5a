"""A command of the command line that the daemon answers: only on its Unix socket, for the program itself.

What a command does and prints is the command line's own; it gives the function that runs one.
"""

from collections.abc import Callable
from typing import Annotated

import msgspec

from agent.interfaces.http.operation import Call, NoParams, Operation
from agent.interfaces.http.service import Service

Size = Annotated[list[int], msgspec.Meta(max_length=2)]


class CommandLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The words after the program's name, and where it was called: the `version` of the program, the vault at hand, the
    variables that count, and the columns and rows of both streams (none: no terminal)."""

    version: list[str | int]
    args: list[str]
    root: str
    environ: dict[str, str]
    locale: dict[str, str]
    terminals: tuple[Size, Size]


class Printed(msgspec.Struct, frozen=True):
    """What the command has printed on both streams, and its exit code."""

    out: str
    err: str
    code: int


CommandOperation = Operation[NoParams, CommandLine, Printed]


def command_operation(path: str, answer: Callable[[Service, CommandLine], Printed]) -> CommandOperation:
    """The operation that runs a command line."""

    def respond(call: Call[NoParams, CommandLine]) -> Printed:
        return answer(call.service, call.body)

    summary = "Answer a command of the command line"
    return Operation("POST", path, "command", summary, respond, Printed, NoParams, CommandLine)
