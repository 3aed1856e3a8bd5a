"""The runs that go on on another machine with this vault: shown, and never taken up here."""

from collections.abc import Iterator
from datetime import timedelta

from agent.errors import AgentError
from agent.loop.session import Session, load_session, sessions
from agent.runs.machines import SessionElsewhere
from agent.runs.registry import run_registry
from agent.workspace.workspace import Workspace

ELSEWHERE = timedelta(hours=6)
"""The time after its last record in which a run that has not ended counts as going on."""
_NEWEST = 60
"""The newest sessions that are looked at."""


def is_elsewhere(workspace: Workspace, session: Session) -> bool:
    """True if a session came from another machine, and its run goes on there."""
    last = session.records[-1].at if session.records else None
    if session.open_run is None or last is None or workspace.clock.now() - last > ELSEWHERE:
        return False
    vault = workspace.vault
    return run_registry(vault).get(session.id) is None and vault.provenance.began_elsewhere(session.path)


def sessions_elsewhere(workspace: Workspace) -> tuple[SessionElsewhere, ...]:
    """The sessions in progress on other machines, the newest day first."""
    return tuple(_elsewhere(workspace))


def _elsewhere(workspace: Workspace) -> Iterator[SessionElsewhere]:
    vault = workspace.vault
    vault.provenance.look()
    if vault.provenance.database.is_empty():
        return
    for path in sessions(vault)[:_NEWEST]:
        if not vault.provenance.began_elsewhere(path):
            continue
        try:
            session = load_session(vault, path)
        except AgentError:
            continue
        if is_elsewhere(workspace, session):
            yield SessionElsewhere(path, session.waits)
