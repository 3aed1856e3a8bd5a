"""The names of sessions' notes: a free one for a new session, and the present one of a note that was renamed.

A name belongs to the session that claimed it, by a file in the vault's private folder until its note is there: runs of
one task may begin at the same moment, in several processes.
"""

import hashlib
from itertools import count
from pathlib import Path, PurePosixPath

from agent.config.private import make_folder
from agent.errors import AgentError
from agent.markdown.note import Note
from agent.vault.folders import SESSIONS
from agent.vault.former_names import id_by_former_name
from agent.vault.history.versions import commits_of_path
from agent.vault.store import Vault


def free_name(vault: Vault, folder: str, name: str) -> str:
    """The path of a new note in the folder; of two with one name, the second is `name 2`."""
    there = Path(vault.place.root, folder)
    taken = {each.name.casefold() for each in there.iterdir()} if there.is_dir() else set[str]()
    for number in count(1):
        path = f"{folder}{name}.md" if number == 1 else f"{folder}{name} {number}.md"
        if PurePosixPath(path).name.casefold() not in taken and _claim(vault, path):
            return path
    raise AssertionError("numbers do not end")


def release_name(vault: Vault, path: str) -> None:
    """Forget the claim on a name, once its note is there."""
    _claim_file(vault, path).unlink(missing_ok=True)


def find_session(vault: Vault, path: str, id: str) -> str:
    """The present path of the session that has, or last had, this path; the same path if it is not found.

    A session that was renamed, by a forgetting or by a person, is known by its id, which this machine or the
    history has if the caller has not.
    """
    if not vault.home.holds(path, SESSIONS) or Path(vault.place.root, path).exists():
        return path
    id = id or id_by_former_name(vault, path) or _last_id(vault, path)
    same_folder = str(PurePosixPath(path).parent)
    others = [each for each in vault.note_paths() if vault.home.holds(each, SESSIONS)] if id else []
    others.sort(key=lambda each: not each.startswith(same_folder))
    return next((each for each in others if _id_of(vault, each) == id), path)


def _claim(vault: Vault, path: str) -> bool:
    """True if no other session has claimed the name."""
    file = _claim_file(vault, path)
    make_folder(file.parent)
    try:
        file.touch(0o600, exist_ok=False)
    except FileExistsError:
        return False
    return True


def _claim_file(vault: Vault, path: str) -> Path:
    named = hashlib.sha256(path.casefold().encode()).hexdigest()[:32]
    return vault.private_folder / "session-names" / named


def _last_id(vault: Vault, path: str) -> str:
    """The id of the session that the history last had at this path; empty if it had none."""
    try:
        for commit in commits_of_path(vault, path, limit=1):
            for revision in (commit, f"{commit}^"):
                data = vault.read_at(revision, path)
                if data is not None:
                    return Note.parse(data).id or ""
    except AgentError:
        return ""
    return ""


def _id_of(vault: Vault, path: str) -> str:
    try:
        return Note.parse(vault.glance(path)).id or ""
    except (AgentError, OSError):
        return ""
