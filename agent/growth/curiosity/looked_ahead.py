"""What was found that work needs, on this machine, outside the vault: so that a job of every day is looked
at once a week, and so that what is not asked at once is asked later."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from hashlib import sha256

from agent.dataclass import dataclass
from agent.growth.curiosity.needs import WorkNeed
from agent.records.database import Records
from agent.records.table import Table

HOLDS = timedelta(days=7)
"""How long what was found for a task holds; then it is looked at again."""
_KEPT = 200


@dataclass(frozen=True, slots=True)
class LookedAhead:
    """The needs of one task, found at a time; `session` is the session that began with it then."""

    key: str
    at: datetime
    task: str
    session: str
    needs: tuple[WorkNeed, ...] = ()


def key_of_task(task: str) -> str:
    """The same for the same task."""
    return sha256(task.strip().encode("utf-8", "surrogateescape")).hexdigest()[:16]


def load_looked_ahead(records: Records) -> tuple[LookedAhead, ...]:
    """What was found, the oldest first; nothing where that is damaged."""
    return _table(records).get() or ()


def save_looked_ahead(records: Records, found: Sequence[LookedAhead]) -> None:
    """Write what was found, without the oldest beyond some hundred; durable when this returns."""
    _table(records).put(tuple(found[-_KEPT:]))


def _table(records: Records) -> Table[tuple[LookedAhead, ...]]:
    return Table(records, "looked-ahead", tuple[LookedAhead, ...])
