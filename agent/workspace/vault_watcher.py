"""What the watcher has to know of the vault: hashes, which writes were ours, earlier versions, where HEAD has gone."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from agent.errors import AgentError
from agent.events.types import Origin
from agent.vault.history.versions import changed_between
from agent.vault.store import Vault
from agent.watch.compare import Facts
from agent.watch.recent import Recent
from agent.watch.watcher import Pace, Watcher
from agent.workspace.workspace import Workspace

logger = logging.getLogger(__name__)


def watch_vault(workspace: Workspace, known: dict[str, str], recent: Recent) -> Watcher:
    """A watcher that takes `known` (content hash by path) as dealt with, and keeps what it reads in `recent`."""
    settings = workspace.settings.watch
    pace = Pace(quiet=settings.quiet_seconds, scan=settings.scan_seconds)
    vault, moves = workspace.vault, _Head(workspace.vault, workspace.vault.head)

    def earlier(wanted: Sequence[tuple[str, str]]) -> list[bytes | None]:
        return vault.read_blobs([blob for _, blob in wanted])

    facts = Facts(vault.content_id, lambda asked: [_origin(vault, *each) for each in asked], earlier, moves.changed)
    return Watcher.watch(vault.place.root, facts, workspace.clock, known, pace, recent)


def _origin(vault: Vault, path: str, blob: str | None) -> Origin:
    """Who gave the path this content, or removed it (None). What cannot be told counts as arrived: it asks nothing."""
    if vault.is_own_version(path, blob):
        return Origin.OWN
    try:
        return Origin.ARRIVED if vault.provenance.arrived(path, blob) else Origin.HUMAN
    except AgentError as error:
        logger.warning("%s: nobody can tell whether it arrived: %s", path, error.message)
        return Origin.ARRIVED


@dataclass(slots=True)
class _Head:
    """Where HEAD was when it was last asked; None when there was no commit."""

    vault: Vault
    commit: str | None

    def changed(self) -> list[str]:
        """Paths that differ between that commit and HEAD now; empty when it has not moved.

        Raises `AgentError` when git cannot say; what it did not say then is not asked for again.
        """
        now = self.vault.head
        if now == self.commit or now is None:
            return []
        before, self.commit = self.commit, now
        return changed_between(self.vault, before, now) if before is not None else []
