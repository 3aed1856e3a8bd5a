"""The check of the node host in `doctor`: whether the agent reaches it, where it is switched on."""

from collections.abc import Iterator

from agent.runs.node_host import node_link
from agent.vault.health.probe import Check, Level, guarded, ok
from agent.workspace.workspace import Workspace


def node_checks(workspace: Workspace) -> list[Check]:
    """Look for the node host of the settings; no check where `node.enabled` is false."""
    return guarded("node host", lambda: _node(workspace)) if workspace.settings.node.enabled else []


def _node(workspace: Workspace) -> Iterator[Check]:
    link = node_link(workspace)
    tools = link.tools()
    if link.problem:
        yield Check(
            Level.WARN, "node host", link.problem, next="vault-agent config get node.base_url shows its address"
        )
    else:
        yield ok("node host", "{count} tools at {url}", count=len(tools), url=workspace.settings.node.base_url)
