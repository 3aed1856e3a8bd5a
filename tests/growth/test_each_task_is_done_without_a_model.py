"""Each kind of task in its plain form: what it leaves in the vault, and that it says that no model was asked."""

from datetime import timedelta
from pathlib import Path

import pytest

from agent.growth.curiosity.look import settle
from agent.growth.lessons.reflection_notes import reflections_name
from agent.schedule.task_notes import load_tasks
from agent.vault.change import Stamp
from agent.vault.health.packing import is_packing_due
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


def test_update_profile_fills_the_fields_that_were_stated_and_guesses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said_so = entry("My favourite tea is sencha.", YESTERDAY)
    other = entry("I prefer tea without sugar.", YESTERDAY)
    mine = "---\ntitle: Preferences\n---\n# Preferences\n\nI wrote this line myself.\n"
    field = "\n- **Favourite tea**: [to be filled]\n"
    made = office(tmp_path, monkeypatch, {**said(said_so, other), "profile/31-preferences.md": mine + field})
    ended = made.do("update_profile", target_file="31-preferences")
    assert ended.status == "completed" and ended.did_something
    note = made.text("profile/31-preferences.md")
    assert note.startswith(mine.rstrip("\n")), "no line of the person's is touched"
    assert f"- **Favourite tea**: sencha ({dated_link(said_so)})" in note
    assert "sugar" not in note
    assert is_plain(made, "update_profile")
    made.clock.advance(90_000)
    assert not made.do("update_profile", target_file="31-preferences").did_something, "nothing is filled twice"


def test_consolidate_tends_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    facts = [entry("My blood group is A negative.", YESTERDAY - timedelta(days=back)) for back in range(3)]
    made = office(tmp_path, monkeypatch, {**said(*facts), "MEMORY.md": "# Long-term memory\n"})
    monkeypatch.setenv("VAULT_AGENT_MEMORY__LONG_TERM", "on")
    ended = made.do("consolidate")
    assert ended.did_something
    assert "blood group" in made.text("MEMORY.md")
    assert made.actors()[:2] == ["job:task/consolidate", "job:task/consolidate"]


def test_discover_patterns_writes_what_repeats_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    again = day(YESTERDAY - timedelta(days=3), ("18:05", "Do you know where my passport is?"))
    made = office(tmp_path, monkeypatch, {**WEEK, **again})
    assert made.do("discover_patterns").did_something
    insights = made.text("profile/51-patterns-insights.md")
    assert "## What repeats" in insights and "Asked 3 times: “Where is my passport?”." in insights
    assert "[[2026-11-21]] [[2026-11-20]] [[2026-11-18]] ^pattern-" in insights
    assert "  - [ ] helpful\n  - [ ] not helpful\n" in insights
    assert is_plain(made, "discover_patterns")
    assert not made.do("discover_patterns").did_something
    assert made.text("profile/51-patterns-insights.md") == insights


def test_learn_from_history_says_what_yesterday_was_about(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fact = entry("Ida moves to Oslo in May.", YESTERDAY)
    made = office(tmp_path, monkeypatch, {**WEEK, **said(fact)})
    ended = made.do("learn_from_history")
    assert "What you asked on 2026-11-21:" in ended.text and "“Plan the garden”" in ended.text
    assert f"“Ida moves to Oslo in May.” ({fact.link})" in made.done("learn_from_history").body


def test_a_day_is_summed_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = office(tmp_path, monkeypatch, {**day(NOW, ("09:10", "Plan the garden")), **said(entry("I like figs.", NOW))})
    assert made.do("summarize_period", "Sum up the day").did_something
    note = made.text("daily/2026-11-22.md")
    assert "## Summary of the day" in note and "I like figs." in note
    assert not made.do("summarize_period", "Sum up the day").did_something


def test_a_week_is_summed_up_with_links_to_its_days(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fact = entry("I planted three roses.", YESTERDAY)
    made = office(tmp_path, monkeypatch, {**WEEK, **said(fact)})
    made.do("summarize_period", "Sum up the week")
    note = made.text("daily/2026-W47.md")
    assert "### [[2026-11-21]]" in note and f"“I planted three roses.” ({fact.link})" in note
    assert "Tasks × 3: “Where is my passport?”, “Plan the garden”, “Read on”" in note


def test_explore_topic_quotes_the_vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notes = {"garden.md": "# Garden\n\nThe roses need chalk in spring.\n", "cars.md": "# Cars\n\nThe car is red.\n"}
    made = office(tmp_path, monkeypatch, notes)
    ended = made.do("explore_topic", "Roses")
    assert ended.did_something
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
    assert (ended.status, ended.did_something) == ("completed", False)
    assert not (made.root / "research").exists()


def test_a_chinese_question_names_the_note_in_chinese(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    profile = "---\ntype: profile\ntitle: 基本信息\n---\n# 基本信息\n\n- **生日**: [待填充]\n"
    made = office(tmp_path, monkeypatch, {"profile/00-basic-info.md": profile}, language="zh")
    assert made.do("fill_gap", target_file="00-basic-info").did_something
    (question,) = (made.root / "questions").glob("*.md")
    assert "# 生日（基本信息）？" in question.read_text("utf-8")


def test_fill_gap_asks_in_a_note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    profile = "# Basic information\n\n- **Name**: Ida\n- **Birthday**: [to be filled]\n- **Work**: [to be filled]\n"
    made = office(tmp_path, monkeypatch, {"profile/00-basic-info.md": profile})
    assert made.do("fill_gap", target_file="00-basic-info").did_something
    (question,) = (made.root / "questions").glob("*.md")
    words = question.read_text("utf-8")
    assert "# Birthday (Basic information)?" in words and "[[profile/00-basic-info]]" in words and "## Answer" in words
    made.do("fill_gap", target_file="00-basic-info")
    assert len(list((made.root / "questions").glob("*.md"))) == 2, "the next gap, not the same one again"
    assert not made.do("fill_gap", target_file="00-basic-info").did_something, "two wait already"
    assert made.text("profile/00-basic-info.md") == profile


def test_fill_gap_knows_the_fields_of_a_note_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = office(tmp_path, monkeypatch)
    assert made.do("fill_gap", target_file="00-basic-info").did_something
    (question,) = (made.root / "questions").glob("*.md")
    assert "# Name (Basic information)?" in question.read_text("utf-8")
    assert not (made.root / "profile").exists()


def test_the_answer_to_a_gap_fills_the_field_that_lacks_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    profile = "# Basic information\n\n- **Name**: Ida\n- **Birthday**: [to be filled]\n"
    made = office(tmp_path, monkeypatch, {"profile/00-basic-info.md": profile})
    made.do("fill_gap", target_file="00-basic-info")
    (question,) = (made.root / "questions").glob("*.md")
    assert "Without an answer: It stays open." in question.read_text("utf-8")
    question.write_text(question.read_text("utf-8") + "3 May\n", "utf-8")
    made.workspace.vault.commit_human()
    settle(made.workspace, lambda event: None)
    (entry,) = (made.root / "entries").rglob("*-3-may-*.md")
    assert f"- **Birthday**: 3 May ([[{entry.stem}|" in made.text("profile/00-basic-info.md")


def test_nothing_is_asked_to_fill_a_form(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fact = entry("I prefer tea.", YESTERDAY + timedelta(hours=1))
    gap = {"profile/00-basic-info.md": "# Basic\n\n- Birthday: [to be filled]\n"}
    made = office(tmp_path, monkeypatch, {**said(fact), **gap})
    made.do("self_reflection")
    assert not any(each.kind == "fill_gap" for each in load_tasks(made.workspace.vault).waiting)
    assert not made.do("fill_gap").did_something, "only for the note that its person names"
    assert not (made.root / "questions").exists()


def test_enough_open_questions_keep_the_next_one_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fields = "\n".join(f"- **Field {number}**: [to be filled]" for number in range(4))
    made = office(tmp_path, monkeypatch, {"profile/00-basic-info.md": f"# Basic information\n\n{fields}\n"})
    ended = [made.do("fill_gap", target_file="00-basic-info").did_something for _ in range(3)]
    assert ended == [True, True, False] and len(list((made.root / "questions").glob("*.md"))) == 2


def test_health_check_says_only_what_is_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = office(tmp_path, monkeypatch)
    made.do("health_check")
    assert not made.do("health_check").did_something
    write(made.root / "broken.md", "---\na: [\n---\n")
    ended = made.do("health_check")
    assert ended.did_something and "broken.md" in ended.text
    assert not made.do("health_check").did_something
    (made.root / "broken.md").unlink()
    assert "gone" in made.do("health_check").text


class Ends(list[float]):
    """The waits of a clock, with the first of which a write that goes on ends."""

    def __init__(self, lock: Path) -> None:
        self.lock = lock

    def append(self, seconds: float) -> None:
        self.lock.unlink(missing_ok=True)


def test_a_write_that_goes_on_is_no_trouble(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = office(tmp_path, monkeypatch)
    made.do("health_check")
    lock = made.root / ".git/index.lock"
    write(lock, "")
    made.clock.slept = Ends(lock)
    assert "lock" not in made.do("health_check").text and not lock.exists()


def test_a_link_that_leads_nowhere_is_told_without_being_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = office(tmp_path, monkeypatch)
    made.do("health_check")
    write(made.root / "daily/2026-11-20.md", "# Friday\n\n[[2026-11-19-tea-is-green-abc123]]\n")
    ended = made.do("health_check")
    assert "“2026-11-19-tea-is-green-abc123”" in ended.text and "[[2026" not in ended.text


def test_cleanup_closes_what_expired(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = "---\ntype: question\nstatus: open\nexpires: 2026-11-01T10:00:00+00:00\n---\n# Tea?\n"
    made = office(tmp_path, monkeypatch, {"questions/tea.md": old})
    monkeypatch.setenv("VAULT_AGENT_SCHEDULE__TASKS_KEPT", "1")
    for _ in range(2):
        made.do("health_check")
    ended = made.do("cleanup")
    assert ended.did_something and "status: expired" in made.text("questions/tea.md")
    assert not is_packing_due(made.workspace.vault)


def test_self_reflection_plans_by_rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    facts = [entry(f"I prefer tea number {n}.", YESTERDAY + timedelta(hours=n + 1)) for n in range(4)]
    gap = {"profile/00-basic-info.md": "# Basic\n\n- Birthday: [to be filled]\n"}
    made = office(tmp_path, monkeypatch, {**WEEK, **said(*facts), **gap})
    before = made.commit_count()
    ended = made.do("self_reflection")
    assert made.commit_count() == before + 2, "the task as it was written, and all that came of it"
    assert not (made.root / reflections_name(NOW.date())).exists(), "without a model nothing is thought"
    planned = load_tasks(made.workspace.vault).waiting
    assert 1 <= len(planned) <= 5
    assert {each.kind for each in planned} >= {"learn_from_history", "summarize_period", "update_profile"}
    assert all(f"[[{each.name}]]" in ended.text for each in planned)
    assert is_plain(made, "self_reflection") and ended.text
    made.clock.advance(3600)
    assert not made.do("self_reflection").did_something, "nothing has happened since"


@pytest.mark.parametrize("kind", ["update_profile", "consolidate", "discover_patterns", "learn_from_history",
                                  "summarize_period", "self_reflection", "cleanup"])  # fmt: skip
def test_nothing_to_do_writes_nothing_but_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    made = office(tmp_path, monkeypatch)
    task = made.task(kind)
    before = made.commit_count()
    ended = made.work.do(task)
    assert (ended.status, ended.did_something) == ("completed", False)
    assert made.commit_count() == before + 1
    assert made.done(kind).header["result"] == "There was nothing to do."


def test_a_chinese_vault_is_told_in_chinese(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fact = entry("我叫安娜。", YESTERDAY)
    made = office(tmp_path, monkeypatch, said(fact), language="zh")
    made.do("update_profile", "名字", target_file="00-basic-info")
    assert f"- **姓名**: 安娜 ({dated_link(fact)})" in made.text("profile/00-basic-info.md")
    assert "没有询问模型" in str(made.done("update_profile").header["result"])
