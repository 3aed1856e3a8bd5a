"""Sync: how each remote and machine stands, and the conflicts, of which the person chooses the version that stays."""

from collections.abc import Mapping

from agent.dataclass import dataclass
from agent.deeds.sync import end_conflict
from agent.errors import UserError
from agent.interfaces.http.pages.frame import patch_between
from agent.interfaces.http.pages.page import Deed, Done, Page, PageRequest
from agent.markdown.note import Note
from agent.runs.machines import known_machines
from agent.vault.store import Vault
from agent.vault.sync.distance import distances
from agent.vault.sync.resolve import ConflictedNote, ConflictSide, conflicted_note, conflicted_notes
from agent.vault.sync.rounds import pause
from agent.vault.sync.state import sync_state
from agent.vault.worktree.paths import is_note


def version_patches(found: ConflictedNote) -> dict[str, str]:
    """The patch from a note to each other version, by the path of that, without the keys that link them."""
    return {
        path: patch_between(_text_without_links(found.data), _text_without_links(data))
        for path, data in found.copies.items()
    }


def _text_without_links(data: bytes) -> str:
    note = Note.parse(data)
    for key in {"conflicts", "conflict_of"} & set(note.header) if note.problem is None else ():
        note = note.without_key(key)
    return note.data.decode("utf-8", "replace").lstrip("\n")


_SHOWN = 50


@dataclass(frozen=True, slots=True)
class _Conflict:
    """A note with other versions beside it: the difference to each by its path, the choices that there are, and the id
    of what the person sees."""

    path: str
    copies: dict[str, str]
    sides: list[ConflictSide]
    content_id: str


def show(request: PageRequest) -> Mapping[str, object]:
    """The remotes, the machines and the conflicts; asks no network."""
    vault = request.own_vault
    conflicts = conflicted_notes(vault)
    return {
        "is_paused": sync_state(vault).is_paused,
        "remotes": list(distances(vault, len(vault.changed_files()))),
        "machines": [(each, each.id == vault.id) for each in known_machines(vault)],
        "conflicts": [_conflict(vault, each) for each in conflicts[:_SHOWN]],
        "left": max(len(conflicts) - _SHOWN, 0),
    }


def _conflict(vault: Vault, found: ConflictedNote) -> _Conflict:
    sides = [ConflictSide.OURS]
    sides += [ConflictSide.THEIRS] if len(found.copies) == 1 else []
    sides += [ConflictSide.BOTH] if is_note(found.path) else []
    return _Conflict(found.path, version_patches(found), sides, _seen(vault, found))


def _seen(vault: Vault, found: ConflictedNote) -> str:
    """The id of all versions together."""
    return vault.content_id(b"\0".join((found.data, *found.copies.values())))


def choose(request: PageRequest) -> Done:
    """End a conflict with one of its versions, or with both; undo brings the others back."""
    workspace, side = request.workspace, request.needed("side")
    found = conflicted_note(request.own_vault, request.needed("path"))
    if side not in list(ConflictSide):
        raise UserError("{side} is no version", hint="ours, theirs or both", side=side)
    if _seen(request.own_vault, found) != request.needed("shown"):
        raise UserError("{path} has changed since you looked", hint="look at it again", path=found.path)
    done = end_conflict(workspace, found, ConflictSide(side))
    return Done(request.text("undo_waits" if done.queued else "conflict_over", name=found.path))


def stop(request: PageRequest) -> Done:
    """Send and take in nothing until the person lets it go on."""
    pause(request.workspace.vault, True)
    return Done(request.text("sync_stopped"))


def go_on(request: PageRequest) -> Done:
    """Let sync go on."""
    pause(request.workspace.vault, False)
    return Done(request.text("sync_goes_on"))


PAGE = Page("sync", "/sync", show, "y", under="status")
DEEDS = (Deed("/sync/choose", choose), Deed("/sync/pause", stop), Deed("/sync/resume", go_on))
