"""The server: what the SDK asks, answered with the tools, resources and prompts of one vault; on standard input and
output it is for one program that has started it, and ends when its input is closed.

Whatever reads or writes the vault runs in a thread, as the vault blocks. Nothing is loaded before it is asked for: most
programs start this with every session, and use it in few.
"""

import logging
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import field
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import PromptsListChanged, ResourcesListChanged
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.interfaces.first_message import NAME, version
from agent.interfaces.mcp.clients import TAINT_FOLDER, Client, Clients, ClientTaints, offered
from agent.interfaces.mcp.definitions import Definition, ToolOffer
from agent.interfaces.mcp.greeting import INSTRUCTIONS, Greeting, WithoutGreeting
from agent.interfaces.mcp.source import CallSource, parent_program
from agent.interfaces.mcp.watching import MARKDOWN, NOTE, ListName, ListWatch, Resources, Watch
from agent.llm.messages import JsonObject
from agent.tools.arguments import plain
from agent.tools.policy import Policies, load_policies
from agent.workspace.workspace import Workspace

if TYPE_CHECKING:
    from agent.interfaces.mcp.calls import CallResult, Calls
    from agent.interfaces.mcp.prompts import Prompts

logger = logging.getLogger(__name__)

LOOK = 0.5
"""Seconds between two looks at whether there is something to tell."""
QUIET = 10.0
"""Seconds after which it is told that the call goes on, if nothing else is."""


class ReportProgress(Protocol):
    """Sends one notification, for a program that has asked for them."""

    async def __call__(self, progress: float, total: float | None = None, message: str | None = None) -> None: ...


async def tell_progress(report: ReportProgress, messages: Sequence[str]) -> None:
    """Report the last of the lines in `told` whenever there are more, and that the call goes on; until it is
    cancelled, or the program cannot be told. Raises nothing: the call goes on without."""
    known, number, since = 0, 0, anyio.current_time()
    while True:
        await anyio.sleep(LOOK)
        if len(messages) == known and anyio.current_time() - since < QUIET:
            continue
        known, number, since = len(messages), number + 1, anyio.current_time()
        try:
            await report(number, None, messages[-1] if messages else "it goes on")
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):  # the program has gone
            return
        except Exception:
            logger.warning("a program cannot be told how far its call is", exc_info=True)
            return


T = TypeVar("T")
Request: TypeAlias = "ServerRequestContext[Any, Any]"


class _VaultServer(Server[None]):
    """The SDK's server, which says that it tells of changed lists."""

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        sentence = notification_options or NotificationOptions(prompts_changed=True, resources_changed=True)
        return super().create_initialization_options(sentence, experimental_capabilities, extensions)


@dataclass(slots=True)
class Door:
    """One vault, open to programs until `close`; `source` says where a request comes from. `ending` is set when this
    process ends, and stops what runs."""

    workspace: Workspace
    offer: ToolOffer
    policies: Policies
    source: Callable[[Request], CallSource]
    ending: threading.Event = field(default_factory=threading.Event)
    clients: Clients = field(init=False)
    resources: Resources = field(init=False)
    watch: Watch = field(init=False)
    lists: ListWatch = field(init=False)
    _bus: InMemorySubscriptionBus = field(default_factory=InMemorySubscriptionBus)
    _listeners: dict[tuple[int, str], Request] = field(default_factory=dict)
    _readers: dict[tuple[int, ListName], Request] = field(default_factory=dict)
    _calls: "Calls | None" = None
    _prompts: "Prompts | None" = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        vault = self.workspace.vault
        self.clients = Clients(vault.clock, ClientTaints(vault.private_folder / TAINT_FOLDER, vault.clock))
        self.resources = Resources(self.workspace)
        self.watch = Watch(self.resources)
        paths = self.workspace.vault.note_paths
        self.lists = ListWatch({"prompts": lambda: self.prompts().state(), "resources": lambda: hash(tuple(paths()))})

    def server(self) -> Server[None]:
        """The server of the SDK, for any of its transports."""
        listen = ListenHandler(self._bus)

        async def subscribed(
            request: Request, params: types.SubscriptionsListenRequestParams
        ) -> types.SubscriptionsListenResult:
            wanted = params.notifications
            uris = list(wanted.resource_subscriptions or ())
            asked: dict[ListName, bool | None] = {
                "prompts": wanted.prompts_list_changed,
                "resources": wanted.resources_list_changed,
            }
            await self._watch(uris)
            names = [name for name, is_asked in asked.items() if is_asked]
            for name in names:
                await self.lists.add(name)
            try:
                return await listen(request, params)
            finally:
                self.watch.drop(uris)
                for name in names:
                    self.lists.drop(name)

        return _VaultServer(
            NAME,
            version=version(),
            instructions=INSTRUCTIONS,
            lifespan=self._lifespan,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
            on_subscribe_resource=self._subscribe,
            on_unsubscribe_resource=self._unsubscribe,
            on_subscriptions_listen=subscribed,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
        )

    def close(self) -> None:
        """Stop what runs, and close the index."""
        self.ending.set()
        if self._calls is not None:
            self._calls.close()

    @asynccontextmanager
    async def _lifespan(self, server: Server[None]) -> AsyncIterator[None]:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.watch.run, self._tell)
            tasks.start_soon(self.lists.run, self._tell_list)
            try:
                yield
            finally:
                self.ending.set()
                tasks.cancel_scope.cancel()

    def _client(self, request: Request) -> Client:
        known = request.session.client_params
        return self.clients.find(self.source(request), known.client_info.name if known is not None else "")

    def calls(self) -> "Calls":
        """The calls on the vault, opened at the first one."""
        with self._lock:
            if self._calls is None:
                module = import_module("agent.interfaces.mcp.calls")
                calls: Calls = module.open_calls(self.workspace, self.offer, self.policies)
                self._calls = calls
            return self._calls

    def prompts(self) -> "Prompts":
        """The skills as prompts, opened when they are first asked for."""
        with self._lock:
            if self._prompts is None:
                prompts: Prompts = import_module("agent.interfaces.mcp.prompts").Prompts(self.workspace)
                self._prompts = prompts
            return self._prompts

    async def _list_tools(self, request: Request, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        usable = offered(self.offer, self.policies, self._client(request))
        return types.ListToolsResult(tools=[_as_tool(each) for each in usable if each in self.offer.listed])

    async def _call_tool(
        self, request: Request, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        client, is_repeated = self._client(request), params.request_state is not None
        perform = partial(self._perform, request, params.name, dict(params.arguments or {}), client)
        if is_repeated:
            await _in_thread(partial(_asking().take_in, self.workspace, params, client))
        answer = await perform()
        if not answer.waits_for or is_repeated:
            return _as_result(answer)
        asked = await _asking().ask(request, self.workspace, answer.waits_for)
        if isinstance(asked, types.InputRequiredResult):
            return asked
        return _as_result(await perform() if asked else answer)

    async def _perform(self, request: Request, name: str, arguments: JsonObject, client: Client) -> "CallResult":
        """Perform a call in a thread, and tell its progress to a program that has asked for it. When the program
        cancels it, a run of the agent is stopped, while a write goes on to its end."""
        stopped, sentence = threading.Event(), list[str]()

        def work() -> "CallResult":
            is_over = lambda: stopped.is_set() or self.ending.is_set()  # noqa: E731
            return self.calls().perform(name, arguments, client, is_over, sentence.append)

        failed: Exception | None = None
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(tell_progress, request.session.report_progress, sentence)
                try:
                    answer = await anyio.to_thread.run_sync(work, abandon_on_cancel=True)
                except Exception as error:  # noqa: BLE001 - the group would hide what it says
                    failed = error
                tasks.cancel_scope.cancel()
        finally:
            stopped.set()
        if failed is not None:
            raise failed
        return answer

    async def _list_resources(
        self, request: Request, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        await self._note_reader(request, "resources")
        cursor = params.cursor if params is not None and params.cursor else ""
        found, following = await _in_thread(partial(self.resources.page, cursor))
        resources = [
            types.Resource(uri=each.uri, name=each.name, description=each.description or None, mime_type=MARKDOWN)
            for each in found
        ]
        return types.ListResourcesResult(resources=resources, next_cursor=following or None)

    async def _list_templates(
        self, request: Request, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        note = types.ResourceTemplate(
            uri_template=f"{NOTE}{{+path}}", name="note", description="A note by its path.", mime_type=MARKDOWN
        )
        return types.ListResourceTemplatesResult(resource_templates=[note])

    async def _read_resource(
        self, request: Request, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(params.uri)
        text = await _in_thread(partial(self.resources.read, uri, self._client(request)))
        return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, mime_type=MARKDOWN, text=text)])

    async def _subscribe(self, request: Request, params: types.SubscribeRequestParams) -> types.EmptyResult:
        uri = str(params.uri)
        key = (id(request.session.client_params), uri)
        if key not in self._listeners:
            await self._watch([uri])
        self._listeners[key] = request
        return types.EmptyResult()

    async def _unsubscribe(self, request: Request, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        uri = str(params.uri)
        if self._listeners.pop((id(request.session.client_params), uri), None) is not None:
            self.watch.drop([uri])
        return types.EmptyResult()

    async def _watch(self, uris: Sequence[str]) -> None:
        """Watch the resources; raises `MCPError` if there is one that there is not."""
        try:
            await self.watch.add(uris)
        except AgentError as error:
            raise _refusal(error) from error

    async def _tell(self, uri: str) -> None:
        await self._bus.publish(ResourceUpdated(uri))
        for (_, wanted), request in list(self._listeners.items()):
            if wanted == uri:
                await request.session.send_resource_updated(uri)

    async def _note_reader(self, request: Request, name: ListName) -> None:
        """Tell a program of an older protocol when a list changes that it has read; the others listen for it."""
        key = (id(request.session.client_params), name)
        if request.protocol_version in MODERN_PROTOCOL_VERSIONS:
            return
        if key not in self._readers:
            await self.lists.add(name)
        self._readers[key] = request

    async def _tell_list(self, name: ListName) -> None:
        await self._bus.publish(PromptsListChanged() if name == "prompts" else ResourcesListChanged())
        for key, request in [each for each in self._readers.items() if each[0][1] == name]:
            session = request.session
            try:
                await (
                    session.send_prompt_list_changed() if name == "prompts" else session.send_resource_list_changed()
                )
            except (anyio.ClosedResourceError, anyio.BrokenResourceError):  # the program has gone
                self._readers.pop(key, None)
                self.lists.drop(name)

    async def _list_prompts(
        self, request: Request, params: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        await self._note_reader(request, "prompts")
        return types.ListPromptsResult(prompts=await _in_thread(lambda: self.prompts().all()))

    async def _get_prompt(self, request: Request, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        return await _in_thread(lambda: self.prompts().get(params.name, params.arguments or {}))


def _asking() -> ModuleType:
    """The module that asks the person; few calls need it."""
    return import_module("agent.interfaces.mcp.asking_person")


async def _in_thread(work: Callable[[], T]) -> T:
    """The result of work that blocks; an error of ours becomes one of the protocol."""
    try:
        return await anyio.to_thread.run_sync(work)
    except AgentError as error:
        raise _refusal(error) from error


def _refusal(error: AgentError) -> MCPError:
    """The error of the protocol, which says what to do."""
    hint = f"; {error.hint}" if error.hint else ""
    return MCPError(types.INVALID_PARAMS, f"{error.message}{hint}")


def _as_tool(definition: Definition) -> types.Tool:
    schema = plain(definition.parameters)
    assert isinstance(schema, dict)
    return types.Tool(
        name=definition.name,
        description=definition.description,
        input_schema=schema,
        annotations=types.ToolAnnotations(read_only_hint=True) if definition.only_reads else None,
    )


def _as_result(answer: "CallResult") -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=answer.text)], is_error=answer.failed)


def serve(workspace: Workspace, offer: ToolOffer, name: str, greeting: Greeting | None = None) -> None:
    """Serve until standard input is closed. The program has the `name` that its configuration gives it, else (empty)
    that of the process that has started this one; its first message was answered already with the `greeting`, if there
    is one. Raises `ConfigError` for an invalid policy."""
    source = CallSource(name) if name else CallSource(parent_program(), is_program=False)
    door = Door(workspace, offer, load_policies(workspace.directories.config), lambda request: source)

    async def run() -> None:
        server = door.server()
        async with stdio_server() as (incoming, outgoing):
            lines = outgoing if greeting is None else WithoutGreeting(outgoing, greeting)
            await server.run(incoming, lines, server.create_initialization_options())

    try:
        anyio.run(run)
    finally:
        door.close()
