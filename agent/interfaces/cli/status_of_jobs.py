"""What the agent does by itself, as `status` shows it: its state, the next job, and what is wrong with jobs."""

from datetime import datetime
from shlex import quote

from agent.background.jobs.jobs_status import JobsStatus
from agent.interfaces.cli.job_texts import problem_line
from agent.interfaces.cli.language import counted, row, said
from agent.interfaces.cli.time_format import format_time

_SHOWN = 5


def format_jobs_status(found: JobsStatus, now: datetime, is_watched: bool) -> list[str]:
    """A line for the state, one for the next job, and one for each thing that needs its person."""
    lines = []
    state = found.state
    if state is not None and is_watched:
        words = said("{state} since {time} ({reason})", state=said(state.state), time=f"{state.since:%H:%M}",
                     reason=said(state.reason))  # fmt: skip
        if state.tasks_completed_today:
            words += said("; ") + counted(state.tasks_completed_today, "1 task today", "{count} tasks today")
        lines.append(row("now", words))
    if found.next_job is not None and found.next_at is not None:
        lines.append(
            row("jobs", said("{id} at {moment}", id=found.next_job.name, moment=format_time(found.next_at, now)))
        )
    lines += [row("job", problem_line(each)) for each in found.shelf.problems[:_SHOWN]]
    stopped = "{id} is stopped by its failures: vault-agent jobs resume {id}"
    lines += [row("job", said(stopped, id=quote(each.name))) for each in found.stopped[:_SHOWN]]
    if found.asked:
        one, more = "1 job waits for your yes: {list}", "{count} jobs wait for your yes: {list}"
        lines.append(row("approve", counted(found.asked, one, more, list="vault-agent approvals")))
    return lines
