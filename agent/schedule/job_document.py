"""Jobs as documents for JSON, the same for every interface."""

from collections.abc import Sequence
from datetime import datetime

from agent.schedule.history import HistoryRow, JobRecord
from agent.schedule.job import Job, JobProblem
from agent.schedule.occurrences import Occurrence
from agent.schedule.triggers import format_trigger


def job_document(job: Job, now: datetime) -> dict[str, object]:
    """A job."""
    return {
        "id": job.id,
        "path": job.path,
        "title": job.title,
        "on": [format_trigger(each) for each in job.triggers],
        "timezone": job.zone_name or None,
        "zone": job.zone.key,
        "status": job.status,
        "priority": job.priority,
        "channel": job.channel,
        "mode": job.mode,
        "task": job.task,
        "text": job.text,
        "only_wakes": job.only_wakes,
        "approval_required": job.approval_required,
        "cooldown_seconds": job.cooldown_seconds,
        "max_concurrency": job.max_concurrency,
        "retry": {"max": job.retry.most, "backoff_seconds": job.retry.backoff_seconds},
        "spend": job.spend,
        "timeout": job.timeout,
        "run_on": job.run_on or None,
        "catch_up": job.catch_up,
        "source": job.source,
        "next": [each["at"] for each in occurrence_documents(coming(job, now, 1))],
    }


def record_document(record: JobRecord) -> dict[str, object]:
    """What the runs of a job come to."""
    return {
        "last_run_at": record.last_run_at.isoformat() if record.last_run_at else None,
        "last_run_status": record.last_run_status,
        "consec_failures": record.consec_failures,
        "stopped": record.is_stopped,
    }


def past_run_document(row: HistoryRow, is_local: bool) -> dict[str, object]:
    """A run of a job, or one that did not take place; `is_local`: only this machine knows of it."""
    return {
        "planned": row.planned.isoformat(),
        "outcome": row.outcome,
        "started": row.started.isoformat() if row.started else None,
        "seconds": row.seconds,
        "reason": row.reason or None,
        "delivery": row.delivery or None,
        "money": row.money,
        "session": row.session or None,
        "commits": list(row.commits),
        "machine": row.machine or None,
        "attempt": row.attempt,
        "missed": row.missed,
        "local": is_local,
    }


def problem_document(problem: JobProblem) -> dict[str, object]:
    """What is wrong with a note in `jobs/`,."""
    return {"path": problem.path, "key": problem.key or None, "problem": problem.message, "hint": problem.hint}


def occurrence_documents(occurrences: Sequence[Occurrence]) -> list[dict[str, object]]:
    """Times of a job."""
    return [{"at": each.at.isoformat()} for each in occurrences]


def coming(job: Job, after: datetime, count: int) -> tuple[Occurrence, ...]:
    """The next times after a moment at which the job may run, on its active days; fewer if there are no more."""
    found: list[Occurrence] = []
    for each in job.next_occurrences(after, count if len(job.active_days) == 7 else count * 7 + 1_440):
        if job.has_day_of(each) and len(found) < count:
            found.append(each)
    return tuple(found)
