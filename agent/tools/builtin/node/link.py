"""The connection to a node host: looks for it, offers its tools while it is there, and knows its permissions.

A host that refuses the connection is away: its tools go, and it is looked for again after a while. One that is merely
slow keeps its tools; each call ends by its own time limit, and the permissions known last count. A host that keeps an
older contract offers nothing, and is asked to be updated. What its tools were is kept on this machine: a conversation
in which they were described goes on with the same description.
"""

import json
import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, field
from pathlib import Path
from threading import Lock
from urllib.parse import urlsplit

from agent.clock import Clock
from agent.config.private import make_folder, replace
from agent.dataclass import dataclass
from agent.errors import MissingKey, ToolFailed
from agent.events.bus import ignore_event
from agent.events.runs import NodeToolCalled
from agent.json_value import parse_json
from agent.llm.endpoint import is_this_machine
from agent.llm.messages import JsonObject
from agent.texts import Sentence
from agent.tools.arguments import number
from agent.tools.builtin.node.client import (
    NodeAway,
    NodeClient,
    NodeListing,
    NodeOpen,
    NodePermissions,
    NodeRefused,
    NodeReply,
    NodeSlow,
    NodeTooOld,
)
from agent.tools.registry import is_tool_name
from agent.tools.taint import frame
from agent.tools.tool import RunContext, Tool, ToolOutput
from agent.tools.tool_names import FOREIGN

PREFIX = FOREIGN
_DEFAULT_SECONDS = 30
_FRESH = 0.5
"""Seconds for which a look is good: runs beside each other look once."""
_GROUPS = frozenset({"exec", "node"})
_SETTINGS = "on macOS in System Settings, Privacy & Security"

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class NodeLink:
    """One host, for all runs of a vault: a source of tools (`registry.ToolSource`).

    `off` are tools that the settings switch off. `wait` and `again` are seconds: for an answer on top of what a call
    asks for, and between two looks for a host that is away. `publish` is told of each call. `store` is the file with
    the tools that the host had; None: they are known in this process only.
    """

    client: NodeClient
    clock: Clock
    off: Collection[str] = ()
    wait: float = 30.0
    again: float = 60.0
    publish: Callable[[NodeToolCalled], object] = ignore_event
    store: Path | None = None
    problem: Sentence = field(default=Sentence(""), init=False)
    permissions: NodePermissions = field(default_factory=NodePermissions, init=False)
    _look_at: float = field(default=float("-inf"), init=False)
    _tools: dict[NodeListing, Tool] = field(default_factory=dict, init=False)
    _known: dict[str, NodeListing] = field(init=False)
    _turn: Lock = field(default_factory=Lock, init=False)

    def __post_init__(self) -> None:
        self._known = _load(self.store)

    def tools(self) -> Sequence[Tool]:
        """The host's tools now; empty while it is away. Looks for it if the last look is too long ago."""
        with self._turn:
            if self.clock.monotonic() >= self._look_at:
                self._look()
            return tuple(self._tools.values())

    def known(self) -> Sequence[Tool]:
        """The tools that the host has, and those that it had, as they were last."""
        return tuple(map(self._tool, self._known.values()))

    def absence(self) -> str:
        """Why the host's tools are not there."""
        return self.problem or "the node host does not offer this any more"

    def _look(self) -> None:
        was_there, before = bool(self._tools), self.problem
        try:
            if not was_there:
                _check_address(self.client.base_url)
                self.client.check_version()
            listed = [each for each in self.client.tools() if each.name not in self.off and is_tool_name(each.name)]
            self.permissions = self.client.permissions()
        except NodeSlow as error:  # its tools stay: a call has a time limit of its own
            self._failed(error)
        except (NodeAway, NodeTooOld, NodeRefused, NodeOpen, MissingKey) as error:
            self._tools = {}
            self._failed(error)
        else:
            self._tools = {each: self._tools.get(each) or self._tool(each) for each in listed}
            self._keep(self._known | {each.name: each for each in listed})
            self.problem, self._look_at = Sentence(""), self.clock.monotonic() + _FRESH
        if self.problem and self.problem != before:
            logger.info("%s", self.problem)

    def _keep(self, known: dict[str, NodeListing]) -> None:
        if known != self._known and self.store is not None:
            make_folder(self.store.parent)
            replace(self.store, json.dumps([asdict(each) for each in known.values()]))
        self._known = known

    def _failed(self, error: Exception) -> None:
        self.problem = _problem(error, self.client.base_url)
        self._look_at = self.clock.monotonic() + self.again

    def _tool(self, listed: NodeListing) -> Tool:
        parameters = listed.parameters

        def perform(arguments: JsonObject, context: RunContext) -> ToolOutput:
            return self._called(listed, arguments, context, self.wait + _seconds(parameters, arguments, "default"))

        longest = self.wait + _seconds(parameters, {}, "maximum")
        return Tool(
            PREFIX + listed.name,
            listed.description,
            parameters,
            perform,
            _GROUPS,
            egress=True,
            timeout=longest + 5.0,
            dangerous=True,
            seldom=True,
        )

    def _called(self, listed: NodeListing, arguments: JsonObject, context: RunContext, seconds: float) -> ToolOutput:
        source, began = f"node host, {listed.name}", self.clock.monotonic()

        def tell(status: str, permission: str = "") -> None:
            took = self.clock.monotonic() - began
            self.publish(NodeToolCalled(context.run, listed.name, status, took, permission))

        if self._is_denied(listed):
            tell("denied", listed.permission)
            raise ToolFailed(_denied(listed.permission))
        try:
            reply = self.client.execute(listed.name, f"{context.run}/{context.call}"[-200:], arguments, seconds)
        except NodeSlow as error:
            tell("late")
            raise ToolFailed(
                f"the node host did not answer within {seconds:g} s; whether it did what was asked is not known"
            ) from error
        except (NodeAway, MissingKey) as error:
            tell("away")
            with self._turn:
                self._look_at = float("-inf")
            raise ToolFailed("the node host is away; whether it did what was asked is not known") from error
        if reply.code:
            is_denied = reply.code == "permission_denied"
            tell("denied" if is_denied else "failed", reply.permission or listed.permission if is_denied else "")
            raise ToolFailed(_failure(reply, source, context))
        tell("ok")
        return ToolOutput(reply.output, untrusted=source)

    def _is_denied(self, listed: NodeListing) -> bool:
        """True if the host's system refuses what the tool needs, as far as is known."""
        if not listed.permission:
            return False
        try:
            self.permissions = self.client.permissions()
        except (NodeAway, NodeSlow, NodeRefused, MissingKey):
            logger.info("the permissions of the node host are those known last")
        return self.permissions.states.get(listed.permission) == "denied"


def _load(store: Path | None) -> dict[str, NodeListing]:
    """The tools in the file, by name; none if there is no file, or a damaged one."""
    try:
        rows = parse_json(store.read_bytes()) if store else []
        return {row["name"]: NodeListing(**{key: str(value) for key, value in row.items()}) for row in rows}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _problem(error: Exception, url: str) -> Sentence:
    match error:
        case NodeAway():
            return Sentence("no node host answers at {url}; vault-agent node starts one", url=url)
        case NodeSlow():
            return Sentence("the node host at {url} does not answer in time", url=url)
        case NodeTooOld():
            return Sentence("the node host at {url} is too old; update it", url=url)
        case NodeOpen():
            return Sentence(
                "{url} is on another machine and has no TLS, so the token would go over the network in clear", url=url
            )
        case NodeRefused():
            return Sentence("the node host at {url} does not accept the token; node.token_file names it", url=url)
    return Sentence("the token of the node host cannot be read")


def _denied(permission: str) -> str:
    return (
        f"the permission {permission} is denied on the person's machine. They can allow it, {_SETTINGS}; "
        "vault-agent node --check says what helps there. Tell them"
    )


def _failure(reply: NodeReply, source: str, context: RunContext) -> str:
    """The text of a failure for the model; what the host says in it is untrusted."""
    if reply.code == "permission_denied":
        return _denied(reply.permission or "for this")
    context.taint.mark(source)
    message = f"{reply.detail}\n{reply.hint}".strip() or "it says nothing more"
    return f"the node host could not do it ({reply.code[:40]}):\n{frame(message, source)}"


def _seconds(parameters: JsonObject, arguments: JsonObject, otherwise: str) -> float:
    """The seconds that a call asks for; without them what the schema says of them, 0 if it has none."""
    properties = parameters.get("properties")
    row = properties.get("seconds") if isinstance(properties, dict) else None
    if not isinstance(row, dict):
        return 0.0
    return float(number(arguments, "seconds", number(row, otherwise, _DEFAULT_SECONDS)))


def _check_address(base_url: str) -> None:
    """Raise `NodeOpen` for another machine without TLS: the token would go over the network in clear."""
    parts = urlsplit(base_url)
    if parts.scheme != "https" and not is_this_machine(parts.hostname or ""):
        raise NodeOpen
