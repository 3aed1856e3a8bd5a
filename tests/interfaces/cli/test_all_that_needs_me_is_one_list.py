"""`vault-agent needs` lists decisions, questions, requests without an answer and failed duties, with what helps."""

from datetime import datetime
from pathlib import Path

import pytest

from agent.schedule.history import HistoryRow, with_rows
from agent.schedule.job import Job
from agent.schedule.job_header import parse_job
from tests.stories.agents import call, document, furnish, script, settings, tell
from tests.vaults import git, write

WORDS = '---\ntype: job\non: {cron: "0 7 * * *"}\n---\n# Look at the feed\n\nLook.\n'


def test_requests_and_stopped_jobs_stand_beside_what_is_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, own = furnish(tmp_path, monkeypatch.setenv), settings(tmp_path)
    job = parse_job("jobs/feed.md", WORDS.encode())
    assert isinstance(job, Job)
    days = (datetime(2026, 11, day, 7).astimezone() for day in (26, 27, 28))
    rows = [HistoryRow(at, "failed", at, reason="the site is away") for at in days]
    write(root / "jobs/feed.md", WORDS)
    write(root / "jobs/history/feed.md", with_rows(None, job, rows, "en").decode())
    write(root / "inbox/train.md", "---\nagent: ask\n---\nWhich train is the last?\n")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "mine")
    others = document(root, own, "needs")["others"]
    assert [(each["kind"], each["path"]) for each in others] == [
        ("request", "inbox/train.md"),
        ("stopped", "jobs/feed.md"),
    ]
    shown = tell(root, own, "needs")
    assert "A request has no answer yet: train" in shown and "vault-agent ask --note" in shown
    assert "A job was stopped after its failures: Look at the feed" in shown and "jobs resume feed" in shown


def test_a_question_is_answered_by_the_name_of_its_note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = furnish(tmp_path, monkeypatch.setenv)
    own = settings(tmp_path, script(tmp_path / "s.json", call("human_ask", question="Which tea?"), after="Bought."))
    document(root, own, "ask", "Buy tea")
    (note,) = root.glob("questions/*.md")
    missed = document(root, own, "needs", "answer", "which", "Green", code=2)
    assert missed["error"]["message"] == "nothing that waits here has the name or id which"
    tell(root, own, "needs", "answer", note.stem, "Green")
    assert "Green" in note.read_text("utf-8")
