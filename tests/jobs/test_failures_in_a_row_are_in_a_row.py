"""Three failures in a row stop a job; a run that found nothing has run, and breaks the row."""

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from agent.runs.job_run import JobResult
from agent.runs.job_upkeep import job_record, job_rows, job_shelf, record_here
from agent.schedule.history import Outcome
from tests.trust.duties import Year
from tests.vaults import git, write


@pytest.mark.parametrize(
    ("outcomes", "written", "is_stopped"),
    [
        (["failed", "nothing", "failed", "nothing", "failed"], "failed nothing failed nothing failed", False),
        (["failed", "failed", "failed"], "failed failed failed", True),
        (["failed", "failed", "done", "failed"], "failed failed done failed", False),
        (["nothing", "nothing", "nothing"], "nothing nothing nothing", False),
    ],
)
def test_only_failures_without_a_run_between_them_stop_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, outcomes: list[Outcome], written: str, is_stopped: bool
) -> None:
    left = list(outcomes)

    def procedures(*arguments: Any) -> JobResult:
        return JobResult(left.pop(0), reason="why")

    year = Year(tmp_path, monkeypatch.setenv, seed=1, procedures=procedures)
    write(year.root / "jobs/tidy.md", "---\ntype: job\non: {cron: '0 9 * * *'}\ntimezone: UTC\ntask: cleanup\n---\n")
    before = int(git(year.root, "rev-list", "--count", "HEAD"))
    year.boot()
    year.turn()
    for _ in outcomes:
        year.clock.advance(86_400)
        year.turn()
        year.turn()
    year.stop()
    job = job_shelf(year.workspace).load().find("tidy")
    rows = job_rows(year.workspace.vault, job.id)
    assert " ".join(row.outcome for row in rows) == written and left == []
    assert job_record(year.workspace, job).is_stopped is is_stopped
    found = record_here(year.workspace, job)
    assert found.last_run_status == outcomes[-1] and isinstance(found.last_run_at, datetime)
    if "failed" not in outcomes:
        made = int(git(year.root, "rev-list", "--count", "HEAD")) - before
        assert made <= 1, "what found nothing is no commit of its own"
