"""The connection to the node host of the settings, with its token."""

from collections.abc import Callable
from dataclasses import fields

from agent.config.node_token import load_node_token
from agent.events.bus import ignore_event
from agent.events.runs import NodeToolCalled
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
