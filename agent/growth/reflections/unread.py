"""The trouble that a model's reflections cannot be read: it is told with the first answer, and stands until one can be.

Kept outside the vault; `status` tells of it.
"""

from datetime import datetime

from agent.dataclass import dataclass
from agent.growth.reflections.reflection import Reflection
from agent.records.table import Table
from agent.vault.store import Vault


@dataclass(frozen=True, slots=True)
class UnreadReflections:
    """So many answers in a row could not be read, the first one `since` then; its note has it as it came."""

    since: datetime
    count: int
    note: str


def load_unread(vault: Vault) -> UnreadReflections | None:
    """The trouble, if the last answer could not be read; None where that is damaged."""
    return _table(vault).get()


def note_answer(vault: Vault, reflection: Reflection) -> bool:
    """Note whether the model's answer could be read; returns True if it could not, and one before it could not
    either."""
    if reflection.is_plain:
        return False
    table, known = _table(vault), load_unread(vault)
    if not reflection.kept:
        table.drop()
        return False
    since, note = (known.since, known.note) if known else (reflection.at, reflection.path)
    table.put(UnreadReflections(since, (known.count if known else 0) + 1, note))
    return known is not None


def _table(vault: Vault) -> Table[UnreadReflections]:
    return Table(vault.records, "unread-reflections", UnreadReflections, is_flushed=False)
