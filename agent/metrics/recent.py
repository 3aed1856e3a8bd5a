"""The last day of a few counts, each with its time: what a rate over minutes or hours is computed from.

One small file beside those of the days, written with them and under their lock. Counts that were written together have
one time, so that a time is exact to the interval of writing (`collect.INTERVAL`).
"""

import json
import math
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from pathlib import Path

from agent.config.private import replace
from agent.dataclass import dataclass
from agent.json_value import parse_json

HANDLER_ERRORS = "handler_errors"
COMPACTIONS = "compactions"
FLUSH_SAVED = "flush_saved"
FLUSH_KNOWN = "flush_known"
NODE_DENIED = "node_denied"
KEPT = timedelta(hours=25)
"""The time for which counts are kept: a day and some."""
MOST = 3_000
"""The most counts that are kept, the newest ones: about 200 KB."""
_FILE = "recent.list"


@dataclass(frozen=True, slots=True)
class RecentCount:
    """`number` more of `what`, such as `handler_errors`; `about` names what it happened to, such as the handler."""

    at: datetime
    what: str
    about: str
    number: float


def load_recent(folder: Path) -> tuple[RecentCount, ...]:
    """The counts of the last day, the oldest first; without what cannot be parsed."""
    try:
        rows = parse_json((folder / _FILE).read_bytes())
    except (OSError, ValueError, RecursionError):
        return ()
    found = (_parsed(row) for row in rows) if isinstance(rows, list) else ()
    return tuple(each for each in found if each is not None)


def add_recent(folder: Path, fresh: Iterable[RecentCount], now: datetime) -> None:
    """Add counts to the file, and leave out what is older than `KEPT`. The caller holds the lock of the folder; raises
    `OSError`."""
    counts = [each for each in (*load_recent(folder), *fresh) if now - each.at < KEPT][-MOST:]
    rows = [[each.at.isoformat(), each.what, each.about, each.number] for each in counts]
    replace(folder / _FILE, json.dumps(rows, ensure_ascii=False))


def total_of(counts: Iterable[RecentCount], what: str, since: datetime) -> float:
    """How many of `what` there were since then."""
    return sum(each.number for each in counts if each.what == what and each.at > since)


def highest_rate(counts: Sequence[RecentCount], what: str, since: datetime, span: timedelta) -> float:
    """The most of `what` in any time of this length that ended since then."""
    chosen = [each for each in counts if each.what == what]
    ends = [each.at for each in chosen if each.at > since]
    return max((sum(each.number for each in chosen if end - span < each.at <= end) for end in ends), default=0.0)


def _parsed(row: object) -> RecentCount | None:
    match row:
        case [str(at), str(what), str(about), int() | float() as number] if math.isfinite(number):
            try:
                moment = datetime.fromisoformat(at)
            except ValueError:
                return None
            return RecentCount(moment, what, about, number) if moment.tzinfo is not None else None
        case _:
            return None
