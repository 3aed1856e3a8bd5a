"""The checks of jobs in `doctor`: what is wrong with their notes, and which ones their failures have stopped."""

from collections.abc import Iterator

from agent.runs.job_upkeep import job_record, job_shelf
from agent.texts import Sentence, joined
from agent.vault.health.probe import Check, Level, guarded, ok
from agent.workspace.schedule_switch import schedule_switch
from agent.workspace.workspace import Workspace


def job_checks(workspace: Workspace) -> list[Check]:
    """Check every job; a note that cannot run is named with the reason."""
    return guarded("jobs", lambda: _jobs(workspace))


def _jobs(workspace: Workspace) -> Iterator[Check]:
    shelf = job_shelf(workspace).load()
    active = [job for job in shelf.jobs if job.status == "active"]
    stopped = tuple(job.id for job in active if job_record(workspace, job).is_stopped)
    switch = schedule_switch(workspace)
    if switch.problem is not None:
        yield Check(Level.WARN, "jobs", switch.problem, next=switch.hint)
    if shelf.problems:
        lines = tuple(
            Sentence("{path}: {problem}; {fix}", path=each.path, problem=each.message, fix=each.hint)
            for each in shelf.problems
        )
        what = Sentence("{count} notes cannot run", count=len(lines))
        yield Check(Level.WARN, "jobs", what, lines, "mend their headers; vault-agent jobs list shows what is left")
    odd = tuple(
        Sentence("{path}: {problem}", path=job.path, problem=each) for job in shelf.jobs for each in job.warnings
    )
    if odd:
        yield Check(Level.WARN, "jobs", "some settings of jobs are likely misspelt", odd, "mend their headers")
    if stopped:
        what = Sentence("stopped by their failures: {names}", names=joined(stopped, ", "))
        yield Check(Level.WARN, "jobs", what, next="vault-agent jobs history ID says why, vault-agent jobs resume ID")
    if not (shelf.problems or stopped or odd):
        yield ok("jobs", "{active} active, of {count}", count=len(shelf.jobs), active=len(active))
