"""What the agent does by itself, as `status` shows it: its state, the next job, and what is wrong with jobs."""

from datetime import datetime
from shlex import quote
from typing import TYPE_CHECKING

from agent.background.jobs.jobs_status import JobsStatus
from agent.clock import in_clock_zone
from agent.interfaces.cli.language import counted, row, said
from agent.interfaces.cli.time_format import format_time
from agent.lazy import later

if TYPE_CHECKING:
    from agent.deeds.jobs import problem_views
    from agent.interfaces.cli.job_texts import owed_line, problem_line, warning_lines
else:  # only where there are jobs
    problem_views = later("agent.deeds.jobs", "problem_views")
    owed_line = later("agent.interfaces.cli.job_texts", "owed_line")
    problem_line = later("agent.interfaces.cli.job_texts", "problem_line")
    warning_lines = later("agent.interfaces.cli.job_texts", "warning_lines")

_SHOWN = 5


def format_jobs_status(found: JobsStatus, now: datetime, is_watched: bool) -> list[str]:
    """A line for the state, one for the next job, and one for each thing that needs its person."""
    lines = []
    state = found.state
    if state is not None and is_watched:
        words = said("{state} since {time:%H:%M} ({reason})", state=said(state.state),
                     time=in_clock_zone(state.since, now), reason=said(state.reason))  # fmt: skip
        if state.tasks_completed_today:
            words += said("; ") + counted(state.tasks_completed_today, "1 task today", "{count} tasks today")
        lines.append(row("now", words))
    if found.switch.line is not None:
        lines.append(row("jobs", said(found.switch.line)))
    elif found.next_job is not None and found.next_at is not None:
        lines.append(
            row("jobs", said("{id} at {moment}", id=found.next_job.name, moment=format_time(found.next_at, now)))
        )
    lines += [row("job", problem_line(each)) for each in found.shelf.problems[:_SHOWN]]
    warnings = warning_lines(found.shelf.jobs)[:_SHOWN] if found.shelf.jobs else ()
    lines += [row("job", each) for each in warnings]
    stopped = "{id} is stopped by its failures: vault-agent jobs resume {id}"
    lines += [row("job", said(stopped, id=quote(each.name))) for each in found.stopped[:_SHOWN]]
    lines += [row("job", owed_line(each, now)) for each in found.owed[:_SHOWN]]
    if found.asked:
        one, more = "1 job waits for your yes: {list}", "{count} jobs wait for your yes: {list}"
        lines.append(row("approve", counted(found.asked, one, more, list="vault-agent needs")))
    return lines


def jobs_status_document(found: JobsStatus) -> dict[str, object]:
    """The same for `--json`."""
    state = found.state
    return {
        "enabled": found.switch.enabled,
        "state": state.state if state else None,
        "since": state.since.isoformat() if state else None,
        "reason": state.reason if state else None,
        "last_wakeup": state.last_wakeup.isoformat() if state and state.last_wakeup else None,
        "last_sleep": state.last_sleep.isoformat() if state and state.last_sleep else None,
        "tasks_completed_today": state.tasks_completed_today if state else 0,
        "next": {"job": found.next_job.id, "at": found.next_at.isoformat()}
        if found.next_job and found.next_at
        else None,
        "jobs": len(found.shelf.jobs),
        "problems": problem_views(found.shelf) if found.shelf.problems else [],
        "warnings": [{"path": job.path, "message": each} for job in found.shelf.jobs for each in job.warnings],
        "stopped": [each.id for each in found.stopped],
        "asked": found.asked,
        "owed": [
            {
                "job": each.job.id,
                "planned": each.planned.isoformat(),
                "outcome": each.outcome,
                "reason": each.reason,
                "again": each.again.isoformat() if each.again else None,
            }
            for each in found.owed
        ],
    }
