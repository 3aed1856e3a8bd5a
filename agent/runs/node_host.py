"""The node host: the connection to it with its token, and whether it answers."""

from collections.abc import Callable, Mapping
from dataclasses import field, fields
from datetime import datetime, timedelta

from agent.config.node_settings import load_node_token
from agent.dataclass import dataclass
from agent.events.bus import ignore_event
from agent.events.runs import NodeToolCalled
from agent.records.table import Table
from agent.tools.builtin.node.client import NodeClient
from agent.tools.builtin.node.link import NodeLink
from agent.workspace.workspace import Workspace

_TOOLS = "node_tools.json"


def node_link(workspace: Workspace, publish: Callable[[NodeToolCalled], object] = ignore_event) -> NodeLink:
    """The connection to the node host of the settings; `publish` is told of calls of its tools."""
    settings, directories = workspace.settings.node, workspace.directories

    def token() -> str:
        found = load_node_token(settings, directories)
        workspace.vault.known.learn([found])  # it may come back in what a tool prints
        return found

    client = NodeClient(settings.base_url, token)
    off = [each.name for each in fields(settings.tools) if not getattr(settings.tools, each.name)]
    waits, store = (settings.timeout_seconds, settings.reconnect_seconds), workspace.vault.private_folder / _TOOLS
    return NodeLink(client, workspace.vault.clock, off, *waits, publish, store)


FRESH = timedelta(seconds=55)
"""The time for which a look is good: less than the daemon's minute."""
GAP = timedelta(minutes=5)
"""The longest time without a look of which the state is taken to have been the same."""


@dataclass(frozen=True, slots=True)
class NodeState:
    """The state of the node host at the time `looked`; it is so `since`. `permissions` are their states by name, those
    known last while it is away; `problem` says why it is away, in one line."""

    looked: datetime
    since: datetime
    is_connected: bool
    permissions: Mapping[str, str] = field(default_factory=dict)
    problem: str = ""


def node_state(workspace: Workspace) -> NodeState | None:
    """The state of the node host now; None where the settings switch it off. May take some seconds."""
    if not workspace.settings.node.enabled:
        return None
    table, now = Table(workspace.vault.records, "node", NodeState, is_flushed=False), workspace.clock.now()
    before = table.get()
    if before is not None and abs(now - before.looked) < FRESH:
        return before
    link = node_link(workspace)
    link.tools()
    is_connected = not link.problem
    is_known = before is not None and now - before.looked < GAP and before.is_connected == is_connected
    since = before.since if before is not None and is_known else now
    known = link.permissions.states if is_connected else before.permissions if before is not None else {}
    found = NodeState(now, since, is_connected, dict(known), str(link.problem))
    table.put(found)
    return found
