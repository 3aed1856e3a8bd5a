"""Sync: how this machine and each remote stand, and the conflicts to end."""

from typing import Annotated

import msgspec

from agent.interfaces.http.api.typed import typed
from agent.interfaces.http.operation import Call, NoParams, Operation, TypedReply
from agent.runs.sync_questions import adopt_questions, settle_questions
from agent.texts import text
from agent.vault.health.status import status as vault_status
from agent.vault.sync.resolve import ConflictSide, conflicted_note, conflicted_notes, resolve
from agent.vault.sync.rounds import pause
from agent.vault.sync.standing import standing_document, standings
from agent.vault.sync.state import sync_state


class WaitView(msgspec.Struct, frozen=True):
    """What a remote waits for; the questions tell more."""

    kind: str
    notes: list[str]


class Remote(msgspec.Struct, frozen=True):
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


class SyncStateView(msgspec.Struct, frozen=True):
    """The remotes, and the notes that have conflict copies."""

    paused: bool
    remotes: list[Remote]
    conflicts: list[str]


class Paused(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Whether this machine sends and takes in nothing."""

    paused: bool


class ConflictView(msgspec.Struct, frozen=True):
    """A note with its text, and the copies with other versions of it, by path."""

    path: str
    text: str
    copies: dict[str, str]


class Conflicts(msgspec.Struct, frozen=True):
    """The notes that have conflict copies."""

    conflicts: list[ConflictView]


class ConflictChoice(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The version that stays: the note's (ours), the copy's (theirs), or the copy's below the note's (both)."""

    path: Annotated[str, msgspec.Meta(min_length=1, max_length=3_000)]
    side: ConflictSide


class Resolved(msgspec.Struct, frozen=True):
    """The conflict is over; undo the commit to have it as before."""

    note: str
    removed: list[str]
    commit: str | None
    queued: str | None


def sync_status(call: Call[NoParams, None]) -> SyncStateView:
    """How this machine and each remote stand; asks no network."""
    vault = call.service.workspace.vault
    found = vault_status(vault)
    remotes = [standing_document(each) for each in standings(vault, len(found.dirty))]
    return SyncStateView(sync_state(vault).is_paused, typed(remotes, list[Remote]), list(found.conflicts))


def pause_sync(call: Call[NoParams, Paused]) -> Paused:
    """Send and take in nothing, or let sync go on."""
    pause(call.service.workspace.vault, call.body.paused)
    return call.body


def list_conflicts(call: Call[NoParams, None]) -> Conflicts:
    """The conflicts with all versions."""
    found = conflicted_notes(call.service.workspace.vault)
    return Conflicts([
        ConflictView(each.path, _text(each.data), {path: _text(data) for path, data in each.copies.items()})
        for each in found[:200]
    ])  # fmt: skip


def resolve_conflict(call: Call[NoParams, ConflictChoice]) -> TypedReply[Resolved]:
    """End a conflict, in the person's name."""
    workspace, asked = call.service.workspace, call.body
    conflict = conflicted_note(workspace.vault, asked.path)
    adopt_questions(workspace)
    outcome = resolve(workspace.vault, conflict, asked.side, text("conflict.other", workspace.settings.vault.language))
    if not outcome.queued:
        settle_questions(workspace)  # nobody is asked any more
    done = Resolved(conflict.path, list(conflict.copies), outcome.commit, outcome.queued)
    return TypedReply(done, status=202 if outcome.queued else 0)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


_P = "/api/v1/sync"
OPERATIONS = (
    Operation("GET", _P, "sync_status", "How the remotes stand", sync_status, SyncStateView, NoParams),
    Operation("PUT", _P, "pause_sync", "Pause sync, or let it go on", pause_sync, Paused, NoParams, Paused),
    Operation("GET", f"{_P}/conflicts", "list_conflicts", "The conflicts", list_conflicts, Conflicts, NoParams),
    Operation("POST", f"{_P}/conflicts", "resolve_conflict", "End a conflict", resolve_conflict, Resolved, NoParams,
              ConflictChoice, 200, (202, 404, 409)),
)  # fmt: skip
