"""Whether the node host answers, since when, and the permissions of its machine: looked at by whoever asks, once a
minute at most, and noted in one small file for all processes."""

import json
from collections.abc import Mapping
from dataclasses import asdict, field
from datetime import datetime, timedelta
from pathlib import Path

from agent.config.private import make_folder, replace
from agent.dataclass import dataclass
from agent.json_value import parse_json
from agent.runs.node_host import node_link
from agent.workspace.workspace import Workspace

FRESH = timedelta(seconds=55)
"""The time for which a look is good: less than the daemon's minute."""
GAP = timedelta(minutes=5)
"""The longest time without a look of which the state is taken to have been the same."""
_FILE = "node.json"


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
    path, now = workspace.vault.private_folder / _FILE, workspace.clock.now()
    before = _load(path)
    if before is not None and abs(now - before.looked) < FRESH:
        return before
    link = node_link(workspace)
    link.tools()
    is_connected = not link.problem
    is_known = before is not None and now - before.looked < GAP and before.is_connected == is_connected
    since = before.since if before is not None and is_known else now
    known = link.permissions.states if is_connected else before.permissions if before is not None else {}
    found = NodeState(now, since, is_connected, dict(known), str(link.problem))
    make_folder(path.parent)
    replace(path, json.dumps(asdict(found), default=datetime.isoformat))
    return found


def _load(path: Path) -> NodeState | None:
    try:
        said = parse_json(path.read_bytes())
        found = NodeState(
            datetime.fromisoformat(said["looked"]),
            datetime.fromisoformat(said["since"]),
            said["is_connected"] is True,
            {str(name): str(state) for name, state in said["permissions"].items()},
            str(said["problem"]),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return found if found.looked.tzinfo and found.since.tzinfo else None
