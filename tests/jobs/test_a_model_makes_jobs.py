"""Jobs that a model makes: at once if their owner asks for them, with a yes otherwise."""

from pathlib import Path

import pytest

from agent.app.agent import opened_runs
from agent.app.open import open_workspace
from agent.events.runs import Speaker
from agent.loop.outcome import Ended, RunOutcome
from agent.loop.records import RunRequest
from agent.loop.session import load_session
from agent.schedule.shelf import JobShelf
from agent.schedule.triggers import format_trigger
from tests.stories.agents import call, furnish, script
from tests.vaults import git

TITLE = "Morning tea"
MADE = call("jobs", action="add", title=TITLE, text="Say which tea.", when="0 9 * * 1-5", timezone="Europe/Berlin")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return furnish(tmp_path, monkeypatch.setenv, tmp_path / "script.json")


def ask(root: Path, *replies: object, untrusted: str = "", job: str = "", channel: str = "cli") -> Ended:
    script(root.parent / "script.json", *replies, after="Done.")
    with opened_runs(open_workspace(root)) as runs:
        asked = RunRequest("brief me each workday at nine", Speaker(channel, "me"), job=job)
        return runs.ask(asked, untrusted=untrusted)


def results(root: Path, ended: Ended) -> list[str]:
    found = load_session(open_workspace(root).vault, ended.session)
    return [message.text for message in found.history if type(message).__name__ == "ToolResult"]


def test_what_the_owner_asks_for_is_a_job_at_once(root: Path) -> None:
    ended = ask(root, MADE, call("jobs", action="list"))
    assert ended.outcome is RunOutcome.FINISHED, ended
    (job,) = JobShelf(open_workspace(root).vault).load().jobs
    assert (job.source, job.zone_name, job.text, job.title) == ("dynamic", "Europe/Berlin", "Say which tea.", TITLE)
    made, listed = results(root, ended)
    assert "next: " in made and "09:00" in made and "morning-tea: Morning tea; cron 0 9 * * 1-5" in listed
    assert git(root, "status", "--porcelain") == ""


@pytest.mark.parametrize("more", [{"untrusted": "a page"}, {"job": "other", "channel": "job"}, {"channel": "unknown"}])
def test_otherwise_it_waits_for_a_yes(root: Path, more: dict[str, str]) -> None:
    ended = ask(root, MADE, **more)
    assert ended.outcome is RunOutcome.NEEDS_APPROVAL
    assert JobShelf(open_workspace(root).vault).load().jobs == ()


def test_what_it_makes_a_reminder_is_one_whatever_its_words_are(root: Path) -> None:
    at = "at 2099-12-24 09:00"
    leave = call("jobs", action="add", title="Dentist", text="Time to leave for the dentist", when=at, remind=True)
    work = call("jobs", action="add", title="Report", text="Sum up the week", when=at)
    ask(root, leave, work)
    found = {job.title: job.remind for job in JobShelf(open_workspace(root).vault).load().jobs}
    assert found == {"Dentist": True, "Report": False}


@pytest.mark.parametrize(
    ("title", "id"),
    [
        ("今天到期的事", "今天到期的事"),
        ("Čaj o páté", "čaj-o-páté"),
        ("每天 喝水", "每天-喝水"),
    ],
)
def test_its_id_is_made_of_the_title_in_any_script(root: Path, title: str, id: str) -> None:
    made = call("jobs", action="add", title=title, text="Say so.", when="every day at 9")
    ended = ask(root, made, call("jobs", action="change", job=id, when="every day at 10"))
    (job,) = JobShelf(open_workspace(root).vault).load().jobs
    assert job.id == job.name == id and format_trigger(job.triggers[0]) == "cron 0 10 * * *"
    assert f"{id}, next: " in results(root, ended)[0]
    assert f"job(change): {id}" in git(root, "log", "--format=%B")


def test_a_long_title_in_another_script_leaves_room_for_the_name_of_a_file(root: Path) -> None:
    ask(
        root,
        call(
            "jobs",
            action="add",
            title="每天早上提醒我喝水并且记得给阳台上的花浇水" * 3,
            text="x",
            when="every day at 9",
        ),
    )
    (job,) = JobShelf(open_workspace(root).vault).load().jobs
    assert job.id.startswith("每天早上提醒我喝水") and len(job.id.encode()) <= 180


def test_it_pauses_resumes_and_deletes_one(root: Path) -> None:
    ended = ask(root, MADE, call("jobs", action="pause", job="morning-tea"))
    assert ended.outcome is RunOutcome.FINISHED, results(root, ended)
    assert JobShelf(open_workspace(root).vault).load().jobs[0].status == "paused"
    resume = call("jobs", action="resume", job="morning-tea")
    _, again = results(root, ask(root, resume, resume))
    assert JobShelf(open_workspace(root).vault).load().jobs[0].status == "active"
    assert "active already" in again and "vault-agent jobs resume morning-tea" in again
    assert ask(root, call("jobs", action="delete", job="morning-tea")).outcome is RunOutcome.FINISHED
    assert JobShelf(open_workspace(root).vault).load().jobs == ()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"when": "99 9 * * *"}, "no cron expression"),
        ({}, "when is missing"),
        ({"when": "at 2020-01-01 09:00"}, "is over"),
        ({"when": "soon"}, "the time is not clear: soon; every weekday at 9"),
        ({"when": "event daemon.started"}, "has to be a time"),
        ({"when": "0 9 * * *", "timezone": "Nowhere"}, "no such time zone"),
    ],
)
def test_what_is_wrong_is_told_to_the_model(root: Path, arguments: dict[str, str], told: str) -> None:
    (answer,) = results(root, ask(root, call("jobs", action="add", title="Tea", text="Tea?", **arguments)))
    assert told in answer


def test_days_without_a_time_of_day_have_the_usual_one_and_the_model_is_told(root: Path) -> None:
    added = call("jobs", action="add", title="Drops", text="Remind me of my drops", when="每天早晚")
    changed = call("jobs", action="change", job="drops", when="every Friday")
    told = results(root, ask(root, added, changed))
    assert "the usual one was taken. It is 09:00, 19:00" in told[0] and "09:00" in told[1] or "0 9 * * 5" in told[1]


def test_a_time_in_plain_words_is_understood(root: Path) -> None:
    words = ("every weekday at 9", "每个工作日早上九点", "0 9 * * 1-5")
    ask(root, *(call("jobs", action="add", title=f"Tea {each[0]}", text="Tea?", when=each) for each in words))
    jobs = JobShelf(open_workspace(root).vault).load().jobs
    assert [format_trigger(each) for job in jobs for each in job.triggers] == ["cron 0 9 * * 1-5"] * 3
