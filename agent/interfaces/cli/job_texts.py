"""Jobs as `vault-agent jobs` prints them."""

from collections.abc import Sequence
from datetime import datetime

from agent.interfaces.cli.language import listed, said
from agent.interfaces.cli.printing import columns, padded
from agent.schedule.history import JobRecord
from agent.schedule.job import Job, JobProblem
from agent.schedule.occurrences import Occurrence
from agent.schedule.shelf import Shelf
from agent.schedule.triggers import format_trigger


def format_moment(at: datetime) -> str:
    """A time of a job, to the minute, with its offset."""
    return at.isoformat(" ", "minutes")


def format_list(shelf: Shelf, now: datetime) -> str:
    """A line for each job, then what is wrong and what waits."""
    width = max((columns(job.id) for job in shelf.jobs), default=0)
    lines = [f"{padded(job.id, width)}  {_state(job)}  {_when(job)}  {_next(job, now)}".rstrip() for job in shelf.jobs]
    lines += [problem_line(each) for each in shelf.problems]
    lines += [
        said("{path} has text that arrived and does not count yet: vault-agent approvals", path=each)
        for each in shelf.waiting
    ]
    return "\n".join(lines) or said("there are no jobs; vault-agent jobs add TEXT makes one")


def problem_line(problem: JobProblem) -> str:
    """The problem of a job's note, and what to do."""
    where = f"{problem.path} ({problem.key})" if problem.key else problem.path
    return said("{where} cannot run: {problem}; {fix}", where=where, problem=problem.message, fix=problem.hint)


def job_document(job: Job, now: datetime) -> dict[str, object]:
    """A job for `--json`."""
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


def problem_document(problem: JobProblem) -> dict[str, object]:
    """What is wrong with a note in `jobs/`, for `--json`."""
    return {"path": problem.path, "key": problem.key or None, "problem": problem.message, "hint": problem.hint}


def occurrence_documents(occurrences: Sequence[Occurrence]) -> list[dict[str, object]]:
    """Times of a job for `--json`."""
    return [{"at": each.at.isoformat()} for each in occurrences]


def format_job(job: Job, now: datetime, record: JobRecord) -> list[str]:
    """Everything about one job but its runs before the last one."""
    rows = [
        (said("note"), job.path),
        (said("when"), listed(format_trigger(each) for each in job.triggers)),
        (said("zone"), job.zone.key),
        (said("status"), said(job.status)),
        (said("does"), job.task or (said("only wakes the agent") if job.only_wakes else job.text.partition("\n")[0])),
        (said("answers"), job.channel),
        (said("next"), listed(format_moment(each.at) for each in coming(job, now, 3)) or "-"),
    ]
    if record.last_run_at is not None and record.last_run_status is not None:
        rows.append((said("last"), f"{format_moment(record.last_run_at)}  {said(record.last_run_status)}"))
    if record.is_stopped:
        rows.append((said("status"), said("{id} is stopped by its failures: vault-agent jobs resume {id}", id=job.id)))
    width = max(columns(label) for label, _ in rows)
    return [job.title, *(f"  {padded(label, width)}  {words}" for label, words in rows)]


def coming(job: Job, after: datetime, count: int) -> tuple[Occurrence, ...]:
    """The next times after a moment at which the job may run, on its active days; fewer if there are no more."""
    found: list[Occurrence] = []
    for each in job.next_occurrences(after, count if len(job.active_days) == 7 else count * 7 + 1_440):
        if job.is_active_on(each.at) and len(found) < count:
            found.append(each)
    return tuple(found)


def _state(job: Job) -> str:
    return padded(said(job.status), 6)


def _when(job: Job) -> str:
    return listed(format_trigger(each) for each in job.triggers)


def _next(job: Job, now: datetime) -> str:
    found = coming(job, now, 1) if job.status == "active" else ()
    return said("next {moment}", moment=format_moment(found[0].at)) if found else ""
