"""The watcher of a vault, and the facts it needs: hashes, own writes, earlier versions, moves of HEAD."""

import logging
from collections.abc import Sequence

from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.events.types import FilesChanged, NoteDeleted, NoteMoved, Origin
from agent.markdown.changes import NoteChange
from agent.vault.history.versions import changed_between
from agent.vault.store import Vault
from agent.watch.classify import VaultEvent
from agent.watch.compare import Facts
from agent.watch.file_systems import reports_all_changes
from agent.watch.snapshot import Recent
from agent.watch.watcher import Pace, Watcher
from agent.workspace.workspace import Workspace

logger = logging.getLogger(__name__)


def watch_vault(workspace: Workspace, known: dict[str, str], recent: Recent) -> Watcher:
    """A watcher that takes `known` (content hash by path) as processed, and keeps the contents it reads in `recent`."""
    pace = watch_pace(workspace)
    vault, moves = workspace.vault, _Head(workspace.vault, workspace.vault.head)

    def earlier(wanted: Sequence[tuple[str, str]]) -> list[bytes | None]:
        return vault.read_blobs([blob for _, blob in wanted])

    facts = Facts(vault.content_id, lambda asked: origins_of(vault, asked), earlier, moves.changed)
    return Watcher.watch(vault.place.root, facts, workspace.clock, known, pace, recent)


def watch_pace(workspace: Workspace) -> Pace:
    """The times of the watcher and of all else that looks at the whole vault now and then."""
    settings = workspace.settings.watch
    scan = still = settings.scan_seconds
    if reports_all_changes(workspace.vault.place.root):
        still = max(scan, settings.still_scan_seconds)
    return Pace(quiet=settings.quiet_seconds, scan=scan, still=still)


def origins_of(vault: Vault, contents: Sequence[tuple[str, str | None]]) -> list[Origin]:
    """The origin of each path's content, or of its removal (no blob id).

    If it cannot be found, the content counts as arrived: such content cannot ask the agent for anything.
    """
    came, typed = vault.versions_of_others()
    own = vault.own_versions() | typed
    others = {each for each in contents if each not in own}
    try:
        taken_in = came & others
        arrived = vault.provenance.arrived_among(others) if others else set()
        pulled = set(taken_in | vault.provenance.recorded_among(others - arrived)) - arrived
        texts = ((path, vault.provenance.marks_of(vault.read_now(path) or b""), blob or "") for path, blob in pulled)
        strange = vault.provenance.strangers_among(texts)
        arrived |= {each for each in pulled if each[0] in strange}
        pulled -= arrived
        edited = {each.path for each in vault.changed_files([path for path, _ in pulled])} if pulled else set()
    except AgentError as error:
        logger.warning("nobody can tell whether changes arrived: %s", error.message)
        arrived, pulled, edited = others, set(), set()
    kinds = dict.fromkeys(others | typed, Origin.HUMAN) | dict.fromkeys(arrived, Origin.ARRIVED)
    kinds |= {each: Origin.PULLED for each in pulled if each[0] not in edited}  # an edit back to it is a person's
    return [kinds.get(each, Origin.OWN) for each in contents]


def files_changed(vault: Vault, events: Sequence[VaultEvent], now: float) -> FilesChanged[NoteChange]:
    """The event of these changes, with those of private notes apart. For all others, a note that becomes private with
    its move is deleted, and one that no longer is private is found where it is read."""
    public, private = list[VaultEvent](), list[VaultEvent]()
    for event in events:
        is_private = vault.private_notes.have(event.path)
        if isinstance(event, NoteMoved) and is_private != vault.private_notes.have(event.source):
            private.append(event)
            public += [NoteDeleted(event.source, event.before, event.origin)] if is_private else []
        else:
            (private if is_private else public).append(event)
    return FilesChanged(tuple(public), now, tuple(private))


@dataclass(slots=True)
class _Head:
    """The commit of HEAD at the last check; None if there was no commit."""

    vault: Vault
    commit: str | None

    def changed(self) -> list[str]:
        """Paths that differ between that commit and the current HEAD; empty if HEAD has not moved.

        Raises `AgentError` if git fails; the next call does not include the paths of a failed one.
        """
        now = self.vault.head
        if now == self.commit or now is None:
            return []
        before, self.commit = self.commit, now
        return changed_between(self.vault, before, now) if before is not None else []
