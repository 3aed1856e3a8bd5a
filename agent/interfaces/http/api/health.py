"""Whether the server is there, whether it can work, and the counts of events on this machine."""

import msgspec

from agent.app.figures import prometheus_text
from agent.interfaces.http.operation import Routes
from agent.workspace.workspace import Workspace, load_daemon_state

ROUTES = Routes("/api/v1")


class Health(msgspec.Struct, frozen=True):
    """The server answers; `vault` is the folder it serves."""

    ok: bool
    vault: str


class Readiness(msgspec.Struct, frozen=True):
    """`ready` is false while the daemon starts, and `problem` says what keeps search behind."""

    ready: bool
    problem: str


@ROUTES.get("/health", "Whether the server answers")
def health(workspace: Workspace) -> Health:
    """The server answers."""
    return Health(True, str(workspace.vault.place.root))


@ROUTES.get("/ready", "Whether the daemon has started")
def ready(workspace: Workspace) -> Readiness:
    """The daemon's own state."""
    state = load_daemon_state(workspace) or {}
    return Readiness(not state.get("starting"), str(state.get("index") or ""))


@ROUTES.get("/metrics", "The metrics, for Prometheus", content_type="text/plain; version=0.0.4; charset=utf-8")
def metrics(workspace: Workspace) -> bytes:
    """All counters since the beginning and how things are now, in Prometheus' text format."""
    return prometheus_text(workspace)
