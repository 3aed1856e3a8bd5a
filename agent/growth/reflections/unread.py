"""The trouble that a model's reflections cannot be read: it is told with the first answer, and stands until one can be.

One small file outside the vault; `status` tells of it.
"""

import json
from contextlib import suppress
from dataclasses import asdict
from datetime import datetime

from agent.config import private
from agent.dataclass import dataclass
from agent.growth.reflections.reflection import Reflection
from agent.json_value import parse_json
from agent.vault.layout import UNREAD_REFLECTIONS
from agent.vault.store import Vault


@dataclass(frozen=True, slots=True)
class UnreadReflections:
    """So many answers in a row could not be read, the first one `since` then (ISO 8601); its note has it as it came."""

    since: str
    count: int
    note: str


def load_unread(vault: Vault) -> UnreadReflections | None:
    """The trouble, if the last answer could not be read; None for a file that cannot be parsed."""
    try:
        row = parse_json((vault.private_folder / UNREAD_REFLECTIONS).read_bytes())
        found = UnreadReflections(str(row["since"]), int(row["count"]), str(row["note"]))
        datetime.fromisoformat(found.since)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found


def note_answer(vault: Vault, reflection: Reflection) -> bool:
    """Note whether the model's answer could be read; returns True if it could not, and one before it could not
    either."""
    if reflection.is_plain:
        return False
    file, known = vault.private_folder / UNREAD_REFLECTIONS, load_unread(vault)
    if not reflection.kept:
        if known is not None:
            with suppress(OSError):
                file.unlink()
        return False
    since, note = (known.since, known.note) if known else (reflection.at.isoformat(), reflection.path)
    private.replace(file, json.dumps(asdict(UnreadReflections(since, (known.count if known else 0) + 1, note))))
    return known is not None
