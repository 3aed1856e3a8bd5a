"""Since when each job counts, outside the vault: from when its schedule was first seen on this machine.

So the times before a job was written, before its schedule was edited and while it was paused are no missed ones, also
if the daemon was off meanwhile. A reminder counts from when it was made: no daemon may have been there to see it.
"""

from datetime import UTC, datetime

from agent.dataclass import dataclass
from agent.records.database import Records
from agent.records.table import Table
from agent.schedule.job import Job
from agent.schedule.next_try import OWED
from agent.schedule.occurrences import moment_in
from agent.schedule.triggers import At, Cron, Every, RecurrenceRule, Timed


@dataclass(frozen=True, slots=True)
class FirstSeen:
    """`since` is the time from which a job counts, `schedule` what its note said then. `over` are moments (`at`) that
    were over by then and were not reported yet."""

    since: datetime
    schedule: tuple[str, ...]
    over: tuple[datetime, ...] = ()


def schedule_of(job: Job) -> tuple[str, ...]:
    """The schedule of a job as text: an edit of anything else leaves them as they are."""
    counts = any(isinstance(each, Every | RecurrenceRule) for each in job.triggers)
    created = job.created.isoformat() if job.created and counts else ""
    return (job.status, job.zone_name, created, *(_text(each) for each in job.triggers if isinstance(each, Timed)))


def see(job: Job, before: FirstSeen | None, now: datetime) -> FirstSeen:
    """The job as it is seen now (in UTC); unchanged if its schedule is."""
    schedule = schedule_of(job)
    if before is not None and before.schedule == schedule:
        return before
    known = set(before.schedule) if before else set()
    waiting = set(before.over) if before else set()
    moments = {_text(each): moment_in(each.moment, job.zone) for each in job.triggers if isinstance(each, At)}
    over = [
        at.astimezone(UTC)
        for text, at in moments.items()
        if at.timestamp() <= now.timestamp()
        and (before is None or text not in known or at > before.since or at.astimezone(UTC) in waiting)
    ]
    return FirstSeen(_owed_since(job, now) if before is None else now, schedule, tuple(sorted(over)))


def _owed_since(job: Job, now: datetime) -> datetime:
    """The time from which a new job counts: now, but a reminder from when it was made, a week ago at most."""
    if not job.remind or job.created is None or job.is_once:
        return now
    return min(now, max(job.created.astimezone(UTC), now - OWED))


def first_seen_table(database: Records) -> Table[dict[str, FirstSeen]]:
    """The jobs as they were seen, by id."""
    return Table(database, "first-seen", dict[str, FirstSeen])


def _text(trigger: Timed) -> str:
    match trigger:
        case Cron(expression):
            return f"cron {expression}"
        case RecurrenceRule(rule):
            return f"rrule {rule}"
        case Every(seconds):
            return f"every {seconds}"
        case At(moment):
            return f"at {moment.isoformat()}"
