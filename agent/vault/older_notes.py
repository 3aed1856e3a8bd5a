"""Notes that lay uncommitted in `inbox/` when the folder became a vault: no commit shows that they were there before.

They ask the agent nothing by lying there. Their lines are kept as hashes in the vault's private folder, as the note may
be committed, or changed, before somebody asks.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from agent.config.private import replace
from agent.json_value import parse_json
from agent.markdown.note import Note


def save_older(private_folder: Path, notes: Mapping[str, bytes]) -> None:
    """Remember these notes and their lines; raises OSError."""
    if notes:
        replace(_file(private_folder), json.dumps({path: sorted(_hashes(data)) for path, data in notes.items()}))


def is_older(private_folder: Path, path: str, data: bytes) -> bool:
    """True if the note was remembered, and a line of it is left."""
    try:
        said = parse_json(_file(private_folder).read_text("utf-8"))
        return not _hashes(data).isdisjoint(said.get(path, ()))
    except (OSError, ValueError, AttributeError, TypeError):
        return False


def body_lines(data: bytes) -> set[str]:
    """The lines of a note's body that are not blank."""
    return {line.strip() for line in Note.parse(data).body.splitlines()} - {""}


def _hashes(data: bytes) -> set[str]:
    return {hashlib.sha256(line.encode("utf-8", "replace")).hexdigest()[:16] for line in body_lines(data)}


def _file(private_folder: Path) -> Path:
    return private_folder / "older-notes.json"
