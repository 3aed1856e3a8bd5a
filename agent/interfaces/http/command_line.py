"""Commands of the command line that the daemon answers: only on its Unix socket, for the program itself.

What a command does and prints is the command line's own; it gives the functions that run one.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from typing import Annotated, Literal, TypeAlias

import msgspec
from starlette.concurrency import run_in_threadpool

from agent.dataclass import dataclass
from agent.interfaces.http.operation import Operation, StreamEvent, operation
from agent.interfaces.http.responses import encoded
from agent.interfaces.http.service import Service

Size = Annotated[list[int], msgspec.Meta(max_length=2)]


class Caller(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Who asks: the `version` of the program, the vault at hand, and the variables that count."""

    version: list[str | int]
    root: str
    environ: dict[str, str]
    locale: dict[str, str]


class CommandLine(Caller, frozen=True, forbid_unknown_fields=True):
    """The words after the program's name, and the columns and rows of both streams (none: no terminal)."""

    args: list[str]
    terminals: tuple[Size, Size]


class SearchAsked(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A search of a server for other programs: by the `version` and the variables that count; `memories` of the person
    of a program, or passages of notes."""

    version: str
    environ: dict[str, str]
    text: str
    limit: Annotated[int, msgspec.Meta(ge=1, le=10_000)]
    memories: bool
    channel: str
    run: str


class SearchFound(msgspec.Struct, frozen=True):
    """What was found, in the form of that server."""

    found: str


class Decided(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A person's decision: `yes` about an approval, or None and their `words` for a question."""

    asked: str
    yes: bool | None
    words: str


class RunCommand(Caller, frozen=True, forbid_unknown_fields=True):
    """A task, in the session of a path or in a new one (empty); or the run to `resume`, after what is decided.
    `untrusted` is the source of text in the task that is not the speaker's own. The person gets a document (`--json`),
    or text."""

    task: str
    channel: str
    sender: str
    group: bool
    role: Literal["owner", "guest"]
    session: str
    resume: str
    untrusted: str
    given: Decided | None
    is_document: bool


@dataclass(frozen=True, slots=True)
class TakenRun:
    """A run that is taken: `start` has it begin, `leave` says that its reader has gone, in this order or alone."""

    start: Callable[[], object]
    leave: Callable[[], object]


class Printed(msgspec.Struct, frozen=True):
    """What the command has printed on both streams, and its exit code."""

    out: str
    err: str
    code: int


RunMessage: TypeAlias = tuple[str, Mapping[str, object]]
"""An event of a run: its name, and the object that becomes its data."""
Tell: TypeAlias = Callable[[RunMessage | None], object]


def command_operation(path: str, answer: Callable[[Service, CommandLine], Printed]) -> Operation:
    """The operation that runs a command line."""

    def command(service: Service, asked: CommandLine) -> Printed:
        return answer(service, asked)

    return operation("POST", path, "Answer a command of the command line", command)


def search_operation(path: str, answer: Callable[[Service, SearchAsked], SearchFound]) -> Operation:
    """The operation that searches for the server of another program."""

    def command_search(service: Service, asked: SearchAsked) -> SearchFound:
        return answer(service, asked)

    return operation("POST", path, "Search", command_search)


def run_stream(path: str, take: Callable[[Service, RunCommand, Tell], TakenRun]) -> Operation:
    """The stream of a run that the command line shows: `take` raises for one that is not taken, else it tells that it
    is, and once it has begun what there is to say, None at last.

    The run begins when its reader has been told that it is taken: who has heard nothing may run it elsewhere.
    """

    async def command_run(service: Service, asked: RunCommand) -> AsyncIterator[StreamEvent]:
        loop, queue = asyncio.get_running_loop(), asyncio.Queue[RunMessage | None]()

        def tell(message: RunMessage | None) -> None:
            with suppress(RuntimeError):  # the server has ended, and the reader with it
                loop.call_soon_threadsafe(queue.put_nowait, message)

        taken = await run_in_threadpool(take, service, asked, tell)
        try:
            while (message := await queue.get()) is not None:
                name, data = message
                yield StreamEvent(name, msgspec.Raw(encoded(data)))
                taken.start()
        finally:
            taken.leave()

    return operation("POST", path, "Run a task of the command line", command_run)
