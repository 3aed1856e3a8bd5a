"""What was found that work needs, on this machine: a small file outside the vault, so that a job of every day is looked
at once a week, and so that what is not asked at once is asked later."""

import json
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path

from agent.dataclass import dataclass
from agent.growth.curiosity.needs import WorkNeed, as_document, from_document
from agent.json_value import parse_json
from agent.vault import durable

HOLDS = timedelta(days=7)
"""How long what was found for a task holds; then it is looked at again."""
_KEPT = 200
_FILE = "curiosity/looked_ahead.json"


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


def load_looked_ahead(private_folder: Path) -> tuple[LookedAhead, ...]:
    """What was found, the oldest first; nothing where the file is missing or damaged."""
    try:
        found = parse_json((private_folder / _FILE).read_text("utf-8"))
        return tuple(_parsed(found))
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return ()


def save_looked_ahead(private_folder: Path, found: Sequence[LookedAhead]) -> None:
    """Write what was found, without the oldest beyond some hundred; durable when this returns."""
    rows = [
        {"key": each.key, "at": each.at.isoformat(), "task": each.task, "session": each.session,
         "needs": [as_document(need) for need in each.needs]}
        for each in found[-_KEPT:]
    ]  # fmt: skip
    path = private_folder / _FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    durable.replace(path, json.dumps(rows))


def _parsed(rows: Sequence[dict[str, object]]) -> Iterator[LookedAhead]:
    for row in rows:
        at = datetime.fromisoformat(str(row["at"]))
        listed = row["needs"]
        found = map(from_document, listed) if isinstance(listed, list) else ()
        needs = tuple(each for each in found if each is not None)
        yield LookedAhead(str(row["key"]), at, str(row["task"]), str(row["session"]), needs)
