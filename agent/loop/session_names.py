"""The files of sessions: names of new and present notes, and the texts that a note has only a mark for."""

import hashlib
import json
import logging
import os
import re
from collections.abc import Iterable, Mapping
from itertools import count
from pathlib import Path, PurePosixPath

from agent.config.private import FILE, check_file, make_folder
from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.json_value import parse_json
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


def session_with(vault: Vault, id: str) -> str | None:
    """The path of the session with this id, the newest day first; None without one."""
    found = sorted((each for each in vault.note_paths() if vault.home.holds(each, SESSIONS)), reverse=True)
    return next((each for each in found if _id_of(vault, each) == id), None)


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


def glance_at(vault: Vault, path: str) -> Note:
    """The note at this path as it is at this moment, for its header; an empty one if it cannot be read."""
    try:
        return Note.parse(vault.glance(path))
    except (AgentError, OSError):
        return Note.parse(b"")


def _id_of(vault: Vault, path: str) -> str:
    return glance_at(vault, path).id or ""


MOST_SESSIONS = 500
"""The sessions whose texts are kept; those of the ones that were longest without a new text go."""
_LARGEST = 16 << 20
"""The most bytes of one session's texts."""
_ID = re.compile(r"[0-9A-HJKMNP-TV-Z]{26}")

logger = logging.getLogger(__name__)


def digest(text: str) -> str:
    """The hash under which a text is kept."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class StoredTexts:
    """The texts of the sessions of one vault, in a private folder of it."""

    folder: Path

    def put(self, session: str, texts: Iterable[str]) -> None:
        """Keep texts of the session with this id. A disk that is full loses them, and nothing else."""
        rows = "".join(json.dumps({"digest": digest(text), "text": text}) + "\n" for text in texts)
        if not rows or not _ID.fullmatch(session):
            return
        path = self.folder / f"{session}.jsonl"
        try:
            make_folder(self.folder)
            is_new = not path.exists()
            check_file(path)
            if not is_new and path.stat().st_size + len(rows) > _LARGEST:
                return
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, FILE)
            with os.fdopen(descriptor, "ab") as file:
                file.write(rows.encode())
            if is_new:
                self._tidy()
        except OSError as error:
            logger.warning("what the model was given is not kept in %s: %s", path, error)

    def of(self, session: str) -> Mapping[str, str]:
        """The texts of the session with this id, by their hashes; those that are damaged are left out."""
        path = self.folder / f"{session}.jsonl"
        if not _ID.fullmatch(session):
            return {}
        try:
            rows = path.read_bytes().decode("utf-8", "replace").split("\n")
        except OSError:
            return {}
        return {digest(text): text for row in rows if (text := _text(row)) is not None}

    def _tidy(self) -> None:
        """Delete the files of the oldest sessions beyond `MOST_SESSIONS`."""
        files = sorted(self.folder.glob("*.jsonl"), key=lambda path: path.stat().st_mtime_ns)
        for path in files[:-MOST_SESSIONS]:
            path.unlink(missing_ok=True)


def _text(row: str) -> str | None:
    """The text in a row; None for a row that is empty, cut off, or does not have the hash of its text."""
    try:
        match parse_json(row):
            case {"digest": str(named), "text": str(text)} if digest(text) == named:
                return text
    except ValueError:
        pass
    return None
