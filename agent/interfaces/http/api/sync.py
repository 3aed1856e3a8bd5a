"""Sync: how this machine and each remote stand, and the conflicts to end."""

from typing import Annotated

import msgspec

from agent.deeds.sync import Resolved, end_conflict, sync_status
from agent.interfaces.http.operation import Routes, TypedReply
from agent.vault.sync.resolve import ConflictSide, conflicted_note, conflicted_notes
from agent.vault.sync.rounds import pause
from agent.workspace.workspace import Workspace

ROUTES = Routes("/api/v1/sync")
ConflictPath = Annotated[str, msgspec.Meta(min_length=1, max_length=3_000)]


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


ROUTES.get("", "How the remotes stand")(sync_status)


@ROUTES.put("", "Pause sync, or let it go on")
def pause_sync(workspace: Workspace, wanted: Paused) -> Paused:
    """Send and take in nothing, or let sync go on."""
    pause(workspace.vault, wanted.paused)
    return wanted


@ROUTES.get("/conflicts", "The conflicts")
def list_conflicts(workspace: Workspace) -> Conflicts:
    """The conflicts with all versions."""
    found = conflicted_notes(workspace.vault)
    return Conflicts([
        ConflictView(each.path, _text(each.data), {path: _text(data) for path, data in each.copies.items()})
        for each in found[:200]
    ])  # fmt: skip


@ROUTES.post("/conflicts", "End a conflict", 202, 404, 409)
def resolve_conflict(workspace: Workspace, path: ConflictPath, side: ConflictSide) -> TypedReply[Resolved]:
    """End a conflict, in the person's name: the note's version stays (ours), the copy's (theirs), or the copy's below
    the note's (both)."""
    done = end_conflict(workspace, conflicted_note(workspace.vault, path), side)
    return TypedReply(done, status=202 if done.queued else 0)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
