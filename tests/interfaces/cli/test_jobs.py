"""`vault-agent jobs` on notes as a person writes them, without a daemon."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent.schedule import job_header
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


def test_a_ready_job_comes_into_the_vault_when_it_is_switched_on(root: Path, run: Run) -> None:
    ready = {each["id"]: each for each in run("jobs", "templates")["jobs"]}
    assert len(ready) == 6 and not any(each["is_in_vault"] for each in ready.values())
    assert run("jobs", "list")["jobs"] == [] and not (root / "jobs").exists()
    done = run("jobs", "resume", "morning-briefing")
    assert (done["job"], done["status"]) == ("morning-briefing", "active")
    assert "status: active\n" in (root / "jobs/morning-briefing.md").read_text("utf-8")
    assert [(each["id"], each["status"]) for each in run("jobs", "list")["jobs"]] == [("morning-briefing", "active")]
    assert [each["id"] for each in run("jobs", "templates")["jobs"] if each["is_in_vault"]] == ["morning-briefing"]
    assert run("jobs", "pause", "morning-briefing")["status"] == "paused"
    assert run("jobs", "resume", "Morning briefing")["status"] == "active", "the note in the vault, not another"
    assert run("jobs", "resume", "evening-briefing", code=2)["error"]["type"] == "Unknown"


def test_a_ready_job_that_is_run_once_is_not_switched_on(root: Path, run: Run) -> None:
    assert run("jobs", "show", "upkeep", code=2)["error"]["hint"] == ("vault-agent jobs resume upkeep switches it on")
    assert run("jobs", "run", "upkeep")["job"] == "upkeep"
    assert [(each["id"], each["status"]) for each in run("jobs", "list")["jobs"]] == [("upkeep", "paused")]
    assert len(run("jobs", "history", "upkeep")["runs"]) == 1
    run("jobs", "run", "evening-briefing", code=2)


def test_only_active_days_are_shown(root: Path, run: Run) -> None:
    weekend = NIGHT.replace("status: active", "active_days: [5, 6]")
    write(root / "jobs/week.md", weekend.replace("id: night", "id: week"))
    found = times(run("jobs", "next", "week", "--from", "2026-11-23T00:00:00+01:00", "--count", "3"))
    assert [each[:10] for each in found] == ["2026-11-28", "2026-11-29", "2026-12-05"]


def test_a_note_that_does_not_say_that_it_is_a_job_is_named(
    root: Path, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    write(root / "jobs/water.md", "# Water the plants\n\nEvery morning.\n")
    write(root / "jobs/about.md", "---\ntype: about\n---\n# Jobs\n")
    assert [(each["path"], each["key"]) for each in run("jobs")["problems"]] == [("jobs/water.md", "type")]
    for command in (("jobs",), ("status",), ("doctor",)):
        assert "its header has no `type: job`" in tell(capsys, *command), command


def test_a_part_of_a_title_that_one_job_has_is_enough_to_look_at_it(root: Path, run: Run) -> None:
    for id, title in (("water", "提醒我浇花"), ("call", "提醒我打电话")):
        write(root / f"jobs/{id}.md", NIGHT.replace("id: night", f"id: {id}").replace("Say", f"# {title}\n\nSay"))
    assert run("jobs", "show", "浇花")["job"]["id"] == "water" and run("jobs", "next", "浇花")["job"] == "water"
    several = run("jobs", "show", "提醒我", code=2)["error"]
    assert "several" in several["message"] and "提醒我浇花 (water)" in several["hint"] and "call" in several["hint"]
    assert run("jobs", "pause", "浇花", code=2)["error"]["type"] == "Unknown", "what changes a job names it"


def test_the_list_names_what_cannot_run(root: Path, run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    write(root / "jobs/night.md", NIGHT)
    write(root / "jobs/bad.md", NIGHT.replace("30 2", "99 2").replace("night", "bad"))
    found = run("jobs")
    assert [each["id"] for each in found["jobs"]] == ["night"]
    assert [(each["path"], each["key"]) for each in found["problems"]] == [("jobs/bad.md", "on")]
    text = tell(capsys, "jobs", "list")
    assert "night  active" in text and "jobs/bad.md (on) cannot run" in text


def test_a_person_reads_words_and_times_of_their_own_clock(
    root: Path, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    write(root / "jobs/night.md", NIGHT)
    write(root / "jobs/often.md", NIGHT.replace("night", "often").replace("30 2 *", "0 */2 *"))
    write(root / "jobs/rest.md", NIGHT.replace("id: night", "id: rest\nactive_days: [5, 6]"))
    assert {tuple(each["on"]) for each in run("jobs")["jobs"]} == {("cron 30 2 * * *",), ("cron 0 */2 * * *",)}
    shown = [tell(capsys, "jobs"), tell(capsys, "jobs", "show", "night"), tell(capsys, "status")]
    assert "every day at 02:30 (Europe/Berlin)" in shown[0] and "every 2 hours" in shown[0]
    assert "only on Saturday, Sunday" in shown[0]
    assert "every day at 02:30" in shown[1]
    assert re.search("(?:often|night) at 20", shown[2])  # whichever is next
    for each in shown:
        assert "cron" not in each and not re.search(r":\d\d[+]\d\d:\d\d", each)


def test_a_title_that_says_more_than_the_name_stands_beside_it(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(root / "jobs/night.md", NIGHT.replace("Say hello.", "# 夜里问好\n\nSay hello."))
    write(root / "jobs/tea-time.md", NIGHT.replace("id: night\n", "").replace("Say hello.", "# Tea time\n\nTea."))
    shown = tell(capsys, "jobs")
    assert "“夜里问好”" in shown and "“Tea time”" not in shown


def test_a_paused_job_names_no_time_but_the_command_that_lets_it_run(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(root / "jobs/night.md", NIGHT.replace("active", "paused"))
    shown = tell(capsys, "jobs", "show", "night")
    assert "paused; vault-agent jobs resume night" in shown and ":30, " not in shown


def test_every_setting_that_holds_is_shown(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Those that the reader of the header knows, whether the note has them or not."""
    write(root / "jobs/night.md", NIGHT.replace("status: active", "status: active\ncooldown_seconds: 300"))
    shown = tell(capsys, "jobs", "show", "night")
    known = re.findall(r'fields\.take\("(\w+)"', Path(job_header.__file__).read_text("utf-8"))
    assert len(known) > 20
    assert [key for key in known if not re.search(rf"^  [ *] {key} ", shown, re.MULTILINE)] == []
    assert re.search(r"^  \* cooldown_seconds +300$", shown, re.MULTILINE)
    assert re.search(r"^    retry +\{max: 0, backoff_seconds: 60\}$", shown, re.MULTILINE)


def test_a_job_with_a_chinese_name_is_called_by_it(root: Path, run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    found = run("jobs", "add", "每个工作日九点给我简报", "--yes")["job"]
    assert found["id"] == "给我简报"
    told = tell(capsys, "log", "-n", "1")
    assert "job(add): 给我简报" in told and ")  you\n" in told, "a person did it, by the program"
    tell(capsys, "jobs", "pause", "给我简报")
    shown = tell(capsys, "jobs")
    assert "给我简报  paused" in shown
    assert "给我简报 is active" in tell(capsys, "jobs", "resume", "给我简报")
    assert "给我简报 at " in tell(capsys, "status")


def test_a_name_that_nothing_has_is_said(root: Path, run: Run) -> None:
    assert "no job nothing" in run("jobs", "next", "nothing", code=2)["error"]["message"]
    write(root / "jobs/night.md", NIGHT)
    assert run("jobs", "next", "night", "--from", "someday", code=2)["ok"] is False


def test_one_is_run_by_hand_and_its_history_says_so(root: Path, run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    write(root / "jobs/night.md", NIGHT.replace("active", "paused"))
    found = run("jobs", "run", "night")
    assert found["outcome"] == "done" and found["answer"]
    (row,) = run("jobs", "history", "night")["runs"]
    assert row["outcome"] == "done" and row["session"] == found["session"] and row["delivery"].startswith("daily/")
    assert (root / row["delivery"]).read_text("utf-8").count("night") >= 1
    assert "night" in tell(capsys, "jobs", "log", "night")
    assert "done" in tell(capsys, "jobs", "history", "night")
    shown = tell(capsys, "jobs", "run", "night")
    assert "\\x0a" not in shown and len(shown.splitlines()) > 2, "an answer of several lines is shown as such"


def test_one_that_ran_at_its_only_time_has_ended(root: Path, run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    write(root / "jobs/night.md", NIGHT.replace('cron: "30 2 * * *"', 'at: "2020-01-01 02:30"'))
    assert run("jobs", "show", "night")["job"]["status"] == "active", "it was missed, and is to run yet"
    run("jobs", "run", "night")
    assert run("jobs", "show", "night")["job"]["status"] == "ended"
    assert "night  ended   once, 2020-01-01 02:30" in tell(capsys, "jobs")
    write(root / "jobs/night.md", NIGHT)
    assert run("jobs", "show", "night")["job"]["status"] == "active", "it runs again and again"


def test_pausing_and_resuming_change_one_word_of_the_note(root: Path, run: Run) -> None:
    text = NIGHT.replace("status: active", "status: active  # for now\nweather: fine")
    write(root / "jobs/night.md", text)
    assert run("jobs", "pause", "night")["status"] == "paused"
    assert (root / "jobs/night.md").read_text("utf-8") == text.replace("status: active", "status: paused")
    found = run("jobs", "resume", "night")
    assert (root / "jobs/night.md").read_text("utf-8") == text
    assert found["a_day"] == {"runs": 1.0, "money": 0.0}, "no model is configured"


def test_one_that_failures_have_stopped_is_resumed(root: Path, run: Run) -> None:
    write(root / "jobs/night.md", NIGHT)
    rows = [f"- [planned:: 2026-11-2{day}T02:30:00+01:00] [outcome:: failed] [reason:: no]" for day in range(3)]
    write(root / "jobs/history/night.md", "\n".join(["---\ntype: job_history\n---", *rows, ""]))
    assert run("jobs", "history", "night")["stopped"] is True
    run("jobs", "resume", "night")
    found = run("jobs", "history", "night")
    assert found["stopped"] is False and found["runs"][-1]["outcome"] == "resumed"


@pytest.mark.parametrize("words", ["every weekday at 9 brief me", "每个工作日九点给我简报"])
def test_one_is_made_of_a_sentence_once_its_times_were_shown(root: Path, run: Run, words: str) -> None:
    found = run("jobs", "add", words)
    assert found["written"] is False and len(times(found)) == 3 and not (root / found["job"]["path"]).exists()
    found = run("jobs", "add", words, "--yes")
    assert found["written"] is True and (root / found["job"]["path"]).exists()
    (job,) = run("jobs", "list")["jobs"]
    assert job["on"] == ["cron 0 9 * * 1-5"] and job["text"] in ("brief me", "给我简报")
    assert run("jobs", "add", words, "--yes")["job"]["path"].endswith("-2.md")


def test_one_of_a_single_time_is_said_to_cost_once(root: Path, run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    told = tell(capsys, "jobs", "add", "tomorrow at 9 remind me to call Anna", "--yes")
    assert "once; no model: nothing to pay" in told and "a week" not in told


def test_a_time_that_is_not_clear_is_refused(root: Path, run: Run) -> None:
    error = run("jobs", "add", "brief me soon", code=2)["error"]
    assert "not clear" in error["message"] and error["hint"].startswith("every weekday at 9")
    error = run("jobs", "add", " ", code=2)["error"]
    assert error["message"] == "the sentence is empty" and error["hint"].startswith("every weekday at 9")


def test_a_channel_that_is_not_set_up_is_said_when_a_job_is_made(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    shown = tell(capsys, "jobs", "add", "every weekday at 9 brief me and send it by mail", "--yes")
    assert "the answer goes to mail" in shown and "vault-agent channels add mail" in shown
    assert "is not set up" not in tell(capsys, "jobs", "add", "every weekday at 9 brief me", "--yes")
