"""Whether the server is there, and whether it can work."""

import msgspec

from agent.interfaces.http.operation import Call, NoParams, Operation
from agent.workspace.daemon_lock import load_daemon_state


class Health(msgspec.Struct, frozen=True):
    """The server answers; `vault` is the folder it serves."""

    ok: bool
    vault: str


class Readiness(msgspec.Struct, frozen=True):
    """`ready` is false while the daemon starts, and `problem` says what keeps search behind."""

    ready: bool
    problem: str


def health(call: Call[NoParams, None]) -> Health:
    """The server answers."""
    return Health(True, str(call.service.workspace.vault.place.root))


def readiness(call: Call[NoParams, None]) -> Readiness:
    """The daemon's own state."""
    state = load_daemon_state(call.service.workspace) or {}
    return Readiness(not state.get("starting"), str(state.get("index") or ""))


OPERATIONS = (
    Operation("GET", "/api/v1/health", "health", "Whether the server answers", health, Health, NoParams),
    Operation("GET", "/api/v1/ready", "ready", "Whether the daemon has started", readiness, Readiness, NoParams),
)
