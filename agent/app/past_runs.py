"""The runs of a job: the rows of its history in the vault, and what only this machine knows."""

from datetime import datetime

from agent.dataclass import dataclass
from agent.runs.job_upkeep import job_ledger, job_rows
from agent.schedule.history import HistoryRow
from agent.schedule.job import Job
from agent.schedule.ledger import split_key
from agent.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class PastRun:
    """A row of the history, or what only this machine's ledger has (`is_local`)."""

    row: HistoryRow
    is_local: bool = False


def past_runs(workspace: Workspace, job: Job) -> tuple[PastRun, ...]:
    """The rows of a job's history and, for what has no row, the decisions on this machine; by time."""
    rows = job_rows(workspace.vault, job.id)
    there = {int(row.planned.timestamp()) for row in rows}
    local = [_of_ledger(job, each.key, each.outcome, each.reason, each.began)
             for each in job_ledger(workspace).decisions(job.id) if split_key(each.key)[1] not in there]  # fmt: skip
    found = [*(PastRun(row) for row in rows), *(PastRun(each, True) for each in local if each is not None)]
    return tuple(sorted(found, key=lambda each: (each.row.planned.timestamp(), each.row.attempt)))


def _of_ledger(job: Job, key: str, outcome: str, reason: str, began: datetime | None) -> HistoryRow | None:
    at = datetime.fromtimestamp(split_key(key)[1], job.zone)
    match outcome:
        case "nothing" | "missed" | "skipped" | "interrupted" | "done" | "failed" | "waits":
            return HistoryRow(at, outcome, began, reason=reason)
        case _:
            return None
