"""Brings changes to disk one file at a time, without losing a byte that a person saves at the same moment.

The new bytes are exchanged with the file, and the replaced bytes are checked. If they are not the expected ones, a
person has saved meanwhile, and their bytes are merged in or put back. The replaced bytes stay on disk, under a
temporary name, until the commit is made.
"""

from typing import TYPE_CHECKING

from agent.errors import AgentError, Conflict, NoteGone, Retryable
from agent.vault.change import Applied, Change
from agent.vault.worktree.files import Files
from agent.vault.write.resolve import link_conflict

if TYPE_CHECKING:
    from agent.vault.write.resolve import Combine

ATTEMPTS = 40
VANISHED_SECONDS = 1.0
_PAUSE = 0.005


def apply(files: Files, change: Change, combine: "Combine") -> Applied:
    """Bring one change to disk.

    Raises `NoteExists`, `NoteGone`, `Conflict` or `Retryable` if it cannot be done; the file is then as the person left
    it. The result's `conflict` is set if the agent's version could not be merged in and the person's stayed.
    """
    if change.after is None:
        return _remove(files, change)
    if change.before is None:
        try:
            files.stage(change.path, change.temporary, change.after, change.mode)
            if change.source:
                files.inherit(change.path, change.temporary, change.source)
            files.publish(change.path, change.temporary)
        except (AgentError, OSError):
            files.discard(change.path, change.temporary)
            raise
        return Applied(change.path, change.temporary, None, change.after, mode=change.mode)
    return _replace(files, change, combine)


def _replace(files: Files, change: Change, combine: "Combine") -> Applied:
    assert change.before is not None and change.after is not None
    wanted, expected, found = change.after, change.before, change.before
    conflict: bytes | None = None
    leftovers: list[tuple[str, bytes]] = []
    for attempt in range(ATTEMPTS):
        temporary = f"{change.temporary}.{attempt}"
        try:
            files.stage(change.path, temporary, wanted, change.mode)
            out = _trade(files, change.path, temporary)
        except (AgentError, OSError):
            if files.beside(change.path, temporary) == wanted:  # other bytes are the person's
                files.discard(change.path, temporary)
            if leftovers:
                put_back(files, change.path, leftovers[-1][0], expected)
            raise
        leftovers.append((temporary, out))
        if out == expected:
            return Applied(change.path, change.temporary, found, wanted, tuple(leftovers), conflict, change.mode)
        found, expected = out, wanted
        merged = combine(change.collision, change.before, change.after, out)
        conflict = change.after if merged is None else None
        wanted = link_conflict(out, change.copy) if merged is None else merged
    put_back(files, change.path, leftovers[-1][0], expected)
    raise Retryable(
        "{path} is being saved without a pause", hint="try again when the other program is done", path=change.path
    )


def _trade(files: Files, path: str, temporary: str) -> bytes:
    """Exchange the two files, and return the replaced bytes once no program writes to them any more."""
    deadline = files.clock.monotonic() + VANISHED_SECONDS
    while True:
        try:
            files.trade(path, temporary)
            break
        except FileNotFoundError:  # the note is gone, or an editor that saves by renaming is between its two steps
            if files.clock.monotonic() > deadline:
                raise NoteGone(
                    "{path} is not there any more", hint="it was moved or deleted meanwhile", path=path
                ) from None
            files.clock.sleep(_PAUSE)
    try:
        out = files.beside(path, temporary)
    except (AgentError, OSError):
        files.trade(path, temporary)  # give the file back to the program that still writes; also after a disk error
        raise
    if out is None:
        raise Retryable("another program removed the temporary file of {path}", path=path)
    return out


def _remove(files: Files, change: Change) -> Applied:
    try:
        files.take(change.path, change.temporary)
    except FileNotFoundError as error:
        raise NoteGone("{path} is not there any more", path=change.path) from error
    try:
        out = files.beside(change.path, change.temporary)
    except (AgentError, OSError):
        files.publish(change.path, change.temporary)
        raise
    if out != change.before or out is None:
        files.publish(change.path, change.temporary)
        raise Conflict(
            "{path} was changed meanwhile and stays",
            paths=(change.path,),
            hint="read it again, then repeat",
            path=change.path,
        )
    return Applied(change.path, change.temporary, out, None, ((change.temporary, out),), mode=change.mode)


def put_back(files: Files, path: str, temporary: str, expected: bytes) -> None:
    """Exchange the person's file, now under `temporary`, back into its place; needs no disk space.

    If the file there is not `expected` (the agent's), a person has saved a newer version, which stays.
    """
    present = files.beside(path, temporary)
    for _ in range(ATTEMPTS):
        files.trade(path, temporary)
        out = files.beside(path, temporary)
        if out == expected or present is None or out is None:
            return
        present, expected = out, present


def roll_back(files: Files, applied: Applied) -> None:
    """Roll an applied change back, unless a person has saved a newer version: that stays."""
    if applied.after is None:
        files.publish(applied.path, applied.leftovers[0][0])
    elif applied.found is None:
        _withdraw(files, applied)
    else:
        holder = next((name for name, data in reversed(applied.leftovers) if data == applied.found), None)
        if holder is not None:  # None if an earlier roll-back has already removed it
            put_back(files, applied.path, holder, applied.after)


def _withdraw(files: Files, applied: Applied) -> None:
    """Remove a note that this program created, if its bytes are unchanged."""
    aside = f"{applied.temporary}.undo"
    try:
        files.take(applied.path, aside)
    except FileNotFoundError:
        return
    if files.beside(applied.path, aside) == applied.after:
        files.discard(applied.path, aside)
    else:
        files.publish(applied.path, aside)


def late_saves(files: Files, applied: Applied) -> list[bytes]:
    """The bytes that programs wrote into the replaced files after they were checked."""
    known = {applied.after, applied.found, *(data for _, data in applied.leftovers)}
    now = [files.beside(applied.path, name) for name, _ in applied.leftovers]
    return [data for data in now if data is not None and data not in known]


def discard(files: Files, applied: Applied) -> None:
    """Remove the temporary files beside an applied change."""
    for name, _ in applied.leftovers:
        files.discard(applied.path, name)
