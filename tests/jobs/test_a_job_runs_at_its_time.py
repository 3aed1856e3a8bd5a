"""A day with the daemon and its jobs, as their person sees it: in the day's note, in histories, in the log."""

from pathlib import Path

import pytest

from agent.app.notice_ledger import open_ledger
from agent.attention.receipt import notice_code
from agent.loop.session import load_session
from tests.jobs.town import Town, found, job
from tests.vaults import git, write


@pytest.fixture
def town(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Town:
    return found(tmp_path, monkeypatch.setenv, briefing=job(title="Morning briefing"))


def test_the_answer_is_in_the_days_note_and_the_run_in_the_history(town: Town) -> None:
    with town.daemon() as house:
        house.step()
        before = town.commits()
        town.clock.pass_by(minutes=2)
        town.wait_for(house, "briefing", "done")
        (row,) = town.rows("briefing")
        assert "## Morning briefing (09:01)\n\nGood morning." in town.daily()
        assert row.delivery == "daily/2026-11-23.md" and row.session.startswith("sessions/")
        assert (town.root / row.session).exists() and row.planned.isoformat() == "2026-11-23T09:00:00+00:00"
        house.for_a_while(2)
        assert town.outcomes("briefing") == ["done"], "once"
        assert town.commits() - before <= 3
        assert git(town.root, "log", "-1", "--format=%(trailers:key=Vault-Actor,valueonly)").strip() == "job:briefing"


def test_a_job_written_in_an_editor_holds_at_once_and_so_does_its_end(town: Town) -> None:
    with town.daemon() as house:
        house.step()
        write(town.root / "jobs/new.md", job("{cron: '1 9 * * *'}"))
        house.until(lambda: house.parts.jobs.shelf.get("new") is not None, "it is known")
        (town.root / "jobs/briefing.md").unlink()
        house.until(lambda: house.parts.jobs.shelf.get("briefing") is None, "it is gone")
        town.clock.pass_by(minutes=3)
        town.wait_for(house, "new", "done")
        assert town.outcomes("briefing") == []


def test_a_job_with_a_procedure_does_its_work_in_one_commit(town: Town) -> None:
    town.write("jobs/look.md", job(text="", title="Topics", task="explore_topic"))
    town.write("jobs/briefing.md", job("{cron: '0 1 * * *'}"))
    town.write("tea.md", "# Topics\n\nTopics of tea.\n")
    town.says(*["- Topics of tea. [1]"] * 8)
    with town.daemon() as house:
        house.step()
        before = town.commits()
        town.clock.pass_by(minutes=1)
        town.wait_for(house, "look", "done")
        house.for_a_while(1)
        assert town.commits() - before <= 3
        (row,) = town.rows("look")
        assert row.delivery == "daily/2026-11-23.md" and "## Topics (09:00)" in town.daily()


def test_a_job_is_given_no_skill_by_guess_but_may_read_those_it_knows_of(town: Town) -> None:
    town.write("jobs/briefing.md", job(text="Brief me for the day: write a one-page briefing of my notes."))
    town.says("Good morning.", after="Good morning.")
    with town.daemon() as house:
        house.step()
        town.clock.pass_by(minutes=2)
        town.wait_for(house, "briefing", "done")
    session = load_session(town.workspace.vault, town.rows("briefing")[0].session)
    assert not any("## Skill:" in each.text for each in session.history)
    assert "- `research-briefing`:" in session.system, "the list of skills"


@pytest.mark.parametrize("more", [{"text": "Brief me."}, {"text": "", "task": "upkeep"}])
def test_without_a_model_each_answer_reaches_its_channel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: dict[str, str]
) -> None:
    town = found(tmp_path, monkeypatch.setenv, daily=job(channel="mail", **more))
    monkeypatch.delenv("VAULT_AGENT_LLM__WIRE")
    with town.daemon() as house:
        house.step()
        write(town.root / "a.md", "---\na: [\n---\n")
        town.clock.pass_by(minutes=2)
        house.until(lambda: town.outcomes("daily") == ["done"], "the first day's")
        write(town.root / "b.md", "---\na: [\n---\n")
        town.clock.pass_by(hours=23, minutes=59, seconds=10)
        house.until(lambda: town.outcomes("daily") == ["done", "done"], "the second day's, a little earlier")
        house.until(lambda: not house.parts.jobs.runs, "all is written")
    sent = [each for each in open_ledger(town.workspace).all() if each.raised.type == "job_answer"]
    assert [each.decision.decided for each in sent] == ["sent", "sent"]
    assert all(notice_code(each.id) in row.delivery for each, row in zip(sent, town.rows("daily"), strict=True))
