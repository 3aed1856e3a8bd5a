"""The texts that a session's note has only a mark for, kept on this machine to the letter.

A model is sent the same bytes again in every request of a conversation, which a provider's cache needs; the note reads
as a talk, with links instead of what was quoted from notes. The texts are in one private file a session, by their
hashes. They may be lost at any time, such as by a forgetting: then the session goes on without them.
"""

import hashlib
import json
import logging
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from agent.config.private import FILE, check_file, make_folder
from agent.dataclass import dataclass
from agent.json_value import parse_json

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
class KeptTexts:
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
