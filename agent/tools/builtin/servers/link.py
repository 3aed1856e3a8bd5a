"""The tools of one MCP server, as tools of the agent: a source for the registry (`registry.ToolSource`).

What a server had when it ran last is kept, so it is only started when one of its tools is called, or when nothing is
known of it. A tool that says of itself that it changes nothing asks at its first use on this machine, any other at
each; a tool that has changed meanwhile counts as another one.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import field
from hashlib import sha256
from pathlib import Path
from threading import Lock

from agent.clock import Clock
from agent.config.masking import count_secrets, redact
from agent.config.servers import ServerConfig
from agent.dataclass import dataclass
from agent.errors import ToolFailed
from agent.llm.messages import JsonObject
from agent.texts import Sentence
from agent.tools.arguments import canonical, plain
from agent.tools.builtin.servers.listing import ServerTool, ToolListing, load_listing, named, save_listing
from agent.tools.builtin.servers.session import (
    ServerAway,
    ServerEnded,
    ServerRefused,
    ServerSession,
    ServerSlow,
    ServerStarting,
)
from agent.tools.taint import frame
from agent.tools.tool import RunContext, Tool, ToolOutput

AGAIN = 60.0
"""Seconds between two tries to start a server of which no tool is known."""
FIRST_WAIT = 10.0
"""Seconds that a run waits for the first start of a server; its tools are there once it has finished."""
_GROUPS = frozenset({"servers", "web"})
"""`web`, too: what is given to a server leaves the vault, also where a policy is older than the group of servers."""

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class ServerLink:
    """One server, for the runs of a vault. `store` is the file with its listing; `secrets` gives the values that no
    argument may contain; `tell` is told why it cannot be used, and the empty sentence once it can."""

    session: ServerSession
    clock: Clock
    store: Path
    secrets: Callable[[], Sequence[str]] = tuple
    tell: Callable[[Sentence], object] = lambda problem: None
    first_wait: float = FIRST_WAIT
    beside: "Sequence[ServerLink]" = ()
    """The other servers of the vault, which are started at the same time if nothing is known of them either."""
    problem: Sentence = field(default=Sentence(""), init=False)
    words: str = field(default="", init=False)
    _listing: ToolListing = field(init=False)
    _tools: dict[str, tuple[ServerTool, Tool]] = field(default_factory=dict, init=False)
    _next_try: float = field(default=float("-inf"), init=False)
    _waits: bool = field(default=True, init=False)
    _turn: Lock = field(default_factory=Lock, init=False)

    def __post_init__(self) -> None:
        self._listing = load_listing(self.store)
        if self._listing.digest == self._digest:
            self._take(self._listing.tools)

    @property
    def config(self) -> ServerConfig:
        """The settings of the server."""
        return self.session.config

    @property
    def _digest(self) -> str:
        """Another one for each other configuration."""
        return sha256(repr(self.config).encode("utf-8", "replace")).hexdigest()

    def tools(self) -> Sequence[Tool]:
        """The server's tools, as it had them last; it is started if none are known."""
        if self.is_unknown:
            for each in self.beside:
                each.begin()
            self.look()
        return self.known()

    @property
    def is_unknown(self) -> bool:
        """True if it is not known what the server has, and it is time to ask it."""
        return self._listing.digest != self._digest and self.clock.monotonic() >= self._next_try

    def begin(self) -> None:
        """Begin to start the server if nothing is known of it."""
        if self.is_unknown:
            self.session.begin()

    def known(self) -> Sequence[Tool]:
        """The same, without a start."""
        return tuple(tool for _, tool in self._tools.values())

    def absence(self) -> str:
        """Why the server's tools are not there, in our words: what it says itself is a stranger's."""
        return f"the server {self.config.name}: {self.problem}" if self.problem else ""

    def look(self, seconds: float | None = None) -> None:
        """Start the server, with so many seconds at most; `problem` says afterwards why its tools are not there."""
        wait = self.first_wait if self._waits else 0.0
        try:
            self.session.start(wait if seconds is None else seconds)
        except ServerStarting:
            self._waits, self.problem = False, Sentence("it is still starting")
        except ServerAway as error:
            self._failed(error)
        else:
            self._works()

    def take(self, tools: tuple[ServerTool, ...]) -> None:
        """Take in the tools that the server has now, and keep them."""
        with self._turn:
            listing = ToolListing(self._digest, tools)
            if listing != self._listing:
                save_listing(self.store, listing)
            self._listing = listing
            self._take(tools)

    def _take(self, tools: tuple[ServerTool, ...]) -> None:
        before = self._tools
        self._tools = {
            name: before[name] if name in before and before[name][0] == tool else (tool, self._tool(name, tool))
            for name, tool in named(self.config.name, tools)
        }

    def _works(self) -> None:
        self._waits, self.words = True, ""
        if self.problem:
            self.problem = Sentence("")
        self.tell(self.problem)

    def _failed(self, error: ServerAway) -> None:
        if error.problem != self.problem:
            logger.info("the server %s cannot be used: %s", self.config.name, error.problem)
        self.problem, self.words = error.problem, error.words
        self._next_try = self.clock.monotonic() + AGAIN
        self.tell(self.problem)

    def _tool(self, name: str, listed: ServerTool) -> Tool:
        definition = "\n".join((self._digest, listed.name, listed.description, listed.schema))

        def perform(arguments: JsonObject, context: RunContext) -> ToolOutput:
            return self._called(name, listed, arguments, context)

        description = frame(listed.description, f"the server {self.config.name}, of its tool")
        return Tool(
            name,
            description,
            listed.parameters,
            perform,
            _GROUPS,
            egress=True,
            timeout=0,
            dangerous=not listed.is_readonly,
            asks_first=sha256(definition.encode("utf-8", "replace")).hexdigest() if listed.is_readonly else "",
        )

    def _called(self, tool: str, listed: ServerTool, arguments: JsonObject, context: RunContext) -> ToolOutput:
        name = self.config.name
        if count_secrets(canonical(arguments), self.secrets()):
            raise ToolFailed("the arguments have a secret of this machine in them; they were not sent")
        source = f"the server {name}, {tool}"  # the tool's own name is the server's words
        sent = plain(arguments)
        try:
            self.session.start(cancelled=context.cancelled)
            if self._tools.get(tool, (None,))[0] != listed:
                raise ToolFailed(
                    f"{tool} was not called: the server {name} describes it otherwise now than when it was chosen, or "
                    "has it no more"
                )
            reply = self.session.call(listed.name, sent if isinstance(sent, dict) else {}, context.cancelled)
        except ServerAway as error:
            self._failed(error)
            raise ToolFailed(f"the server {name} cannot be used: {error.problem}. Tell the person") from error
        except (ServerEnded, ServerStarting) as error:
            why = Sentence("it ended during a call of {tool}", tool=tool)
            self._failed(ServerAway(why))
            raise ToolFailed(
                f"the server {name} ended before it answered; whether it did what was asked is not known. "
                "Another call starts it anew"
            ) from error
        except ServerSlow as error:
            seconds = self.config.seconds
            raise ToolFailed(
                f"the server {name} did not answer within {seconds:g} s; whether it did what was asked is not known"
            ) from error
        except ServerRefused as error:
            self._works()
            raise ToolFailed(self._failure(str(error), source, context)) from error
        self._works()
        if reply.is_error:
            raise ToolFailed(self._failure(reply.text, source, context))
        return ToolOutput(reply.text or "(it gave nothing back)", untrusted=source, images=reply.images)

    def _failure(self, message: str, source: str, context: RunContext) -> str:
        """The text of a failure for the model; what the server says in it is untrusted."""
        context.taint.mark(source)
        known = redact(message, self.secrets())[:1_500]  # before the cut: half a key would not be found
        return f"the server {self.config.name} could not do it:\n{frame(known or 'it says no reason', source)}"
