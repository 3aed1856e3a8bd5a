"""The tombstones that are trusted: those written by this program or by the person.

A tombstone blocks a memory, so one from a tool or from another person must not count. The history gives its author, and
`vault.provenance` detects text that arrived from others. The history's answers are cached in the vault's private
folder, so that git is asked once; that file can be deleted.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from agent.vault import durable
from agent.vault.history.versions import committed_blobs, last_changed_by_person
from agent.vault.store import Vault


def trusted_tombstones(vault: Vault, notes: Mapping[str, bytes]) -> frozenset[str]:
    """The paths among `notes` (tombstones with their bytes) whose content was written here or by the person.

    Content without a commit was saved by hand on this machine, because tools commit what they write. Raises
    `AgentError` when git fails.
    """
    file = vault.private_folder / "forgotten.json"
    known = _load(file)
    keys = {path: f"{vault.content_id(data)} {path}" for path, data in notes.items()}
    new = [path for path in notes if keys[path] not in known]
    if new:
        committed = committed_blobs(vault, new)
        asked = {path for path in new if committed.get(path) == keys[path].partition(" ")[0]}
        origin = last_changed_by_person(vault, asked)
        known |= {keys[path]: path in origin or path not in asked for path in new}
        if asked:
            _save(file, {keys[path]: known[keys[path]] for path in notes if path in asked or path not in new})
    here = (path for path in notes if known[keys[path]])
    return frozenset(path for path in here if not vault.provenance.arrived(path, keys[path].partition(" ")[0]))


def _load(file: Path) -> dict[str, bool]:
    """The cached answers; none if the file cannot be read."""
    try:
        said = json.loads(file.read_bytes())
        return {str(key): value is True for key, value in said.items()}
    except (OSError, ValueError, AttributeError, RecursionError):
        return {}


def _save(file: Path, answers: Mapping[str, bool]) -> None:
    try:
        durable.replace(file, json.dumps(answers, indent=1))
    except OSError:
        return  # git is asked again next time
