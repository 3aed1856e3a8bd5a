"""A job that does not run, or fails, says so: in its history, and where it is stopped in the day's note."""

from pathlib import Path

import pytest

from agent.asking.questions.question import write_answer
from agent.interfaces.cli.main import main
from agent.runs.decisions import open_questions
from agent.schedule.new_job import job_of_words
from tests.jobs.town import Town, found, job
from tests.stories.agents import call, ticked
from tests.vaults import git, write

EVERY_MINUTE = "{cron: '* * * * *'}"
EVERY_TEN_MINUTES = "{cron: '9-59/10 * * * *'}"
"""Far enough apart that none comes up by itself while a slow machine does the one before."""


@pytest.fixture
def town(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Town:
    return found(tmp_path, monkeypatch.setenv)


def test_what_was_missed_while_the_daemon_was_off_is_one_row(town: Town) -> None:
    town.write("jobs/hourly.md", job("{cron: '0 * * * *'}"))
    with town.daemon() as house:
        house.step()
    town.clock.pass_by(hours=5)
    with town.daemon() as house:
        house.until(lambda: town.outcomes("hourly") != [], "it is written down")
        (row,) = town.rows("hourly")
        assert (row.outcome, row.missed, row.reason) == ("missed", 5, "the daemon was off")


def test_one_that_is_caught_up_stands_for_all(town: Town) -> None:
    town.write("jobs/hourly.md", job("{cron: '0 * * * *'}", catch_up="once"))
    with town.daemon() as house:
        house.step()
        town.clock.sleep_for(hours=5)
        house.until(lambda: town.outcomes("hourly") != [], "it has run")
        (row,) = town.rows("hourly")
        assert (row.outcome, row.missed, row.planned.hour) == ("done", 5, 13)


def test_what_is_to_be_done_once_is_done_when_the_daemon_is_there_again(town: Town) -> None:
    """A reminder that is a few hours late is still one."""
    vault = town.workspace.vault
    made = job_of_words(vault, "today at 11:00 remind me to call Anna", town.clock.now().astimezone())
    town.write(made.job.path, made.data.decode())
    with town.daemon() as house:
        house.step()
    town.clock.pass_by(hours=5)
    with town.daemon() as house:
        town.wait_for(house, made.job.id, "done")
        (row,) = town.rows(made.job.id)
        house.until(lambda: " - Remind me to call Anna\n" in town.daily(), "without a channel it is in the daily note")
        assert row.planned.hour == 11


def test_three_failures_in_a_row_stop_it_until_it_is_resumed(town: Town) -> None:
    town.says({"error": "permanent", "message": "the model is on strike", "times": 0})
    town.write("jobs/often.md", job(EVERY_TEN_MINUTES, title="Often"))
    with town.daemon() as house:
        for number in range(1, 4):
            house.step()
            town.clock.pass_by(minutes=10)
            town.wait_for(house, "often", *["failed"] * number)
        house.until(lambda: "Often is stopped after 3 failures" in town.daily(), "it is said")
        town.clock.pass_by(minutes=30)
        house.for_a_while(2)
        assert town.outcomes("often") == ["failed"] * 3
        assert all("the model is on strike" in row.reason for row in town.rows("often"))


def test_a_failed_run_is_tried_again_as_the_job_says(town: Town) -> None:
    town.says({"error": "permanent", "message": "not now", "times": 1}, "Good morning.", after="Good morning.")
    town.write("jobs/morning.md", job(retry="{max: 2, backoff_seconds: 60}"))
    with town.daemon() as house:
        house.step()
        town.clock.pass_by(minutes=1)
        house.until(lambda: town.outcomes("morning") == ["failed"], "it has failed")
        house.for_a_while(1)
        assert town.outcomes("morning") == ["failed"]
        town.clock.pass_by(seconds=60)
        house.until(lambda: len(town.outcomes("morning")) == 2, "it was tried again")
        assert [(row.attempt, row.planned.minute) for row in town.rows("morning")] == [(1, 0), (2, 0)]


def test_a_failed_run_is_tried_again_after_a_restart_too(town: Town) -> None:
    town.says({"error": "permanent", "message": "not now", "times": 1}, "Good morning.", after="Good morning.")
    town.write("jobs/morning.md", job(retry="{max: 1, backoff_seconds: 300}"))
    with town.daemon() as house:
        house.step()
        town.clock.pass_by(minutes=1)
        house.until(lambda: town.outcomes("morning") == ["failed"], "it has failed")
    town.says("Good morning.", after="Good morning.")
    town.clock.pass_by(minutes=3)
    with town.daemon() as house:
        house.for_a_while(1)
        assert town.outcomes("morning") == ["failed"], "not before its time"
        town.clock.pass_by(minutes=3)
        town.wait_for(house, "morning", "failed", "done")
    assert [(row.attempt, row.planned.minute) for row in town.rows("morning")] == [(1, 0), (2, 0)]
    with town.daemon() as house:
        house.for_a_while(1)
        assert town.outcomes("morning") == ["failed", "done"]


def test_what_failed_long_before_the_daemon_started_is_not_tried_again(town: Town) -> None:
    town.says({"error": "permanent", "message": "not now", "times": 0})
    town.write("jobs/morning.md", job(retry="{max: 1, backoff_seconds: 60}"))
    with town.daemon() as house:
        house.step()
        town.clock.pass_by(minutes=1)
        house.until(lambda: town.outcomes("morning") == ["failed"], "it has failed")
    town.clock.pass_by(hours=3)
    with town.daemon() as house:
        house.for_a_while(2)
        assert town.outcomes("morning") == ["failed"]


def test_a_run_that_goes_on_keeps_the_next_one_off(town: Town) -> None:
    town.says({"text": "At last.", "seconds": 4.0}, after="Soon.")
    town.write("jobs/slow.md", job(EVERY_MINUTE))
    with town.daemon() as house:
        house.step()
        town.clock.pass_by(minutes=1)
        house.until(lambda: any("job slow" in key for key in house.working), "it runs")
        town.clock.pass_by(minutes=1)
        house.until(lambda: "skipped" in town.outcomes("slow"), "the next is skipped")
        (row,) = [each for each in town.rows("slow") if each.outcome == "skipped"]
        assert row.reason == "the run before it had not ended"


def test_it_rests_as_long_as_it_says(town: Town) -> None:
    town.write("jobs/rests.md", job(EVERY_MINUTE, cooldown_seconds=3600))
    with town.daemon() as house:
        house.step()
        town.clock.pass_by(minutes=1)
        town.wait_for(house, "rests", "done")
        town.clock.pass_by(minutes=1)
        town.wait_for(house, "rests", "done", "skipped")


def test_a_run_that_takes_too_long_is_stopped_and_failed(town: Town) -> None:
    town.says({"text": "At last.", "seconds": 30.0}, after="Soon.")
    town.write("jobs/slow.md", job(timeout="2s"))
    with town.daemon() as house:
        house.step()
        town.clock.pass_by(minutes=1)
        town.wait_for(house, "slow", "failed")
        assert "longer than 2 seconds" in town.rows("slow")[0].reason


def test_one_that_needs_a_yes_runs_after_it_and_counts_only_here(town: Town) -> None:
    town.write("jobs/review.md", job(approval_required="true", title="Weekly review"))
    with town.daemon() as house:
        house.step()
        before = town.commits()
        town.clock.pass_by(minutes=1)
        note = town.root / "approvals/job-review-2026-11-23-0900.md"
        house.until(note.exists, "it is asked")
        assert town.outcomes("review") == ["waits"] and "Say hello." in note.read_text("utf-8")
        copied = town.root / "approvals/copy.md"
        write(copied, ticked(note.read_text("utf-8"), "approve"))
        house.for_a_while(2)
        assert town.outcomes("review") == ["waits"], "a note without a record decides nothing"
        write(note, ticked(note.read_text("utf-8"), "approve"))
        town.wait_for(house, "review", "waits", "done")
        house.for_a_while(1)
        own = git(town.root, "log", "--format=%an", f"HEAD~{town.commits() - before}..").splitlines()
        assert sum(each != "Anna" for each in own) <= 3
        assert "Good morning." in town.daily()


def test_a_no_is_written_down(town: Town, capsys: pytest.CaptureFixture[str]) -> None:
    town.write("jobs/review.md", job(approval_required="true"))
    with town.daemon() as house:
        house.step()
        town.clock.pass_by(minutes=1)
        town.wait_for(house, "review", "waits")
        assert main(["--vault", str(town.root), "approvals"]) == 0
        assert "May the job review run?" in capsys.readouterr().out
        assert main(["--vault", str(town.root), "approvals", "no", "review", "--reason", "not this week"]) == 0
        town.wait_for(house, "review", "waits", "refused")
        assert town.rows("review")[1].reason == "not this week"


def test_events_start_jobs_but_not_what_a_job_does(town: Town) -> None:
    town.write("jobs/news.md", job("{event: note.created}", cooldown_seconds=1))
    town.write("jobs/hello.md", job("{event: daemon.started}"))
    with town.daemon() as house:
        town.wait_for(house, "hello", "done")
        write(town.root / "tea/new.md", "# New\n")
        house.until(lambda: "done" in town.outcomes("news"), "a new note was heard")
        town.clock.pass_by(minutes=5)
        house.for_a_while(3)
        assert town.outcomes("news") == ["done"], "its own session is no news"


def test_what_is_wrong_with_a_note_stands_in_it_until_it_is_right(town: Town) -> None:
    note = town.root / "jobs/bad.md"
    wrong = job("{cron: '99 * * * *'}")
    with town.daemon() as house:
        house.step()
        write(note, wrong)
        house.until(lambda: "[!warning]" in note.read_text("utf-8"), "it is said in the note")
        text = note.read_text("utf-8")
        assert text.startswith(wrong) and "`on`: 99 * * * * is no cron expression" in text
        assert "jobs/bad.md" in house.parts.jobs.problem
        write(note, text.replace("99 *", "9 *"))
        house.until(lambda: "[!warning]" not in note.read_text("utf-8"), "the line is gone")
        assert note.read_text("utf-8") == job("{cron: '9 * * * *'}")
        assert house.parts.jobs.shelf.get("bad") is not None


def test_a_run_that_asked_its_person_is_delivered_after_the_answer(town: Town) -> None:
    town.says(call("human_ask", question="Which tea?"), "Green it is.", after="Green it is.")
    town.write("jobs/tea.md", job(title="Tea"))
    with town.daemon() as house:
        house.step()
        town.clock.pass_by(minutes=1)
        town.wait_for(house, "tea", "waits")
        (question,) = open_questions(town.workspace)
        write_answer(town.workspace.vault, question, "green", "en")
        town.wait_for(house, "tea", "waits", "done")
        assert "Green it is." in town.daily()


def test_the_answer_after_a_question_lands_where_the_procedure_puts_it(town: Town) -> None:
    town.says(call("human_ask", question="For whom?"), "Dear Anna, the keys are with Bo.", after="Dear Anna.")
    town.write("keys.md", "# Keys\n\nThe keys are with Bo.\n")
    town.write("jobs/letter.md", job(text="", title="The letter about the keys", task="draft"))
    with town.daemon() as house:
        house.step()
        town.clock.pass_by(minutes=1)
        town.wait_for(house, "letter", "waits")
        (question,) = open_questions(town.workspace)
        write_answer(town.workspace.vault, question, "Anna", "en")
        town.wait_for(house, "letter", "waits", "done")
        assert "Dear Anna" in town.daily()
        commit = git(town.root, "log", "-1", "--format=%H", "--", "jobs/history/letter.md").strip()
        changed = git(town.root, "show", "--format=", "--name-only", commit).split()
        assert any(each.startswith("daily/") for each in changed), "in one commit with its row"


def test_a_daemon_killed_during_a_run_says_so_and_does_not_run_it_again(town: Town) -> None:
    town.write("jobs/morning.md", job())
    with town.daemon() as house:
        house.step()
        key = "morning@2026-11-23T09:00:00Z"
        house.parts.jobs.ledger.begin(key, town.clock.now())  # and then the power went
    town.clock.pass_by(minutes=2)
    with town.daemon() as house:
        town.wait_for(house, "morning", "interrupted")
        house.for_a_while(2)
        assert town.outcomes("morning") == ["interrupted"]
        assert "killed" in town.rows("morning")[0].reason


def test_a_briefing_that_cannot_be_made_has_failed_and_keeps_no_reminder_back(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*given: object, **more: object) -> str:
        raise ValueError("day is out of range for month")

    monkeypatch.setattr("agent.runs.job_run.briefing_of", fails)
    monkeypatch.setattr("agent.background.jobs.worker.briefing_of", fails)
    monkeypatch.delenv("VAULT_AGENT_LLM__WIRE")
    town.write("jobs/brief.md", job(text="Brief me."))
    town.write("jobs/day.md", job(text="What is due today", remind="true"))
    with town.daemon() as house:
        house.step()
        town.clock.pass_by(minutes=2)
        town.wait_for(house, "brief", "failed")
        town.wait_for(house, "day", "done")
        house.until(lambda: "What is due today" in town.daily(), "the reminder is there")
    assert "day is out of range" in town.rows("brief")[0].reason
