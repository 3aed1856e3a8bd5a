"""The ids of notes that a forgetting gave other names, by their former paths.

A purge takes the former path out of the history, but a person, or another program, may still know the note by it. The
paths are kept on this machine as hashes: a path may have the words that were forgotten.
"""

import hashlib
from collections.abc import Mapping
from pathlib import Path

from agent.config import durable
from agent.config.private import make_folder
from agent.vault.store import Vault


def keep_former_names(vault: Vault, ids: Mapping[str, str]) -> None:
    """Keep the ids of notes by the paths that they had."""
    for path, id in ids.items():
        file = _file(vault, path)
        make_folder(file.parent)
        durable.replace(file, id)


def id_by_former_name(vault: Vault, path: str) -> str:
    """The id of the note that had this path; empty if it is not known."""
    try:
        return _file(vault, path).read_text("utf-8").strip()
    except OSError:
        return ""


def _file(vault: Vault, path: str) -> Path:
    return vault.private_folder / "former-names" / hashlib.sha256(path.encode("utf-8", "surrogateescape")).hexdigest()
