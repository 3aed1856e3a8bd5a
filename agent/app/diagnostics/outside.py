"""The checks of what the person has set up outside of the vault in `doctor`: servers with tools."""

from collections.abc import Iterator

from agent.runs.servers import server_links
from agent.tools.builtin.servers.session import START_SECONDS
from agent.vault.health.probe import Check, guarded, ok, warn
from agent.workspace.workspace import Workspace

_SHOWN = 12


def server_checks(workspace: Workspace) -> list[Check]:
    """Start each server of `tools.servers`, and name its tools; no check without any."""
    return guarded("servers", lambda: _servers(workspace)) if workspace.settings.tools.servers else []


def _servers(workspace: Workspace) -> Iterator[Check]:
    for link in server_links(workspace):
        name = link.config.name
        link.look(START_SECONDS + 1)
        if link.problem:
            words = (workspace.vault.masked(link.words),) if link.words else ()
            helps = "vault-agent config get tools.servers shows how it is started"
            yield warn("servers", "{name}: {problem}", words, helps, name=name, problem=link.problem)
            continue
        names = [tool.name for tool in link.known()]
        more = (f"and {len(names) - _SHOWN} more",) if len(names) > _SHOWN else ()
        yield ok("servers", "{name} works; tools: {count}", (*names[:_SHOWN], *more), name=name, count=len(names))
