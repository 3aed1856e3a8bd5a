"""The daemon looks at the calendars, and a change of one is an event that may start a job."""

import json
from pathlib import Path

import pytest

from agent.events.types import CalendarChanged
from tests.calendars.servers import calendar, event, file_server
from tests.daemon.house import BRISK, living
from tests.stories.agents import call, furnish, script
from tests.vaults import git, write

JOB = "---\ntype: job\non: {event: calendar.changed}\n---\nSay what is new in my calendars.\n"
FIRST = event("1", "DTSTART:20261201T120000Z")


def test_a_changed_calendar_starts_a_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for key, value in BRISK.items():
        monkeypatch.setenv(key, value)
    monkeypatch.setattr("agent.background.calendars._LOOK", 1.0)
    said = script(tmp_path / "script.json", call("calendar", first="2026-12-01"), "There is a lunch.")
    root = furnish(tmp_path, monkeypatch.setenv, said)
    write(root / "jobs/news.md", JOB)
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "a job")
    with file_server() as server:
        server.body = calendar(FIRST)
        monkeypatch.setenv("VAULT_AGENT_CALENDARS__SOURCES", f'{{"work": "{server.url}"}}')
        with living(root) as house:
            heard: list[CalendarChanged] = []
            house.live.bus.subscribe(lambda each: heard.append(each), CalendarChanged, name="test", timeout=None)
            about = house.workspace.cache / "calendars/work.json"
            house.until(about.exists, "the calendar is looked at")
            house.for_a_while(1)
            assert heard == [] and len(server.asked) == 1, "what is found first is no change"
            server.body = calendar(FIRST, event("2", "DTSTART:20261201T130000Z", title="Lunch"))
            about.write_text(json.dumps({**json.loads(about.read_text()), "tried": "2026-01-01T00:00:00+00:00"}))
            history = root / "jobs/history/news.md"
            house.until(history.exists, "the job has run")
    assert heard == [CalendarChanged(("work",))]
    (session,) = [each for each in (root / "sessions").rglob("*.md") if "calendar" in each.read_text("utf-8")]
    assert "the calendar work" in session.read_text("utf-8") and "Lunch" in session.read_text("utf-8")
