"""A person's drafts: changes that were not committed when the folder became a vault, and that they want left so.

A draft is left out of the commits of their edits until it changes, or until they commit it themselves. The list is in
the vault's private folder.

Notes that lay uncommitted in `inbox/` when the folder became a vault: no commit shows that they were there before.

They ask the agent nothing by lying there. Their lines are kept as hashes in the vault's private folder, as the note may
be committed, or changed, before somebody asks.
"""

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import field
from pathlib import Path

from agent.config.private import replace
from agent.dataclass import dataclass
from agent.json_value import parse_json
from agent.markdown.note import Note


def save_older(private_folder: Path, notes: Mapping[str, bytes]) -> None:
    """Remember these notes and their lines; raises OSError."""
    if notes:
        replace(_file(private_folder), json.dumps({path: sorted(_hashes(data)) for path, data in notes.items()}))


def is_older(private_folder: Path, path: str, data: bytes) -> bool:
    """True if the note was remembered, and a line of it is left."""
    try:
        record = parse_json(_file(private_folder).read_text("utf-8"))
        return not _hashes(data).isdisjoint(record.get(path, ()))
    except (OSError, ValueError, AttributeError, TypeError):
        return False


def body_lines(data: bytes) -> set[str]:
    """The lines of a note's body that are not blank."""
    return {line.strip() for line in Note.parse(data).body.splitlines()} - {""}


def _hashes(data: bytes) -> set[str]:
    return {hashlib.sha256(line.encode("utf-8", "replace")).hexdigest()[:16] for line in body_lines(data)}


def _file(private_folder: Path) -> Path:
    return private_folder / "older-notes.json"


@dataclass(frozen=True, slots=True)
class Drafts:
    """The drafts: the blob id of each by path, empty for a file that they have deleted. `ask`: the person wants to be
    asked about them again."""

    files: Mapping[str, str] = field(default_factory=dict)
    ask: bool = False


def drafts_file(private_folder: Path) -> Path:
    """The file with the list of a vault's drafts."""
    return private_folder / "drafts.json"


def load_drafts(path: Path) -> Drafts:
    """The drafts in the file; none if it is missing or damaged."""
    try:
        record = parse_json(path.read_text("utf-8"))
        return Drafts({str(name): str(blob) for name, blob in record["files"].items()}, bool(record["ask"]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return Drafts()


def save_drafts(path: Path, drafts: Drafts) -> None:
    """Write the drafts into the file, or remove it if there are none; raises OSError."""
    if drafts.files:
        replace(path, json.dumps({"files": dict(drafts.files), "ask": drafts.ask}))
    else:
        with suppress(FileNotFoundError):
            path.unlink()
