"""Without a model, a wish to be reminded makes a job; one whose time is not clear makes none, and that is said."""

from pathlib import Path
from typing import Any

import pytest

from agent.app.agent import opened_runs
from agent.app.open import open_workspace
from agent.events.runs import Speaker
from agent.loop.records import RunRequest
from agent.schedule.job import Job
from agent.schedule.shelf import JobShelf
from agent.schedule.triggers import format_trigger
from tests.stories.agents import document, furnish, settings, tell
from tests.vaults import git, write

CLOCK = {"VAULT_AGENT_CLOCK__START": "2026-11-03T19:00"}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for key, value in CLOCK.items():
        monkeypatch.setenv(key, value)
    return furnish(tmp_path, monkeypatch.setenv)


def ask(root: Path, words: str) -> dict[str, Any]:
    return document(root, {**settings(root.parent), **CLOCK}, "ask", words)


def jobs(root: Path) -> tuple[Job, ...]:
    return JobShelf(open_workspace(root).vault).load().jobs


def facts(root: Path) -> list[Path]:
    return list(root.glob("entries/**/*.md"))


@pytest.mark.parametrize(
    ("words", "when", "text"),
    [
        ("remind me tomorrow at 9 to call Anna", "at 2026-11-04 09:00", "remind me to call Anna"),
        ("Can you remind me to call Anna tomorrow at 9am, please?", "at 2026-11-04 09:00", "remind me to call Anna"),
        ("Every Sunday at 18:00 remind me to wind the clock", "cron 0 18 * * 0", "remind me to wind the clock"),
        ("明天九点提醒我给安娜打电话", "at 2026-11-04 09:00", "提醒我给安娜打电话"),
        ("你能下周一早上七点提醒我带伞吗？", "at 2026-11-09 07:00", "提醒我带伞"),
    ],
)
def test_it_is_a_job_in_one_commit_that_can_be_undone(root: Path, words: str, when: str, text: str) -> None:
    answer = ask(root, words)["answer"]
    (job,) = jobs(root)
    assert (format_trigger(job.triggers[0]), job.text) == (when, text)
    assert when.partition(" ")[2][:16] in answer or "18:00" in answer
    assert f"[[{job.path.removesuffix('.md')}]]" in answer and "vault-agent daemon" in answer
    made = git(root, "log", "-1", "--format=%h", "--", job.path).strip()
    assert made == git(root, "log", "-1", "--format=%h").strip(), "with the talk"
    assert facts(root) == [], "a wish is no fact"
    tell(root, {**settings(root.parent), **CLOCK}, "undo", made)
    assert jobs(root) == ()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("Remind me next month to renew my registration", "I did not understand when"),
        ("Remind me at 3 to call Anna", "I did not understand when"),
        ("Remind me tonight, it is seven already", "I did not understand when"),
        ("记得下个月提醒我买菜", "I did not understand when"),
        ("过一会儿提醒我买菜", "I did not understand when"),
        ("月底下班前提醒我结账", "Did you mean “2026-11-30 09:00”"),
        ("Remind me tomorrow at 3 to call Anna", "Did you mean “2026-11-04 15:00” or “2026-11-04 03:00”?"),
    ],
)
def test_where_the_time_is_not_clear_none_is_set(root: Path, words: str, said: str) -> None:
    assert said in ask(root, words)["answer"]
    assert jobs(root) == () and facts(root) == []


@pytest.mark.parametrize(
    ("words", "when"),
    [
        ("Remind me next Friday to renew my registration", "at 2026-11-13 09:00"),
        ("Tomorrow remind me to call Anna", "at 2026-11-04 09:00"),
        ("Remind me on Friday evening to lock the shed", "at 2026-11-06 19:00"),
        ("记得明天下午提醒我买菜", "at 2026-11-04 15:00"),
    ],
)
def test_where_no_hour_was_named_a_usual_one_is_taken_and_that_is_said(root: Path, words: str, when: str) -> None:
    answer = ask(root, words)["answer"]
    (job,) = jobs(root)
    assert format_trigger(job.triggers[0]) == when
    assert when[3:] in answer and "\n\nYou named no time of day, so the usual one was taken." in answer


@pytest.mark.parametrize(
    ("words", "when", "said"),
    [
        ("明天下午 1 点提醒我开会", ["at 2026-11-04 13:00"], "2026-11-04 13:00"),
        ("每天早晚各提醒我吃药", ["cron 0 9,19 * * *"], "It is 09:00, 19:00."),
        (
            "周五前提醒我交表",
            ["at 2026-11-05 09:00"],
            "It is to be done by 2026-11-06, so the reminder comes before that.",
        ),
        ("月底提醒我结账", ["at 2026-11-30 09:00"], "It is 09:00."),
        ("春节前一周提醒我买票", ["at 2027-01-30 09:00"], "It is 09:00."),
        ("By Friday remind me to pay", ["at 2026-11-05 09:00"], "It is to be done by 2026-11-06"),
        ("Remind me at noon and 3pm to take the pill", ["at 2026-11-04 12:00", "at 2026-11-04 15:00"], "15:00"),
    ],
)
def test_usual_ways_to_say_when_are_understood(root: Path, words: str, when: list[str], said: str) -> None:
    answer = ask(root, words)["answer"]
    (job,) = jobs(root)
    assert [format_trigger(each) for each in job.triggers] == when and job.remind
    assert said in answer and facts(root) == []


@pytest.mark.parametrize("words", ["You remind me of my father.", "老师每天提醒我交作业。", "Remind me what Anna said"])
def test_not_every_reminding_is_a_wish(root: Path, words: str) -> None:
    answer = ask(root, words)["answer"]
    assert jobs(root) == () and "reminder" not in answer


def test_what_is_told_beside_it_is_kept(root: Path) -> None:
    answer = ask(root, "My sister Kate lives in York. Remind me tomorrow at 9 to call Kate.")["answer"]
    assert "remembered:\n\n> My sister Kate lives in York." in answer and "A reminder is set" in answer
    assert len(facts(root)) == 1 and len(jobs(root)) == 1


def test_each_wish_is_set_and_a_question_beside_them_is_answered(root: Path) -> None:
    ask(root, "My sister Kate lives in York.")
    asked = "Remind me tomorrow at 9 to call Kate. Where does Kate live? Can you remind me on Friday at 10 to pack?"
    answer = ask(root, asked)["answer"]
    assert {job.text for job in jobs(root)} == {"Remind me to call Kate", "remind me to pack"}
    assert answer.count("A reminder is set") == 2 and "> My sister Kate lives in York." in answer


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("Remind me at 6pm to call Kate, and where does Kate live?", "Remind me to call Kate"),
        ("明天七点半提醒我交表，Kate 住在哪里？", "提醒我交表"),
    ],
)
def test_a_question_behind_it_is_no_part_of_it(root: Path, words: str, text: str) -> None:
    ask(root, "My sister Kate lives in York.")
    answer = ask(root, words)["answer"]
    assert [job.text for job in jobs(root)] == [text] and "> My sister Kate lives in York." in answer


def test_where_jobs_may_not_be_made_that_is_said(root: Path) -> None:
    policy = "version: 1\nprofiles:\n  - name: default\n    policy: {deny: [{group: schedule}]}\n"
    write(root.parent / "home/config/policy.yaml", policy)
    answer = ask(root, "remind me tomorrow at 9 to call Anna")["answer"]
    assert "No reminder is set" in answer and jobs(root) == ()


def test_when_it_is_due_the_days_note_has_it_and_nothing_else(root: Path) -> None:
    with opened_runs(open_workspace(root)) as runs:
        asked = RunRequest("remind me to call Anna", Speaker("job"), job="remind-me-to-call-anna")
        assert runs.ask(asked).answer == "This is the reminder that you asked for."
