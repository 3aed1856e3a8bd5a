"""The state of a vault, read from the files and git at each call, without a cache."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import cast

from agent.config.durable import holder
from agent.dataclass import dataclass
from agent.errors import AgentError, Permanent, os_reason
from agent.git.identities import RAW, git_time
from agent.git.repository import blocked, branch
from agent.markdown.note import Note
from agent.vault.listing import list_notes
from agent.vault.store import Vault
from agent.vault.worktree.survey import Dirty
from agent.vault.write.unsettled import opened_and_unread

_LAST = ("log", "-1", RAW, "--format=%H%x00%cd%x00%an%x00%s", "--end-of-options", "HEAD")


@dataclass(frozen=True, slots=True)
class LastCommit:
    """The commit of HEAD."""

    id: str
    when: datetime
    author: str
    subject: str


@dataclass(frozen=True, slots=True)
class VaultStatus:
    """The vault's state.

    `open`: changed files that another program keeps open; they are committed when it closes them. `unread`: files
    and folders that cannot be read, so that their changes are unknown. `blocked`: the reason why writes wait.
    `waiting`: the number of waiting writes. `failed`: files of writes that could not be carried out, each with the
    reason. `unfinished`: the number of transactions that a crash left. `writer`: the process that writes now.
    `notes`: every note with its content hash, `number` the number of them that was asked for. `left_out`: the
    reason by path for those of the `dirty` files that the commits of the person's edits leave out.
    """

    root: Path
    branch: str | None
    last: LastCommit | None
    dirty: tuple[Dirty, ...]
    open: tuple[str, ...]
    unread: tuple[str, ...]
    blocked: str | None
    waiting: int
    failed: dict[str, str]
    unfinished: int
    conflicts: tuple[str, ...]
    writer: int | None
    notes: Mapping[str, str]
    left_out: Mapping[str, str] = field(default_factory=dict)
    number: int | None = None


def status(vault: Vault, number_of: Callable[[Mapping[str, str]], int] | None = None) -> VaultStatus:
    """Read the state once, without a lock or a change; `number_of` as in `list_notes`. Raises `Permanent` for what
    cannot be read."""
    try:
        return _look(vault, number_of)
    except OSError as error:
        raise Permanent(
            "the vault cannot be looked at: {reason} ({path})",
            hint="vault-agent doctor looks for the cause",
            reason=os_reason(error),
            path=error.filename or vault.place.root,
        ) from error


def _look(vault: Vault, number_of: Callable[[Mapping[str, str]], int] | None) -> VaultStatus:
    place = vault.place
    last = vault.git.start(*_LAST)
    try:
        listed = list_notes(vault, number_of)
        notes, found = listed.notes, listed.changes
        held = vault.held_unchanged()
        logged = last.wait(ok=(0, 128))
    finally:
        last.end()
    opened, unread = opened_and_unread(vault.files, found.changed)
    return VaultStatus(
        place.root,
        _short(branch(place.gitdir)),
        _commit(logged),
        tuple(item for item in found.changed if item.path not in held),
        tuple(sorted(opened)),
        tuple(dict.fromkeys((*found.unread, *sorted(unread)))),
        blocked(place.gitdir),
        *_waiting(vault),
        _unfinished(vault),
        tuple(_copies(vault.whole, (*notes, *listed.private))),
        holder(vault.layout.lock),
        notes,
        left_out_now(vault, found.changed),
        listed.number,
    )


def left_out_now(vault: Vault, changed: Sequence[Dirty]) -> dict[str, str]:
    """The changed files that the commits of the person's edits leave out, with the reason."""
    if not changed:
        return {}
    module = import_module("agent.vault.write.left_out")
    return cast(
        "dict[str, str]", module.left_out_by(vault.git, vault.files, vault.options, vault.private_folder, changed)
    )


def _waiting(vault: Vault) -> tuple[int, dict[str, str]]:
    """The number of waiting writes, and the files of those that failed; its module is loaded where there is a queue."""
    if not vault.layout.queue.exists():
        return 0, {}
    queue = import_module("agent.vault.transaction").Queue(vault.layout.queue)
    return queue.count(), queue.failed()


def _unfinished(vault: Vault) -> int:
    """The number of transactions that a crash left."""
    if not vault.layout.journal.exists():
        return 0
    return len(import_module("agent.vault.write.journal").Journal(vault.layout.journal).unfinished())


def conflict_copies(vault: Vault) -> list[str]:
    """The notes with a version that could not be merged."""
    return _copies(vault, vault.note_paths())


def _copies(vault: Vault, paths: Iterable[str]) -> list[str]:
    return sorted(path for path in paths if " (conflict " in path and _is_copy(vault, path))


def _is_copy(vault: Vault, path: str) -> bool:
    try:
        data = vault.read(path)
    except (AgentError, OSError):
        return True  # recognised by name; an unreadable one counts too
    if data is None:
        return False
    note = Note.parse(data)
    return note.problem is not None or "conflict_of" in note.header


def _commit(logged: bytes) -> LastCommit | None:
    fields = logged.decode("utf-8", "replace").rstrip("\n").split("\0")
    if len(fields) != 4:
        return None
    return LastCommit(fields[0], git_time(fields[1]), fields[2], fields[3])


def _short(name: str | None) -> str | None:
    return name.removeprefix("refs/heads/") if name else None
