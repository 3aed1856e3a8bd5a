"""A setting of a job that is nearly right is named with the right one, wherever its person looks for the job."""

from pathlib import Path

import pytest

from agent.app.open import open_workspace
from agent.config.values import meant
from agent.interfaces.mcp.late_tools import list_jobs
from agent.schedule.job import Job, JobProblem
from agent.schedule.job_header import parse_job
from agent.tools.tool import RunContext
from tests.stories.agents import NOTES, document, settings, tell
from tests.vaults import make_vault


def parsed(*rows: str) -> Job | JobProblem:
    header = "\n".join(["type: job", 'on: {cron: "0 9 * * *"}', *rows])
    found = parse_job("jobs/tea.md", f"---\n{header}\n---\nMake tea.\n".encode())
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("row", "names"),
    [
        ("cooldown: 300", "cooldown_seconds"),
        ("cooldown-seconds: 300", "cooldown_seconds"),
        ("channel: telegrm", "telegram"),
        ("channel: Mail", "mail"),
        ("chanel: mail", "channel"),
        ("Channel: mail", "channel"),
        ("timezon: UTC", "timezone"),
        ("catchup: once", "catch_up"),
        ("prioritiy: 7", "priority"),
        ("retyr: {max: 2}", "retry"),
        ("activedays: [0]", "active_days"),
        ("target: a.md", "target_file"),
    ],
)
def test_it_is_named_and_the_job_runs(row: str, names: str) -> None:
    found = parsed(row)
    assert isinstance(found, Job) and len(found.warnings) == 1 and f"did you mean {names}?" in found.warnings[0]


@pytest.mark.parametrize(
    ("row", "names"),
    [
        ("approval_requird: true", "approval_required"),
        ("approval: true", "approval_required"),
        ("approval-required: true", "approval_required"),
        ("stauts: paused", "status"),
        ("Status: paused", "status"),
        ("spent: 0.10", "spend"),
        ("runon: laptop", "run_on"),
        ("userid: anna", "user_id"),
    ],
)
def test_what_holds_a_job_back_holds_it_back_until_it_is_right(row: str, names: str) -> None:
    found = parsed(row)
    assert isinstance(found, JobProblem) and f"did you mean {names}?" in found.hint


@pytest.mark.parametrize(
    "row",
    [
        "tags: [daily]",
        "aliases: [Tea]",
        "cssclasses: [wide]",
        "sources: [a]",
        "tasks: 3",
        "notes: none",
        "mood: good",
        "project: garden",
        "up: '[[Home]]'",
        "publish: false",
        "date: 2026-11-29",
        "created: 2026-11-29",
        "kitchen: yes",
        "channel: none",
        "channel: daily",
        "channel: lark:room",
        "reason: thirst",
    ],
)
def test_a_key_of_ones_own_makes_no_noise(row: str) -> None:
    found = parsed(row)
    assert isinstance(found, Job) and found.warnings == ()


def test_a_channel_that_is_like_none_is_named_with_those_that_there_are() -> None:
    found = parsed("channel: pigeon")
    assert isinstance(found, Job) and "there are daily, none, webhook, mail" in found.warnings[0]


def test_short_and_unlike_words_mean_nothing() -> None:
    known = ("cooldown_seconds", "on", "mode", "max_concurrency", "max_tokens")
    assert [meant(each, known) for each in ("in", "om", "mood", "max", "garden", "")] == [""] * 6
    assert meant("MAX_TOKEN", known) == "max_tokens" and meant("On", known) == "on"


def test_it_stands_wherever_its_person_looks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = settings(tmp_path)
    for key, value in own.items():
        monkeypatch.setenv(key, value)
    note = '---\ntype: job\non: {cron: "0 9 * * *"}\nchannel: telegrm\n---\nMake tea.\n'
    root = make_vault(tmp_path, {**NOTES, "jobs/tea.md": note}).place.root
    told = "there is no channel telegrm; did you mean telegram?"
    for words in (("jobs",), ("jobs", "show", "tea"), ("status",), ("doctor",)):
        assert told in tell(root, own, *words), words
    assert document(root, own, "jobs")["jobs"][0]["warnings"] == [told]
    assert document(root, own, "status")["schedule"]["warnings"] == [{"path": "jobs/tea.md", "message": told}]
    assert f"warning: {told}" in list_jobs(open_workspace(root), {}, RunContext("", "")).text
