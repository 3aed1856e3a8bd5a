"""Notices about jobs: the answer of one that goes to a channel, and that one is stopped by its failures."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import TypeAlias

from agent.attention.notice_code import notice_code
from agent.events.notices import REMINDER, NoticeRaised
from agent.loop.inert import inert_blocks
from agent.memory import daily
from agent.runs.job_run import JobResult
from agent.schedule.history import history_path
from agent.schedule.job import DAILY_CHANNEL, NO_CHANNEL, Job
from agent.texts import text
from agent.workspace.workspace import Workspace

Notify: TypeAlias = Callable[[NoticeRaised, str], object]
"""Notes a notice in the outbox, once for each id (an empty id: always); raises `Retryable` or `Permanent`."""
PRIORITY = 0.8
"""The priority of a job's answer: its person has asked for it at this time; and of the word that it is stopped."""

_CHANNELS = {DAILY_CHANNEL: "", NO_CHANNEL: DAILY_CHANNEL}
"""The channels of reminders by the word in their note: the person's first one by default, and never none."""


def goes_to_channel(job: Job, result: JobResult) -> bool:
    """True if the run has an answer that attention delivers: a reminder, or one for a channel other than the daily
    note."""
    is_wanted = job.remind or job.channel not in {DAILY_CHANNEL, NO_CHANNEL}
    return is_wanted and result.outcome == "done" and bool(result.text)


def queued_text(workspace: Workspace, result: JobResult) -> str:
    """What the job's history says of an answer that went to attention: how it was delivered is said there."""
    return text("jobs.queued", workspace.settings.vault.language, notice=notice_code(result.notice or result.run))


def notify_answer(notify: Notify, job: Job, planned: datetime, result: JobResult) -> None:
    """Raise the answer of the run for the occurrence at `planned` as a notice, if it goes to a channel; raises what
    `notify` does.

    The notice has an id of its own or that of the run, so that it is raised once, however often this is tried.
    """
    if goes_to_channel(job, result):
        lines = tuple(line for line in inert_blocks(result.text).splitlines() if line.strip())
        title = daily.inert(" ".join(job.title.split()))
        id = result.notice or result.run
        due = planned.isoformat() if job.remind or job.is_once else ""
        notice = NoticeRaised("job_answer", PRIORITY, title, lines, f"{job.id} {id}", job.channel, due=due)
        if job.remind:  # at the time that its person has named: no rule may hold it
            channel = _CHANNELS.get(job.channel, job.channel)
            notice = replace(notice, type=REMINDER, priority=1.0, urgent=True, channel=channel)
        notify(notice, id)


def notify_stopped(workspace: Workspace, notify: Notify, job: Job, result: JobResult, failures: int) -> None:
    """Say that a job is stopped, why, and how it goes on; raises what `notify` does."""
    language = workspace.settings.vault.language
    title = text("jobs.stopped", language, title=daily.inert(job.title), count=failures)
    lines = (
        text("jobs.stopped_why", language, reason=daily.inert(result.reason or "-")),
        text("jobs.stopped_more", language, id=job.id, link=history_path(workspace.vault.home, job.id)[:-3]),
    )
    notify(NoticeRaised("job_failed", PRIORITY, title, lines, subject=f"{job.id} {result.run}"), "")
