"""The rules by which something is a trouble that the person should hear of: pure functions of the last day's counts and
of how things are now.

A job that failed three times in a row and is not stopped yet; a part of the program that fails more than ten times in a
minute; compactions within a day before which nothing was remembered; a node host that was away for five minutes; a
permission of it that is denied to a tool that was called. A burst of failures counts as over after ten quiet minutes.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from datetime import date, datetime, timedelta
from typing import Literal, TypeAlias

from agent.dataclass import dataclass
from agent.metrics.recent import (
    COMPACTIONS,
    FLUSH_KNOWN,
    FLUSH_SAVED,
    HANDLER_ERRORS,
    NODE_DENIED,
    RecentCount,
    highest_rate,
    total_of,
)

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
