"""Since when each job counts, in a file outside the vault: from when its schedule was first seen on this machine.

So the times before a job was written, before its schedule was edited and while it was paused are no missed ones, also
if the daemon was off meanwhile. A reminder counts from when it was made: no daemon may have been there to see it.
"""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from agent.dataclass import dataclass
from agent.errors import Permanent, os_reason
from agent.json_value import parse_json
from agent.schedule.job import Job
from agent.schedule.next_try import OWED
from agent.schedule.occurrences import moment_in
from agent.schedule.triggers import At, Cron, Every, Timed
from agent.vault import durable


@dataclass(frozen=True, slots=True)
class FirstSeen:
    """`since` is the time from which a job counts, `schedule` what its note said then. `over` are moments (`at`) that
    were over by then and were not reported yet."""

    since: datetime
    schedule: tuple[str, ...]
    over: tuple[datetime, ...] = ()


def schedule_of(job: Job) -> tuple[str, ...]:
    """What a job's times depend on, as text: an edit of anything else leaves them as they are."""
    created = job.created.isoformat() if job.created and any(isinstance(each, Every) for each in job.triggers) else ""
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


def load_first_seen(path: Path) -> dict[str, FirstSeen] | None:
    """The jobs as they were seen, by id; None if the file is damaged, empty if there is none."""
    try:
        state = parse_json(path.read_bytes())
        return {
            str(job): FirstSeen(
                datetime.fromisoformat(seen["since"]),
                tuple(map(str, seen["schedule"])),
                tuple(map(datetime.fromisoformat, seen["over"])),
            )
            for job, seen in state.items()
        }
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def save_first_seen(path: Path, jobs: Mapping[str, FirstSeen], *, is_durable: bool) -> None:
    """Write the file; raises `Permanent`."""
    state = {
        job: {
            "since": seen.since.isoformat(),
            "schedule": seen.schedule,
            "over": [at.isoformat() for at in seen.over],
        }
        for job, seen in jobs.items()
    }
    try:
        if is_durable:
            durable.replace(path, json.dumps(state))
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(state))
    except OSError as error:
        raise Permanent("{path} cannot be written: {reason}", path=path, reason=os_reason(error)) from error


def _text(trigger: Timed) -> str:
    match trigger:
        case Cron(expression):
            return f"cron {expression}"
        case Every(seconds):
            return f"every {seconds}"
        case At(moment):
            return f"at {moment.isoformat()}"
