"""When what was to be done once, and was not, is tried again: some minutes later, then each morning for some days.

A pure function of the rows of the job's history and the time of the last one, so that a restart forgets nothing.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta

from agent.dataclass import dataclass
from agent.schedule.history import HistoryRow, Outcome
from agent.schedule.job import EVERY_DAY, Job

OWED = timedelta(days=7)
"""How long after its time a job of which nothing was known by then is still run."""
NOT_DONE: frozenset[Outcome] = frozenset({"failed", "interrupted", "missed", "skipped"})
"""The outcomes after which what was to be done once is still to be done."""


@dataclass(frozen=True, slots=True)
class RetryTimes:
    """`minutes` to wait after each of the first tries; then each day at `hour`, for `days` days. `active_days` are the
    days on which jobs run at all."""

    minutes: Sequence[float]
    hour: int
    days: int
    active_days: Sequence[int] = EVERY_DAY


@dataclass(frozen=True, slots=True)
class NextTry:
    """The next try of the occurrence at `planned`, at a moment; `attempt` counts from 1."""

    planned: datetime
    at: datetime
    attempt: int


def last_of(rows: Iterable[HistoryRow]) -> HistoryRow | None:
    """The last row of an occurrence, by the time of the occurrence; None without one."""
    occurrences = [row for row in rows if row.outcome != "resumed"]
    return occurrences[-1] if occurrences else None


def may_make_up(job: Job, at: datetime, now: datetime) -> bool:
    """True if a job runs for a moment that was over when it was first seen: it was made in time, and that is not long
    ago, so that nothing runs because of a slip in a note."""
    is_in_time = job.created is not None and job.created.timestamp() < at.timestamp()
    return job.catch_up == "once" and is_in_time and now.timestamp() - at.timestamp() <= OWED.total_seconds()


def next_try(job: Job, rows: Sequence[HistoryRow], ended: datetime, times: RetryTimes) -> NextTry | None:
    """The next try of what a job was to do once, whose rows are `rows`, in order, and whose last one was written at
    `ended`; None if it is done, or not to be tried again."""
    last = last_of(rows)
    if not job.is_once or last is None or not _is_left_to_do(job, last):
        return None
    own = [job.retry.seconds_after(each + 1) for each in range(job.retry.most)]
    waits = own or [60 * each for each in times.minutes]
    at = _morning(ended.astimezone(job.zone), times)
    if last.attempt <= len(waits):
        at = (ended.astimezone(UTC) + timedelta(seconds=waits[last.attempt - 1])).astimezone(job.zone)
    while not _is_active(job, at, times):
        at = _morning(at, times)
    begun = [row.started or row.planned for row in rows if row.planned.timestamp() == last.planned.timestamp()]
    begin = max(last.planned, min(begun))
    return NextTry(last.planned, at, last.attempt + 1) if at - begin <= timedelta(days=times.days) else None


def _is_left_to_do(job: Job, last: HistoryRow) -> bool:
    match last.outcome:
        case "failed" | "skipped":
            return True
        case "missed":
            return may_make_up(job, last.planned, last.planned)
        case "interrupted":  # what has changed something is not done twice; a kill leaves nobody who knows
            return last.seconds > 0 and not last.is_changed
        case _:
            return False


def _morning(after: datetime, times: RetryTimes) -> datetime:
    """The next morning at the hour of the tries."""
    morning = after.replace(hour=times.hour, minute=0, second=0, microsecond=0)
    return morning if morning > after else morning + timedelta(days=1)


def _is_active(job: Job, at: datetime, times: RetryTimes) -> bool:
    days = set(job.active_days) & set(times.active_days)
    return at.weekday() in days or not days
