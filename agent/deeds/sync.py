"""Sync: how this machine and each remote stand, and the conflicts to end."""

from agent.deeds.result import ResultValue
from agent.runs.sync_questions import adopt_questions, settle_questions
from agent.texts import text
from agent.vault.health.status import status as vault_status
from agent.vault.store import Vault
from agent.vault.sync.distance import RemoteDistance, distances
from agent.vault.sync.resolve import ConflictedNote, ConflictSide, resolve
from agent.vault.sync.state import sync_state
from agent.workspace.workspace import Workspace


class WaitView(ResultValue, frozen=True):
    """What a remote waits for; the questions tell more."""

    kind: str
    notes: list[str]


class Remote(ResultValue, frozen=True):
    """One remote, as far as it was known at its last answer."""

    name: str
    address: str
    branch: str
    synced: bool
    as_of: str | None
    tried: str | None
    ahead: int
    ahead_since: str | None
    behind: int
    behind_since: str | None
    uncommitted: int
    problem: str | None
    hint: str | None
    passing: bool
    since: str | None
    wait: WaitView | None
    left_out: list[str]


class SyncStateView(ResultValue, frozen=True):
    """The remotes, and the notes that have conflict copies."""

    paused: bool
    remotes: list[Remote]
    conflicts: list[str]


class Resolved(ResultValue, frozen=True):
    """The conflict is over; undo the commit to have it as before."""

    note: str
    removed: list[str]
    commit: str | None
    queued: str | None


def sync_status(workspace: Workspace) -> SyncStateView:
    """How this machine and each remote stand; asks no network."""
    vault = workspace.vault
    found = vault_status(vault)
    remotes = [remote_view(vault, each) for each in distances(vault, len(found.dirty))]
    return SyncStateView(sync_state(vault).is_paused, remotes, vault.private_notes.left_of(found.conflicts))


def remote_view(vault: Vault, status: RemoteDistance) -> Remote:
    """One remote."""
    remote = status.remote
    waits = vault.private_notes.left_of(remote.wait.paths) if remote.wait is not None else []
    wait = WaitView.of(remote.wait, notes=waits) if remote.wait is not None else None
    return Remote.of(
        status,
        remote,
        synced=status.is_synced,
        as_of=remote.agreed_at,
        tried=remote.tried_at,
        problem=remote.trouble,
        passing=remote.is_passing,
        wait=wait,
    )


def end_conflict(workspace: Workspace, conflict: ConflictedNote, side: ConflictSide) -> Resolved:
    """End a conflict with one of its versions, or both, in the person's name; nobody is asked about it any more."""
    adopt_questions(workspace)
    outcome = resolve(workspace.vault, conflict, side, text("conflict.other", workspace.settings.vault.language))
    if not outcome.queued:
        settle_questions(workspace)
    return Resolved.of(outcome, note=conflict.path, removed=list(conflict.copies))
