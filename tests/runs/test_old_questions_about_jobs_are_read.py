"""A question about a job that was asked before its note had the form of all proposals is answered as it was then."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agent.markdown.checkbox_decision import reason_label
from agent.runs.job_approvals import occurrence_of, pending_job_approvals, settle_job_approvals
from agent.schedule.occurrences import Occurrence
from agent.vault.store import Vault
from tests.fakes import FakeClock
from tests.vaults import make_vault, write

NOW = datetime(2026, 11, 23, 9, 0, tzinfo=UTC)
ID = "01HX0000000000000000000001"
NOTE = """---
id: 01HX0000000000000000000001
type: job-approval
job: tidy
created: 2026-11-23T09:00:00+00:00
expires: 2026-11-24T09:00:00+00:00
status: pending
---
# {question}

{why}

- [{yes}] approve
- [{no}] reject

{label} {reason}

{until}

## {task}

```text
Tidy the inbox.
```
"""
WORDS = {
    "en": {
        "question": "Shall Tidy run (2026-11-23 09:00)?",
        "why": "The job [[jobs/tidy]] runs only after your yes.",
        "reason": "not now",
        "until": "Until 2026-11-24 09:00.",
        "task": "What it does",
    },
    "zh": {
        "question": "要运行 Tidy 吗（2026-11-23 09:00）？",
        "why": "定时任务 [[jobs/tidy]] 要你同意才运行。",
        "reason": "现在不要",
        "until": "2026-11-24 09:00 之前有效。",
        "task": "要做的事",
    },
}


def note(language: str, yes: str = " ", no: str = " ") -> str:
    return NOTE.format(yes=yes, no=no, label=reason_label(language).strip(), **WORDS[language])


def asked_before(vault: Vault, path: str) -> Path:
    """The record of a question as an earlier version has written it."""
    file = vault.private_folder / "job-approvals" / "0123.json"
    row = {"job": "tidy", "planned": str(NOW), "stands_for": 2, "digest": "d1", "path": path, "id": ID}
    row |= {"created": str(NOW), "expires": str(NOW + timedelta(days=1)), "status": "pending"}
    write(file, json.dumps(row))
    return file


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(
    ("yes", "no", "status"), [("x", " ", "approved"), (" ", "x", "rejected"), ("x", "x", "rejected")]
)
def test_a_tick_counts(tmp_path: Path, language: str, yes: str, no: str, status: str) -> None:
    clock = FakeClock(NOW)
    path = "approvals/job-tidy-2026-11-23-0900.md"
    vault = make_vault(tmp_path, {path: note(language)}, clock=clock)
    asked_before(vault, path)
    assert [each.path for each in pending_job_approvals(vault)] == [path] and settle_job_approvals(vault) == ()
    write(vault.place.root / path, note(language, yes, no))
    assert pending_job_approvals(vault) == ()
    (answered,) = settle_job_approvals(vault)
    assert answered.status == status and occurrence_of(answered) == Occurrence("tidy", NOW)
    closed = (vault.place.root / path).read_text("utf-8")
    assert f"status: {status}" in closed and "Tidy the inbox." in closed
    if status == "rejected":
        assert answered.reason in ("not now", "现在不要")


def test_a_record_is_taken_over_once(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"approvals/a.md": note("en")}, clock=FakeClock(NOW))
    file = asked_before(vault, "approvals/a.md")
    (asked,) = pending_job_approvals(vault)
    assert (asked.name, asked.facts["stands_for"], asked.subject, asked.reason) == ("tidy", "2", "d1", "")
    assert not file.exists() and pending_job_approvals(vault) == (asked,)
