"""`vault-agent jobs` on notes as a person writes them, without a daemon."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.interfaces.cli.vaults import tell
from tests.vaults import write

Run = Callable[..., dict[str, Any]]
NIGHT = """---
id: night
type: job
on: {cron: "30 2 * * *"}
timezone: Europe/Berlin
status: active
---
Say hello.
"""


def times(document: dict[str, Any]) -> list[str]:
    return [each["at"] for each in document["occurrences"]]


@pytest.mark.parametrize("name", ["night", "jobs/Nachts.md", "Nachts"])
def test_the_next_times_have_their_offset(root: Path, run: Run, name: str) -> None:
    write(root / "jobs/Nachts.md", NIGHT)
    found = run("jobs", "next", name, "--from", "2026-03-28T00:00:00+01:00", "--count", "3")
    assert found["ok"] is True
    assert times(found) == ["2026-03-28T02:30:00+01:00", "2026-03-29T03:00:00+02:00", "2026-03-30T02:30:00+02:00"]
    found = run("jobs", "next", name, "--from", "2026-10-24T03:00", "--count", "2")  # in the job's own zone
    assert times(found) == ["2026-10-25T02:30:00+02:00", "2026-10-26T02:30:00+01:00"]


def test_only_active_days_are_shown(root: Path, run: Run) -> None:
    weekend = NIGHT.replace("status: active", "active_days: [5, 6]")
    write(root / "jobs/week.md", weekend.replace("id: night", "id: week"))
    found = times(run("jobs", "next", "week", "--from", "2026-11-23T00:00:00+01:00", "--count", "3"))
    assert [each[:10] for each in found] == ["2026-11-28", "2026-11-29", "2026-12-05"]


def test_the_list_names_what_cannot_run(root: Path, run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    write(root / "jobs/night.md", NIGHT)
    write(root / "jobs/bad.md", NIGHT.replace("30 2", "99 2").replace("night", "bad"))
    found = run("jobs")
    assert [each["id"] for each in found["jobs"]] == ["night"]
    assert [(each["path"], each["key"]) for each in found["problems"]] == [("jobs/bad.md", "on")]
    text = tell(capsys, "jobs", "list")
    assert "night  active" in text and "jobs/bad.md (on) cannot run" in text


def test_a_name_that_nothing_has_is_said(root: Path, run: Run) -> None:
    assert "no job nothing" in run("jobs", "next", "nothing", code=2)["error"]["message"]
    write(root / "jobs/night.md", NIGHT)
    assert run("jobs", "next", "night", "--from", "someday", code=2)["ok"] is False
