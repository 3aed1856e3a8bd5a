"""The tools that only programs have, and that are loaded when they are called: what the agent does at its time, and
what waits for it and for its person.
"""

from collections.abc import Iterator

from agent.clock import in_clock_zone
from agent.errors import ToolRetry, UserError
from agent.llm.messages import JsonObject
from agent.runs.job_upkeep import job_shelf, owed_now, record_here
from agent.runs.kinds import pending_decisions
from agent.runs.open_requests import asked_in
from agent.runs.waiting_questions import waiting_questions
from agent.schedule.job import Job
from agent.schedule.triggers import format_trigger
from agent.tools import arguments
from agent.tools.text_origin import text_origin_of
from agent.tools.tool import RunContext, ToolOutput
from agent.vault.folders import INBOX
from agent.workspace.schedule_switch import schedule_switch
from agent.workspace.workspace import Workspace

_TIMES, _SHOWN = 3, 200


def list_jobs(workspace: Workspace, call: JsonObject, context: RunContext) -> ToolOutput:
    """The jobs, or one of them with its text."""
    origin, shelf, name = text_origin_of(workspace.vault), job_shelf(workspace).load(), arguments.text(call, "id")
    jobs = shelf.jobs
    if name:
        try:
            jobs = (shelf.find(name),)
        except UserError as error:
            known = ", ".join(each.id for each in shelf.jobs) or "none"
            raise ToolRetry(f"{error.message}; the jobs are: {known}") from error
    lines = [line for job in jobs for line in _job_lines(workspace, job)]
    lines += ["", jobs[0].text] if name else [f"{each.path} cannot run: {each.message}" for each in shelf.problems]
    sources = (origin.source(job.path, workspace.vault.read(job.path) or b"") for job in jobs)
    return ToolOutput("\n".join(lines) or "there are no jobs", untrusted=next(filter(None, sources), ""))


def _job_lines(workspace: Workspace, job: Job) -> Iterator[str]:
    record = record_here(workspace, job)
    status = "stopped by its failures" if record.is_stopped else job.status
    yield f"{job.name}: {job.title} ({status}; {', '.join(map(format_trigger, job.triggers))}; {job.path})"
    yield from (f"  warning: {each}" for each in job.warnings)
    if job.status == "active" and not record.is_stopped:
        times = [f"{each.at:%Y-%m-%d %H:%M %z}" for each in job.coming(workspace.clock.now(), _TIMES)]
        yield f"  next: {', '.join(times) or 'when something happens'}"
    if record.last_run_at is not None:
        last = in_clock_zone(record.last_run_at, workspace.clock.now())
        yield f"  last: {last:%Y-%m-%d %H:%M} {record.last_run_status}"


def list_inbox(workspace: Workspace, call: JsonObject, context: RunContext) -> ToolOutput:
    """The requests that wait for the agent, and what waits for the person."""
    stopped = schedule_switch(workspace).line
    lines = [*filter(None, [stopped]), *_requests(workspace), *_decisions(workspace), *_questions(workspace)]
    lines += _owed(workspace)
    rows = lines[:_SHOWN] + ([f"and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else [])
    return ToolOutput("\n".join(rows) or "nothing waits")


def _requests(workspace: Workspace) -> Iterator[str]:
    for path in workspace.vault.note_paths(workspace.vault.home.at(INBOX)):
        for asked in asked_in(workspace, path):
            yield f"request to the agent in {path}: {' '.join(asked.text.split())[:200]}"


def _decisions(workspace: Workspace) -> Iterator[str]:
    for each in pending_decisions(workspace):
        yield f"waits for the person's yes or no: {each.name} ({each.kind.replace('_', ' ')}), in {each.path}"


def _owed(workspace: Workspace) -> Iterator[str]:
    for each in owed_now(workspace):
        again = f"; tried again {each.again:%Y-%m-%d %H:%M %z}" if each.again else ""
        yield f"was due {each.planned:%Y-%m-%d %H:%M %z} and is not done: {each.job.id} ({each.reason}{again})"


def _questions(workspace: Workspace) -> Iterator[str]:
    for each in waiting_questions(workspace):
        yield f"waits for the person's answer: {' '.join(each.text.split())[:200]} ({each.path})"
