"""Quick looks whether there is anything of one kind, before what reads it is loaded.

`status` tells of a dozen kinds of things, of which most vaults have few; to load what reads all of them took a quarter
of its time. What cannot be looked at counts as there: whoever reads it says what is wrong.
"""

import os
import re
from collections.abc import Mapping

from agent.vault.layout import ASKED
from agent.vault.store import Vault

_ABOUT = re.compile(rb"^type: about\s*$", re.MULTILINE)

OLDER_FOLDERS: Mapping[str, str] = {
    "call": "approvals",
    "skill_review": "reviewed/asked",
    "skill_offer": "skill-suggestions",
    "arrived_note": "arrivals",
    "arrived_files": "arrivals",
    "remote": "arrivals",
    "job": "job-approvals",
    "rule": "proposals",
    "mutation": "proposals",
    "remote_wait": "sync-questions",
    "conflict": "sync-questions",
}
"""The private folder in which each kind had its records in earlier versions."""


def has_asked(vault: Vault, *kinds: str) -> bool:
    """True if there is a record of a question of one of these kinds, also of an earlier version."""
    older = filter(None, map(OLDER_FOLDERS.get, kinds))
    return any(has_records(vault, name) for name in (*(f"{ASKED}/{kind}" for kind in kinds), *older))


def has_records(vault: Vault, name: str) -> bool:
    """True if the folder of this name among the vault's private files has something in it."""
    try:
        with os.scandir(vault.private_folder / name) as found:
            return next(found, None) is not None
    except FileNotFoundError:
        return False
    except OSError:
        return True


def has_rows(vault: Vault, table: str) -> bool:
    """True if the table of this name among what this machine remembers has a row."""
    return bool(vault.records.rows("SELECT 1 FROM record WHERE name = ? LIMIT 1", table))


def has_lines(vault: Vault, name: str) -> bool:
    """True if there are lines of this name among what this machine remembers."""
    return bool(vault.records.rows("SELECT 1 FROM line WHERE name = ? LIMIT 1", name))


def has_notes(vault: Vault, name: str) -> bool:
    """True if the folder that the table of folders calls `name` has a note, beside the one that says what it is for."""
    try:
        with os.scandir(vault.place.root / vault.home.at(name)) as found:
            return any(not _is_about(each.path) for each in found if each.name.endswith(".md"))
    except FileNotFoundError:
        return False
    except OSError:
        return True


def _is_about(path: str) -> bool:
    """True for the note that says what its folder is for, by its header."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - one more object for each note
            data = file.read()
    except OSError:
        return False
    return data.startswith(b"---") and _ABOUT.search(data.partition(b"\n---")[0]) is not None
