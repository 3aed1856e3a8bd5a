"""What waits in a vault for the evening's commit: what nobody has asked for.

It is in the notes at once (`Vault.unasked`), and is committed in the evening, together, with a line for each thing that
was written. An earlier commit takes a note along that is a log and that it writes into; below a commit that changes
another such note there is one with what waited in it.
"""

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from agent.lazy import later
from agent.vault.store import Vault

if TYPE_CHECKING:
    from agent.vault.write.held_commits import commit_held
    from agent.vault.write.held_notes import HeldNote
else:  # `log` and `status` only look whether there is anything
    commit_held = later("agent.vault.write.held_commits", "commit_held")


def commit_waiting(vault: Vault, *, apart: bool = False, since: datetime | None = None) -> None:
    """Commit what waits for the evening, in one commit; nothing while git is busy. `apart`: in one for each time that
    something was written, so that each can be taken back by itself. `since`: only what began to wait at that time or
    later."""
    first = since.timestamp() if since is not None else 0.0
    commit_held(vault.writer, lambda note: note.waits and note.since >= first, apart=apart)


def commit_work(vault: Vault, is_wanted: "Callable[[HeldNote], bool]") -> None:
    """Commit what tools have done in runs that go on, each note by itself, so that it can be taken back."""
    commit_held(vault.writer, lambda note: bool(note.work) and is_wanted(note), apart=True)


def work_of_call(vault: Vault, run: str, call: str) -> "list[HeldNote]":
    """The notes that this call of a run has changed, while they are not committed."""
    held = vault.writer.held.all()
    return [note for note in held if note.stamp.run == run and any(each.is_of(call) for each in note.work)]


def waiting_notes(vault: Vault) -> "tuple[HeldNote, ...]":
    """The notes with what waits for the evening, those that have waited longest first."""
    if not any(vault.layout.held.glob("*.json")):
        return ()
    return tuple(sorted((note for note in vault.writer.held.all() if note.waits), key=lambda each: each.since))
