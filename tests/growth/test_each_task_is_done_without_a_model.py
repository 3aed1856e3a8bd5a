"""Each kind of task in its plain form: what it leaves in the vault, and that it says that no model was asked."""

from datetime import timedelta
from pathlib import Path

import pytest

from agent.errors import Permanent
from agent.growth.lessons.reflection_notes import reflections_name
from agent.runs.upkeep_jobs import Upkeeper
from agent.schedule.task_notes import load_tasks
from agent.vault.change import Stamp
from tests.growth.work import NOW, YESTERDAY, Office, dated_link, day, entry, office, said
from tests.vaults import write

PLAIN = "No model was asked"
WEEK = {
    **day(YESTERDAY, ("09:10", "Where is my passport?"), ("09:30", "Plan the garden"), ("20:00", "Read on")),
    **day(YESTERDAY - timedelta(days=1), ("09:40", "where is my passport?")),
    **day(YESTERDAY - timedelta(days=2), ("10:05", "Write to Anna")),
}


def is_plain(made: Office, kind: str) -> bool:
    return PLAIN in str(made.done(kind).header["result"]) + made.done(kind).body


def test_explore_topic_quotes_the_vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notes = {"garden.md": "# Garden\n\nThe roses need chalk in spring.\n", "cars.md": "# Cars\n\nThe car is red.\n"}
    made = office(tmp_path, monkeypatch, notes)
    ended = made.do("explore_topic", "Roses")
    assert ended.result.did_something
    note = made.text("research/Roses.md")
    assert (
        "### [[garden]] [1]" in note
        and "1. [[garden]] — your note" in note
        and "The roses need chalk in spring." in note
    )
    assert is_plain(made, "explore_topic")


def test_explore_topic_does_not_quote_what_the_agent_logged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = office(tmp_path, monkeypatch, {"daily/2026-11-21.md": "# 2026-11-21\n\nThe roses have rust.\n"})
    with made.workspace.vault.transaction("memory(daily): a day", Stamp("agent", tool="daily")) as change:
        change.append("daily/2026-11-21.md", b"\n- 09:10 awake: Roses and their soil\n")
    made.do("explore_topic", "Roses")
    report = made.text("research/Roses.md")
    assert "The roses have rust." in report and "awake" not in report


def test_explore_topic_says_if_nothing_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = office(tmp_path, monkeypatch)
    ended = made.do("explore_topic", "Zebrafish")
    assert (ended.status, ended.result.did_something) == ("completed", False)
    assert not (made.root / "research").exists()


def test_upkeep_says_only_what_is_newly_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = office(tmp_path, monkeypatch)
    made.do("upkeep")
    assert not made.do("upkeep").result.did_something
    write(made.root / "broken.md", "---\na: [\n---\n")
    ended = made.do("upkeep")
    assert ended.result.did_something and "broken.md" in ended.text
    assert not made.do("upkeep").result.did_something
    assert "No model" not in ended.text, "nothing of it needs one"


def test_what_is_wrong_is_still_said_after_a_try_that_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = office(tmp_path, monkeypatch)
    made.do("upkeep")
    write(made.root / "broken.md", "---\na: [\n---\n")

    def fails(keeper: Upkeeper) -> None:
        raise Permanent("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(Upkeeper, "run", fails)
        assert made.do("upkeep").status == "failed"
    assert "broken.md" in made.do("upkeep").text


class Ends(list[float]):
    """The waits of a clock, with the first of which a write that goes on ends."""

    def __init__(self, lock: Path) -> None:
        self.lock = lock

    def append(self, seconds: float) -> None:
        self.lock.unlink(missing_ok=True)


def test_a_write_that_goes_on_is_no_trouble(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = office(tmp_path, monkeypatch)
    made.do("upkeep")
    lock = made.root / ".git/index.lock"
    write(lock, "")
    made.clock.slept = Ends(lock)
    assert "lock" not in made.do("upkeep").text and not lock.exists()


def test_a_link_that_leads_nowhere_is_told_without_being_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = office(tmp_path, monkeypatch)
    made.do("upkeep")
    write(made.root / "daily/2026-11-20.md", "# Friday\n\n[[2026-11-19-tea-is-green-abc123]]\n")
    ended = made.do("upkeep")
    assert "“2026-11-19-tea-is-green-abc123”" in ended.text and "[[2026" not in ended.text


@pytest.mark.parametrize("kind", ["upkeep", "self_reflection"])
def test_nothing_to_do_writes_nothing_but_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    made = office(tmp_path, monkeypatch)
    task = made.task(kind)
    before = made.commit_count()
    ended = made.work.do(task)
    assert (ended.status, ended.result.did_something) == ("completed", False)
    assert made.commit_count() == before + 1
    assert made.done(kind).header["result"] == "There was nothing to do."


def test_upkeep_tends_memory_profile_and_patterns_in_silence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    facts = [entry("My blood group is A negative.", YESTERDAY - timedelta(days=back)) for back in range(3)]
    tea = entry("My favourite tea is sencha.", YESTERDAY)
    mine = "---\ntitle: Preferences\n---\n# Preferences\n\nI wrote this line myself.\n"
    old = "---\ntype: question\nstatus: open\nexpires: 2026-11-01T10:00:00+00:00\n---\n# Tea?\n"
    again = day(YESTERDAY - timedelta(days=3), ("18:05", "Do you know where my passport is?"))
    notes = {**WEEK, **again, **said(*facts, tea), "MEMORY.md": "# Long-term memory\n", "questions/tea.md": old}
    field = "\n- **Favourite tea**: [to be filled]\n"
    made = office(tmp_path, monkeypatch, {**notes, "profile/31-preferences.md": mine + field})
    monkeypatch.setenv("VAULT_AGENT_MEMORY__LONG_TERM", "on")
    made.do("upkeep")
    assert "blood group" in made.text("MEMORY.md") and "status: expired" in made.text("questions/tea.md")
    preferences = made.text("profile/31-preferences.md")
    assert preferences.startswith(mine.rstrip("\n")) and f"sencha ({dated_link(tea)})" in preferences
    assert "Asked 3 times: “Where is my passport?”." in made.text("profile/51-patterns-insights.md")
    before = made.commit_count()
    assert not made.do("upkeep").result.did_something and made.commit_count() == before + 2, "the task, and its end"


@pytest.mark.parametrize("kind", ["health_check", "cleanup", "summarize_period", "update_profile"])
def test_what_older_notes_name_is_upkeep_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    made = office(tmp_path, monkeypatch)
    ended = made.do(kind, target_file="profile/31-preferences.md")
    assert (ended.task.kind, ended.status) == ("upkeep", "completed")


def test_a_meeting_is_prepared_from_its_notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notes = {"guide.md": "# Field guide\n\nRui wants to cut the chapter on mosses from the field guide.\n"}
    made = office(tmp_path, monkeypatch, notes)
    ended = made.do("prepare", "Field guide review with Rui")
    assert "cut the chapter on mosses" in ended.text and "([[guide]])" in ended.text
    assert is_plain(made, "prepare") and made.text("guide.md") == notes["guide.md"]


def test_a_look_ahead_plans_to_prepare_the_appointments_of_tomorrow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = {"plans.md": "- 23 November 14:00 review with Rui\n- 25 November 9:00 dentist\n- [ ] Tea 📅 2026-11-23\n"}
    made = office(tmp_path, monkeypatch, notes)
    ended = made.do("self_reflection")
    (planned,) = load_tasks(made.workspace.vault).waiting
    assert (planned.kind, planned.title, planned.description) == ("prepare", "14:00 review with Rui", "[[plans]]")
    assert f"[[{planned.name}]]" in ended.text
    assert not (made.root / reflections_name(NOW.date())).exists(), "without a model nothing is thought"
    made.clock.advance(3600)
    assert not made.do("self_reflection").result.did_something, "it is planned already"
