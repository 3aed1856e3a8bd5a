"""What the watcher has to know of the vault: hashes, which writes were ours, earlier versions, where HEAD has gone."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from agent.errors import AgentError
from agent.events.types import Origin
from agent.vault.store import Vault
from agent.watch.compare import Facts
from agent.watch.recent import Recent
from agent.watch.watcher import Pace, Watcher
from agent.workspace.workspace import App

logger = logging.getLogger(__name__)


def watcher(app: App, known: dict[str, str], recent: Recent) -> Watcher:
    """A watcher that takes `known` (content hash by path) as dealt with, and keeps what it reads in `recent`."""
    settings = app.settings.watch
    pace = Pace(quiet=settings.quiet_seconds, scan=settings.scan_seconds)
    try:
        moves = _Head(app.vault, _head(app.vault))
    except AgentError:  # the first poll looks at everything
        moves = _Head(app.vault, None)
    written = _Written(app.vault)
    facts = Facts(app.vault.git.blob_id, written.origins, lambda wanted: _earlier(app.vault, wanted), moves.changed)
    return Watcher.watch(app.vault.place.root, facts, app.clock, known, pace, recent)


@dataclass(slots=True)
class _Written:
    """Whose doing contents are: by the journal's memory of what we wrote, read again only when it has grown, and by the
    record of what arrived."""

    vault: Vault
    _stamp: tuple[int, int] = (0, 0)
    _known: frozenset[tuple[str, str | None]] = frozenset()

    def origins(self, asked: Sequence[tuple[str, str | None]]) -> list[Origin]:
        """For each, whose doing it is that the path has this content, or none (None).

        What cannot be told counts as arrived: it asks nothing then.
        """
        known = self._read()
        return [Origin.OWN if each in known else self._of_others(*each) for each in asked]

    def _of_others(self, path: str, blob: str | None) -> Origin:
        try:
            return Origin.ARRIVED if self.vault.provenance.arrived(path, blob) else Origin.HUMAN
        except AgentError as error:
            logger.warning("%s: nobody can tell whether it arrived: %s", path, error.message)
            return Origin.ARRIVED

    def _read(self) -> frozenset[tuple[str, str | None]]:
        try:
            status = self.vault.writer.layout.journal.stat()
            stamp = (status.st_mtime_ns, status.st_size)
            if stamp != self._stamp:
                self._known = frozenset(self.vault.writer.journal.written())
                self._stamp = stamp
        except OSError:
            return frozenset()
        return self._known


@dataclass(slots=True)
class _Head:
    """Where HEAD was when it was last asked; None when there was no commit, or git did not say."""

    vault: Vault
    commit: str | None

    def changed(self) -> list[str]:
        """Paths that differ between that commit and HEAD now; empty when it has not moved.

        Raises `AgentError` when git cannot say; what it did not say then is not asked for again.
        """
        now = _head(self.vault)
        if now == self.commit or now is None:
            return []
        before, self.commit = self.commit, now
        if before is None:
            return []
        command = ["diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", before, now]
        names = self.vault.git.run(*command).decode("utf-8", "surrogateescape").split("\0")
        prefix = self.vault.place.prefix
        return [name.removeprefix(prefix) for name in names if name and name.startswith(prefix)]


def _head(vault: Vault) -> str | None:
    found = vault.git.run("rev-parse", "--verify", "-q", "HEAD", ok=(0, 1)).decode().strip()
    return found or None


def _earlier(vault: Vault, wanted: Sequence[tuple[str, str]]) -> list[bytes | None]:
    found = vault.git.objects([oid for _, oid in wanted]) if wanted else []
    return [blob.data if blob else None for blob in found]
