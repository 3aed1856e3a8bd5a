"""The rules by which something is a trouble that the person should hear of: pure functions of the last day's counts and
of how things are now.

A job that failed three times in a row and is not stopped yet; a part of the program that fails more than ten times in a
minute; compactions within a day before which nothing was remembered; a node host that was away for five minutes; a
permission of it that is denied to a tool that was called. A burst of failures counts as over after ten quiet minutes.

The last day of a few counts, each with its time: what a rate over minutes or hours is computed from.

One small file beside those of the days, written with them and under their lock. Counts that were written together have
one time, so that a time is exact to the interval of writing (`collect.INTERVAL`).
"""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Literal, TypeAlias

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


AlertRule: TypeAlias = Literal["job_failures", "handler_errors", "flush_saves_nothing", "node_away", "node_permission"]
FAILURES = 3
"""Failures in a row of one job."""
ERRORS = 10
"""Failures of one handler in `SPAN` that are still borne."""
SPAN, QUIET = timedelta(minutes=1), timedelta(minutes=10)
DAY = timedelta(hours=24)
AWAY = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Alert:
    """A trouble by its rule. `subject` is the job, the handler or the permission, empty without one; `number` what was
    counted: failures, failures in a minute, compactions, minutes, calls; `more` the entries that were known already."""

    rule: AlertRule
    subject: str = ""
    number: float = 0.0
    more: float = 0.0


@dataclass(frozen=True, slots=True)
class Observed:
    """What the rules look at, at the time `now`. `first_day` is the first of which anything is counted;
    `job_failures` are the failures in a row of the jobs that are not stopped; `away_since` when the node host went
    away, None while it is there or switched off; `permissions` are the states of its permissions."""

    now: datetime
    recent: Sequence[RecentCount] = ()
    first_day: date | None = None
    job_failures: Mapping[str, int] = field(default_factory=dict)
    away_since: datetime | None = None
    permissions: Mapping[str, str] = field(default_factory=dict)


def alerts_of(seen: Observed) -> tuple[Alert, ...]:
    """The troubles that there are, each once by its rule and subject."""
    return (*_of_jobs(seen), *_of_handlers(seen), *_of_flushes(seen), *_of_node(seen))


def _of_jobs(seen: Observed) -> Iterator[Alert]:
    for job, number in sorted(seen.job_failures.items()):
        if number >= FAILURES:
            yield Alert("job_failures", job, number)


def _of_handlers(seen: Observed) -> Iterator[Alert]:
    errors = [each for each in seen.recent if each.what == HANDLER_ERRORS]
    for name in sorted({each.about for each in errors}):
        own = [each for each in errors if each.about == name]
        rate = highest_rate(own, HANDLER_ERRORS, seen.now - QUIET, SPAN)
        if rate > ERRORS:
            yield Alert("handler_errors", name, rate)


def _of_flushes(seen: Observed) -> Iterator[Alert]:
    since = seen.now - DAY
    is_counted = seen.first_day is not None and seen.first_day < since.date()
    compactions = total_of(seen.recent, COMPACTIONS, since)
    if is_counted and compactions and not total_of(seen.recent, FLUSH_SAVED, since):
        yield Alert("flush_saves_nothing", "", compactions, total_of(seen.recent, FLUSH_KNOWN, since))


def _of_node(seen: Observed) -> Iterator[Alert]:
    if seen.away_since is not None and seen.now - seen.away_since > AWAY:
        yield Alert("node_away", "", int((seen.now - seen.away_since) / timedelta(minutes=1)))
    for name, state in sorted(seen.permissions.items()):
        own = [each for each in seen.recent if each.about == name]
        calls = total_of(own, NODE_DENIED, seen.now - DAY)
        if state == "denied" and calls:
            yield Alert("node_permission", name, calls)
