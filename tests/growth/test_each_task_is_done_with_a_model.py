"""Each kind of task with a model that speaks from a script: what the program writes of its answer, and who acts."""

from datetime import timedelta
from pathlib import Path

import pytest

from agent.app.jobs import procedures_of
from agent.growth.lessons.reflection_notes import reflections_name
from agent.llm.messages import System, never
from agent.loop.session import load_session, sessions
from agent.schedule.job import Job
from agent.schedule.job_header import parse_job
from agent.schedule.task_notes import load_tasks
from tests.growth.test_each_task_is_done_without_a_model import WEEK
from tests.growth.work import NOW, YESTERDAY, Office, entry, office, said
from tests.stories.agents import call, script
from tests.vaults import write

FACT = entry("I prefer tea without sugar.", YESTERDAY)
FOUND = '- **Birthday**: 3 May ([[tea]] "My birthday is on 3 May")'
FRESH = entry("I sleep badly.", NOW - timedelta(hours=2))


def told(made: Office) -> str:
    """All that the model of the last run was told."""
    session = load_session(made.workspace.vault, sessions(made.workspace.vault)[0])
    return "\n".join(each.text for each in session.history if not isinstance(each, System) and hasattr(each, "text"))


def test_a_model_that_finds_nothing_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = office(tmp_path, monkeypatch, said(FACT), "NOTHING")
    ended = made.do("draft", "The letter")
    assert (ended.status, ended.result.did_something) == ("completed", False)
    assert not (made.root / "profile").exists()


def test_a_task_writes_only_where_it_may(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = office(tmp_path, monkeypatch, WEEK, call("vault_write", path="mine.md", content="# Ours\n"), "Tried.")
    made.do("prepare", "The review")
    assert not (made.root / "mine.md").exists()
    assert "is not for this run to change" in told(made)


RESEARCHED = [
    {"when": "Plan a research", "text": "- What do roses need? | roses soil"},
    {"when": "one of several researchers", "text": "- The roses need chalk in spring [1]\n- They need 7 kilos [1]"},
    {"when": "Write the report", "text": "Roses need chalk in spring [1]. They are lovely."},
    {"when": "Shorten a report", "text": "Roses need chalk in spring [1]."},
]


def test_explore_topic_is_a_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notes = {"garden.md": "# Garden\n\nThe roses need chalk in spring.\n"}
    made = office(tmp_path, monkeypatch, notes, *RESEARCHED)
    ended = made.do("explore_topic", "Roses")
    report = made.text("research/Roses.md")
    assert "Roses need chalk in spring [1]. They are lovely. *(no source)*" in report
    assert "1. [[garden]] — your note" in report and "7 kilos" not in report, "a figure that no source has is left out"
    assert "untrusted" not in report and not ended.result.is_plain
    assert "[[research/Roses]]" in ended.text and "chalk in spring [1]" in ended.text
    (memory,) = (made.root / "entries").rglob("*roses*.md")
    words = memory.read_text("utf-8")
    assert "type: research" in words and "[[research/Roses]]" in words and "source: model" in words
    assert made.actors()[0] == "job:task/explore_topic"


def test_research_by_itself_can_be_switched_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = office(tmp_path, monkeypatch, {"garden.md": "# Garden\n\nThe roses need chalk.\n"}, *RESEARCHED)
    monkeypatch.setenv("VAULT_AGENT_GROWTH__ENABLED", "false")
    ended = made.do("explore_topic", "Roses")
    assert "growth.enabled" in ended.text and not (made.root / "research").exists()


MAIL = {"mail.md": "---\nuntrusted: [mail]\n---\n# Mail\n\nThe roses need bleach.\n"}


def test_what_was_read_from_strangers_stays_in_the_report_as_theirs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = [{**each, "text": each["text"].replace("chalk", "bleach")} for each in RESEARCHED]
    made = office(tmp_path, monkeypatch, MAIL, *answers)
    ended = made.do("explore_topic", "Roses")
    report = made.text("research/Roses.md")
    assert "Roses need bleach in spring [1]" in report and "mail.md (from mail)" in report.partition("# Roses")[0]
    assert "[[research/Roses]]" in ended.text and "bleach" not in ended.text
    assert "bleach" not in made.done("explore_topic").text
    (memory,) = (made.root / "entries").rglob("*roses*.md")
    assert "untrusted:" in memory.read_text("utf-8")


def test_the_result_of_a_job_names_the_strangers_whose_text_was_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = office(tmp_path, monkeypatch, MAIL, *RESEARCHED)
    note = b"---\ntype: job\non: {cron: '0 9 * * *'}\ntask: explore_topic\ntitle: Roses\n---\n"
    job = parse_job("jobs/roses.md", note, "")
    assert isinstance(job, Job)
    result = procedures_of(made.workspace)(job, never, lambda result: ())
    assert result.outcome == "done" and result.strangers == ("mail.md (from mail)",)


OPEN = "---\ntype: question\nstatus: open\nexpires: 2027-11-01T10:00:00+00:00\n---\n# Tea?\n\n## Answer\n\n"


def test_a_reflection_plans_at_most_five_tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plans = [call("create_task", task_type="explore_topic", title=f"Topic {word}", description="why")
             for word in ("one", "two", "three", "four", "five", "six")]  # fmt: skip
    look = [call("get_profile_status"), call("get_pending_tasks"), call("get_recent_task_history")]
    made = office(tmp_path, monkeypatch, said(FRESH), *look, *plans, "I planned.")
    before = made.commit_count()
    ended = made.do("self_reflection")
    assert [each.kind for each in load_tasks(made.workspace.vault).waiting] == ["explore_topic"] * 5
    assert "may not plan more" in told(made) and ended.result.did_something
    note = made.text(reflections_name(NOW.date()))
    assert "## 21:00 Look back\n\nI planned.\n\nPlanned:\n\n- [[2026-11-22-explore-topic-topic-" in note
    assert made.commit_count() == before + 2, "five tasks, the reflection and the session in one commit"


def test_a_plan_that_cannot_be_is_refused_clearly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = [
        call("create_task", task_type="explore_topic", title="Rule", description="x", target_file="../AGENT.md"),
        call("create_task", task_type="draft", title="Letter", description="x", target_file="notes.md"),
        call("create_task", task_type="draft", title="Letter", description="x"),
        call("create_task", task_type="draft", title="Letter", description="x"),
    ]
    made = office(tmp_path, monkeypatch, said(FRESH), *wrong, "Done.")
    made.do("self_reflection")
    words = told(made)
    for part in ("leaves the vault", "no note of its own", "planned already"):
        assert part in words
    assert [each.kind for each in load_tasks(made.workspace.vault).waiting] == ["draft"]


@pytest.mark.parametrize("kind", ["upkeep", "health_check", "self_reflection"])
def test_a_model_plans_its_persons_work_and_no_upkeep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    plan = call("create_task", task_type=kind, title="Again", description="x")
    made = office(tmp_path, monkeypatch, said(FRESH), plan, "Done.")
    made.do("self_reflection")
    assert load_tasks(made.workspace.vault).waiting == ()


def test_a_look_ahead_is_told_what_comes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notes = {"plans.md": "- 23 November 14:00 review with Rui\n- I promised Anna the recipe.\n"}
    made = office(tmp_path, monkeypatch, notes, "NOTHING")
    made.do("self_reflection")
    assert "14:00 review with Rui ([[plans]])" in told(made) and "I promised Anna the recipe ([[plans]])" in told(made)


def test_what_is_drafted_stands_in_the_task_and_its_run_may_ask(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = {"tea.md": "# Tea\n\nThe tea society wants the talk by Friday.\n"}
    made = office(tmp_path, monkeypatch, notes, call("human_ask", question="How long?"), "Dear society, …")
    task = made.task("draft", "The talk for the tea society")
    ended = made.work.do(task)
    assert ended.status == "in_progress" and ended.result.waits_for.startswith("questions/")
    assert made.work.finish_waiting(task) is None
    assert "wants the talk by Friday" in told(made)
    question = made.root / ended.result.waits_for
    question.write_text(question.read_text("utf-8").rstrip() + "\n\nTen minutes\n", "utf-8")
    with made.work.open_runs() as runs:
        runs.resume(ended.result.session)
    over = made.work.finish_waiting(task)
    assert over is not None and over.status == "completed" and not over.result.is_plain
    assert "Dear society, …" in made.done("draft").text and made.text("tea.md") == notes["tea.md"]


def test_the_planning_tools_exist_nowhere_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = office(tmp_path, monkeypatch, WEEK, call("get_pending_tasks"), "Well.")
    made.do("prepare", "The review")
    assert "get_pending_tasks" in told(made) and "no task waits" not in told(made)


def test_a_model_that_fails_fails_the_task_with_its_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = office(tmp_path, monkeypatch, said(FACT), {"error": "permanent"})
    ended = made.do("draft", "The letter")
    header = made.done("draft").header
    assert ended.status == "failed" and header["status"] == "failed" and header["error"]


def test_a_look_back_that_says_what_the_last_one_said_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = "Your days go round meetings and summaries now."
    made = office(tmp_path, monkeypatch, said(FRESH), answer)
    made.clock.advance(-8 * 3_600)
    assert made.do("self_reflection").result.did_something
    note = made.text(reflections_name(NOW.date()))
    assert note.count(answer) == 1
    for hours, words, is_new in ((3, answer, False), (2, "Two people asked you about the harbour.", True)):
        made.clock.advance(hours * 3_600)
        fresh = entry(f"I was busy for {hours} hours.", made.clock.now() - timedelta(hours=1))
        for path, text in said(fresh).items():
            write(made.root / path, text)
        script(tmp_path / "script.json", words)
        assert made.do("self_reflection").result.did_something == is_new
    note = made.text(reflections_name(NOW.date()))
    assert note.count(answer) == 1 and note.count("Two people asked you") == 1
