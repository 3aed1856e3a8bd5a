"""One MCP server while it runs: started when it is first asked, ended when nobody has asked it for a while, or with
this process. The only module with the SDK, whose event loop has a thread of its own.

The server gets no more of the environment than the SDK's short list and what the settings name, and can ask this
program for nothing: no model, no forms, no folders.
"""

import asyncio
import atexit
import logging
import os
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import CancelledError, Future
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import field
from http import HTTPStatus
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from agent.config.program_parts import command_to_add
from agent.config.servers import ServerConfig
from agent.dataclass import dataclass
from agent.errors import AgentError, Interrupted
from agent.llm.messages import Cancelled, never
from agent.texts import Sentence
from agent.tools.builtin.servers.listing import MOST_TOOLS, ServerTool, server_tool
from agent.tools.builtin.servers.reply import ServerReply, reply_of

if TYPE_CHECKING:
    from mcp.client.client import Client

T = TypeVar("T")
START_SECONDS = 60.0
"""The longest time for a start: a server may be downloaded at its first one."""
IDLE_SECONDS = 600.0
"""The time without a call after which a server is ended."""
_LOOK = 0.1
_END_SECONDS = 5.0
_PAGES = 20
_LAST_WORDS = 2_000
_Streams: TypeAlias = "tuple[Any, Any]"  # the SDK's streams of messages, passed on as they are

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Launch:
    """The launch of a server, secrets looked up: variables of its environment, headers of each request."""

    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


class ServerAway(Exception):
    """A server cannot be started or reached; `problem` says why, `words` are the last that it said, a stranger's."""

    def __init__(self, problem: Sentence, words: str = "") -> None:
        super().__init__(str(problem))
        self.problem, self.words = problem, words


class ServerStarting(Exception):
    """A server has not finished its start yet."""


class ServerEnded(Exception):
    """A server has ended, or its connection, before it answered a call."""


class ServerSlow(Exception):
    """A server has not answered a call in time."""


class ServerRefused(Exception):
    """A server has answered a call with an error; the text is its own."""


@dataclass(slots=True, eq=False)
class ServerSession:
    """One server for all runs of this process. `launch` is called at each start; it raises `AgentError` for a secret
    that is not there. `listed` is told of the tools at each start."""

    config: ServerConfig
    launch: Callable[[], Launch]
    listed: Callable[[tuple[ServerTool, ...]], object] = lambda tools: None
    idle: float = IDLE_SECONDS
    _life: "_Life | None" = field(default=None, init=False)
    _turn: threading.Lock = field(default_factory=threading.Lock, init=False)

    def begin(self) -> None:
        """Begin to start the server if it does not run."""
        self._living()

    def start(self, seconds: float = START_SECONDS + _END_SECONDS, cancelled: Cancelled = never) -> None:
        """Start the server if it does not run, and wait so long for it. Raises `ServerAway`, `ServerStarting`."""
        self._started(seconds, cancelled)

    def _started(self, seconds: float, cancelled: Cancelled) -> "_Life":
        life = self._living()
        try:
            _wait(life.ready, seconds, cancelled)
        except TimeoutError as error:
            raise ServerStarting from error
        except ServerAway:
            life.is_told = True
            raise
        return life

    def call(self, tool: str, arguments: Mapping[str, object], cancelled: Cancelled = never) -> ServerReply:
        """Call a tool, with the server started if it does not run. Raises `ServerAway`, `ServerEnded`, `ServerSlow`,
        `ServerRefused`, `Interrupted`."""
        seconds = self.config.seconds
        for _ in range(2):
            life = self._started(START_SECONDS + _END_SECONDS, cancelled)
            try:
                future = life.begin(tool, arguments, seconds)
            except RuntimeError:  # it has ended by itself, or is about to
                life.over.wait(2 * _END_SECONDS)
                continue
            try:
                return _wait(future, seconds + _END_SECONDS, cancelled)
            except TimeoutError as error:
                raise ServerSlow from error
            except CancelledError as error:
                raise ServerEnded from error
            finally:
                future.cancel()  # of no effect on one that has an answer
        raise ServerEnded

    def close(self) -> None:
        """End the server, if it runs."""
        with self._turn:
            if self._life is not None:
                self._life.end()

    def _living(self) -> "_Life":
        with self._turn:
            if self._life is None or (self._life.over.is_set() and self._life.is_told):
                if self._life is None:
                    atexit.register(self.close)
                self._life = _Life(self)
            return self._life


def _wait(future: "Future[T]", seconds: float, cancelled: Cancelled) -> T:
    left = seconds
    while True:
        try:
            return future.result(min(_LOOK, max(left, 0)))
        except TimeoutError:
            if future.done():
                return future.result()
            left -= _LOOK
            if cancelled():
                raise Interrupted("stopped by you") from None
            if left <= 0:
                raise


class _Life:
    """One start of a server, up to its end."""

    def __init__(self, session: ServerSession) -> None:
        self.session = session
        self.ready: Future[None] = Future()
        """Done once the server can be asked; why it cannot be is kept until somebody has been told."""
        self.over, self.is_told, self._is_ended = threading.Event(), False, False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._leave: asyncio.Event | None = None
        self._client: Client | None = None
        self._task: asyncio.Task[None] | None = None
        self._begun = self._open = 0
        self._words = _LastWords()
        self._thread = threading.Thread(target=self._run, name=f"server-{session.config.name}", daemon=True)
        self._thread.start()

    def begin(self, tool: str, arguments: Mapping[str, object], seconds: float) -> "Future[ServerReply]":
        """Begin a call; raises `RuntimeError` if this life is over."""
        if self._loop is None or self._leave is None or self._leave.is_set() or self.over.is_set():
            raise RuntimeError("over")
        call = self._call(tool, arguments, seconds)
        try:
            return asyncio.run_coroutine_threadsafe(call, self._loop)
        except RuntimeError:
            call.close()
            raise

    def end(self) -> None:
        """Leave, and wait until the server has ended; one whose secrets are still looked up is never started."""
        self._is_ended = True
        if self._loop is not None and self._leave is not None and self._task is not None:
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._leave.set if self.ready.done() else self._task.cancel)
        self._thread.join(_END_SECONDS)

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:  # noqa: BLE001 - whatever ends the server is told to who waits for it
            if not self.ready.done():
                self.ready.set_exception(self._away(error))
            else:
                logger.info("the server %s has ended: %s", self.session.config.name, type(_first(error)).__name__)
                self.is_told = True
        else:
            self.is_told = True
        finally:
            self.over.set()
            self._words.close()

    async def _serve(self) -> None:
        config, launch = self.session.config, self.session.launch()
        self._task = asyncio.current_task()
        self._loop, self._leave = asyncio.get_running_loop(), asyncio.Event()
        if self._is_ended:
            raise asyncio.CancelledError
        async with asyncio.timeout(START_SECONDS) as limit:
            connection = _connection(config, launch, self._words)
            async with _client(_watched(connection, self._leave)) as client:
                self._client = client
                self.session.listed(await _tools_of(client))
                limit.reschedule(None)
                self.ready.set_result(None)
                await self._until_left()

    async def _until_left(self) -> None:
        assert self._leave is not None
        idle = False
        while not idle:
            begun = self._begun
            try:
                await asyncio.wait_for(self._leave.wait(), self.session.idle)
                return
            except TimeoutError:
                idle = begun == self._begun and not self._open

    async def _call(self, tool: str, arguments: Mapping[str, object], seconds: float) -> ServerReply:
        types, errors = import_module("mcp_types"), import_module("mcp.shared.exceptions")
        assert self._client is not None and self._leave is not None
        self._begun, self._open = self._begun + 1, self._open + 1
        try:
            result = await self._client.call_tool(tool, dict(arguments), read_timeout_seconds=seconds)
        except errors.MCPError as error:
            if error.code == types.REQUEST_TIMEOUT:
                raise ServerSlow from error
            if error.code == types.CONNECTION_CLOSED or self._leave.is_set():
                self._leave.set()
                raise ServerEnded from error
            if not self.session.config.command:  # its session there may be over: the next call begins a new one
                self._leave.set()
            raise ServerRefused(error.message) from error
        except (ValueError, RuntimeError) as error:  # what it answered is not what it had announced
            raise ServerRefused(str(error)) from error
        finally:
            self._open -= 1
        return reply_of(result)

    def _away(self, error: BaseException) -> ServerAway:
        found, name = _first(error), self.session.config.name
        words = self._words.last()
        if isinstance(found, AgentError):
            return ServerAway(Sentence("{problem}", problem=found))
        if isinstance(found, ImportError):
            return ServerAway(
                Sentence("it needs a part that is not installed: {command}", command=command_to_add("mcp"))
            )
        if isinstance(found, FileNotFoundError | PermissionError | NotADirectoryError):
            place = self.session.config.place
            return ServerAway(Sentence("{program} cannot be started: it is not there", program=place), words)
        if isinstance(found, TimeoutError):
            return ServerAway(Sentence("it was not ready within {seconds:g} s", seconds=START_SECONDS), words)
        logger.info("the server %s cannot be used: %r", name, found)
        if self._words.is_refused:
            wants = "{host} wants a sign-in: the setting token names the place of a key; OAuth is not there"
            return ServerAway(Sentence(wants, host=self.session.config.place))
        if self.session.config.url:
            return ServerAway(Sentence("{host} cannot be reached, or is no MCP server", host=self.session.config.place))
        return ServerAway(Sentence("it ended while it was started"), words)


def _first(error: BaseException) -> BaseException:
    """The error inside of the groups that task groups make."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


class _LastWords:
    """The end of what a server writes to its standard error: nothing else of it is kept. `is_refused`: it has answered
    over HTTP that nobody comes in so."""

    def __init__(self) -> None:
        self.is_refused = False
        self._text = b""
        self._read, write = os.pipe()
        self.file = os.fdopen(write, "w")
        self._thread = threading.Thread(target=self._drain, name="server-words", daemon=True)
        self._thread.start()

    def _drain(self) -> None:
        with os.fdopen(self._read, "rb", buffering=0) as stream:
            while piece := stream.read(4096):
                self._text = (self._text + piece)[-_LAST_WORDS:]

    def last(self) -> str:
        """The last line that says something."""
        self.close()
        lines = [line.strip() for line in self._text.decode("utf-8", "replace").splitlines() if line.strip()]
        return lines[-1][:300] if lines else ""

    def close(self) -> None:
        """Wait a moment for the rest; a program that outlives the server may hold the other end open."""
        self.file.close()
        self._thread.join(0.5)


def _connection(config: ServerConfig, launch: Launch, words: _LastWords) -> "AbstractAsyncContextManager[_Streams]":
    logging.getLogger("mcp.client").setLevel(logging.CRITICAL)  # a server that greets on its output would fill the log
    if config.command:
        stdio = import_module("mcp.client.stdio")
        program, *rest = config.command
        folder = config.folder or os.path.expanduser("~")  # noqa: PTH111 - a text
        parameters = stdio.StdioServerParameters(
            command=program, args=rest, env=dict(launch.environment), cwd=folder, encoding_error_handler="replace"
        )
        found: AbstractAsyncContextManager[_Streams] = stdio.stdio_client(parameters, errlog=words.file)
        return found
    return _http(config, launch, words)


@asynccontextmanager
async def _http(config: ServerConfig, launch: Launch, words: _LastWords) -> AsyncIterator[_Streams]:
    async def look(response: Any) -> None:
        words.is_refused |= response.status_code in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)

    httpx, transport = import_module("httpx2"), import_module("mcp.client.streamable_http")
    waits = httpx.Timeout(30.0, read=config.seconds + _END_SECONDS)
    async with (
        httpx.AsyncClient(
            headers=dict(launch.headers), timeout=waits, trust_env=False, event_hooks={"response": [look]}
        ) as client,
        transport.streamable_http_client(config.url, http_client=client) as streams,
    ):
        yield streams


@asynccontextmanager
async def _watched(
    connection: "AbstractAsyncContextManager[_Streams]", ended: asyncio.Event
) -> AsyncIterator[_Streams]:
    """The connection; sets `ended` when nothing more can come through it."""
    anyio = import_module("anyio")
    async with connection as (incoming, outgoing):
        passed, received = anyio.create_memory_object_stream(0)

        async def pass_on() -> None:
            async with passed:
                with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
                    async for message in incoming:
                        await passed.send(message)
            ended.set()

        async with anyio.create_task_group() as group:
            group.start_soon(pass_on)
            try:
                yield received, outgoing
            finally:
                group.cancel_scope.cancel()


def _client(connection: "AbstractAsyncContextManager[_Streams]") -> "Client":
    module, types = import_module("mcp.client.client"), import_module("mcp_types")
    about = types.Implementation(name="vault-agent", version="1")
    client: Client = module.Client(connection, client_info=about, cache=None)
    return client


async def _tools_of(client: "Client") -> tuple[ServerTool, ...]:
    found: list[ServerTool] = []
    cursor: str | None = None
    for _ in range(_PAGES):
        page = await client.list_tools(cursor=cursor)
        for tool in page.tools:
            hints = tool.annotations
            listed = server_tool(
                tool.name,
                tool.description or "",
                tool.input_schema,
                is_readonly=hints is not None and hints.read_only_hint is True and not hints.destructive_hint,
            )
            found += [listed] if listed is not None else []
        cursor = page.next_cursor
        if not cursor or len(found) >= MOST_TOOLS:
            break
    return tuple(found[:MOST_TOOLS])
