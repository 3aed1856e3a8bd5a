"""Repairs that `doctor --fix` may make without asking: each keeps what it replaces; none changes a person's text."""

import os
from pathlib import Path

from agent.errors import AgentError, BadPath
from agent.git.index_file import check_not_sparse
from agent.git.index_lock import OURS, STALE_SECONDS, clear_stale, file_time, git_is_busy, set_aside
from agent.texts import Sentence
from agent.vault.change import Stamp
from agent.vault.store import Vault
from agent.vault.worktree.paths import is_temporary
from agent.vault.worktree.survey import is_repository


def rebuild_index(vault: Vault) -> Path:
    """Make a new index from HEAD; returns the path of the saved unreadable one.

    Raises `Permanent` in a sparse checkout: only its index shows which notes are excluded and not deleted.
    """
    check_not_sparse(vault.git)
    gitdir = vault.place.gitdir
    token = vault.clock.new_id()
    private, broken = gitdir / f"vault-agent-index.{token}", gitdir / f"index.broken-{token}"
    with vault.writer.exclusive(), vault.writer.index_lock(token):
        try:
            vault.git.run("read-tree", "HEAD", index=private)
            vault.git.run("update-index", "-q", "--refresh", index=private, ok=(0, 1), drivers_off=True)
            (gitdir / "index").replace(broken)
            private.replace(gitdir / "index")
        finally:
            private.unlink(missing_ok=True)
    return broken


def locks(vault: Vault) -> list[Path]:
    """git's lock files that exist now."""
    gitdir = vault.place.gitdir
    names = ("index.lock", "HEAD.lock", "packed-refs.lock", "config.lock", "shallow.lock")
    found = [gitdir / name for name in names if os.path.lexists(gitdir / name)]
    for folder, _, files in os.walk(gitdir / "refs"):
        found += [Path(folder) / name for name in files if name.endswith(".lock")]
    return found


def move_lock(vault: Vault, lock: Path) -> bool:
    """Move a lock aside if it is this program's and stale, or old while no git runs here; True if it was moved."""
    place = vault.place
    if lock.name == "index.lock":
        return clear_stale(lock, place.gitdir, place.worktree, vault.clock)
    age = file_time(place.gitdir, vault.clock) - lock.lstat().st_mtime
    if age < STALE_SECONDS or git_is_busy(place.gitdir, place.worktree):
        return False
    set_aside(lock, place.gitdir)
    return True


def litter(vault: Vault) -> list[Path]:
    """This program's working files in the repository that no running process can still need."""
    edge = vault.clock.now().timestamp() - STALE_SECONDS
    found = [*vault.place.gitdir.glob("vault-agent-index*"), *vault.place.gitdir.glob("vault-agent-lock.*")]
    return [path for path in found if path.lstat().st_mtime < edge and not path.name.endswith(OURS.decode())]


def remove_litter(vault: Vault) -> int:
    """Remove the files of `litter` under the writer lock; returns their number."""
    with vault.writer.exclusive():
        found = litter(vault)
        for path in found:
            path.unlink(missing_ok=True)
    return len(found)


def temporaries(vault: Vault) -> list[str]:
    """This program's temporary files among the notes, as paths in the vault."""
    root = vault.place.root
    found: list[str] = []
    for folder, names, files in os.walk(root):
        if folder != str(root) and is_repository(Path(folder), "", {}):
            names[:], files = [], []  # they may be in use by another vault
        names[:] = [name for name in names if name != ".git"]
        here = Path(folder).relative_to(root).as_posix()
        found += [name if here == "." else f"{here}/{name}" for name in files if is_temporary(name)]
    return sorted(found)


def clear_temporaries(vault: Vault) -> tuple[list[str], list[str]]:
    """Remove the temporary files; bytes that neither git nor a note has are kept as conflict copies.

    Does nothing while a transaction is unfinished. Returns the removed paths and the copies; what cannot be read as a
    file is left.
    """
    removed: list[str] = []
    copies: list[str] = []
    with vault.writer.exclusive():
        if vault.writer.journal.unfinished():
            return removed, copies
        for path in temporaries(vault):
            folder, _, name = path.rpartition("/")
            beside = f"{folder}/recovered.md" if folder else "recovered.md"
            try:
                data = vault.writer.files.beside(beside, name)
                if data is None:
                    continue
                if data and not _is_stored(vault, data):
                    copies.append(_keep(vault, beside, data))
                vault.writer.files.discard(beside, name)
            except (BadPath, OSError):
                continue
            removed.append(path)
    return removed, copies


def _is_stored(vault: Vault, data: bytes) -> bool:
    """True if a commit on some branch has these bytes; git may delete an object that no commit reaches."""
    oid = vault.git.blob_id(data)
    if vault.git.objects([oid])[0] is None:
        return False
    return bool(vault.git.run("log", "--all", "-1", "--format=%H", f"--find-object={oid}", drivers_off=True).strip())


def _keep(vault: Vault, beside: str, data: bytes) -> str:
    subject = f"doctor(vault): kept what a crash left beside {beside}"
    outcome = vault.writer.keep_copy(beside, data, subject, Stamp("agent", tool="doctor"))
    if outcome.queued:
        raise AgentError(
            "what a crash left beside {beside} waits: {queued}",
            hint="vault-agent doctor --fix",
            beside=beside,
            queued=Sentence(outcome.queued),
        )
    return outcome.paths[0]
