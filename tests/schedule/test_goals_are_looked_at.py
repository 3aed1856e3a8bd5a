"""Goals: which notes are looked at, when, and what the job asks."""

import pytest

from agent.schedule.job import Job, JobProblem
from agent.schedule.shelf import GOALS_NOTE, goal_job
from agent.schedule.triggers import Cron
from agent.texts import Language, translated
from agent.vault.folders import AT_ROOT, AgentFolder

UNDER = AgentFolder("Agent/")


def goal(
    header: str, path: str = "goals/Run a marathon.md", home: AgentFolder = AT_ROOT, language: Language = "en"
) -> Job | JobProblem | None:
    return goal_job(path, f"---\n{header}\n---\n- [ ] run 10 km\n- [x] buy shoes\n".encode(), home, language, "abc")


@pytest.mark.parametrize(
    ("review", "cron"),
    [("daily", "0 9 * * *"), ("Weekly", "0 9 * * 1"), ("monthly", "0 9 1 * *"), ("'30 18 * * 5'", "30 18 * * 5")],
)
def test_a_goal_is_looked_at_as_often_as_its_note_says(review: str, cron: str) -> None:
    job = goal(f"type: goal\nreview: {review}")
    assert isinstance(job, Job)
    assert (job.triggers, job.source, job.status, job.digest) == ((Cron(cron),), "goal", "active", "abc")
    assert (job.title, job.path) == ("Goal: Run a marathon", "goals/Run a marathon.md")


def test_its_job_asks_for_progress_what_is_late_and_what_is_next() -> None:
    english, chinese = goal("type: goal\nreview: weekly"), goal("type: goal\nreview: weekly", language="zh")
    assert isinstance(english, Job)
    assert isinstance(chinese, Job)
    for words in ("[[goals/Run a marathon]]", "how far", "late", "next"):
        assert words in english.text
    assert "[[goals/Run a marathon]]" in chinese.text
    assert "关键结果" in chinese.text
    assert english.id == chinese.id


def test_its_job_keeps_its_id_by_the_note_s_own() -> None:
    first, second = (goal("type: goal\nid: g1\nreview: weekly", path) for path in ("a.md", "b.md"))
    assert isinstance(first, Job)
    assert isinstance(second, Job)
    assert first.id == second.id == "goal-g1"


def test_fields_of_a_job_count_in_a_goal_too() -> None:
    fields = "timezone: Asia/Shanghai\npriority: 8\nspend: 0.1\non: {every: 1m}\ntask: cleanup"
    job = goal(f"type: goal\nreview: weekly\n{fields}")
    assert isinstance(job, Job)
    assert (job.zone_name, job.priority, job.spend, job.task) == ("Asia/Shanghai", 8, 0.1, None)
    assert job.triggers == (Cron("0 9 * * 1"),)


@pytest.mark.parametrize(
    "header",
    [
        "type: goal",
        "type: goal\nreview:",
        "type: goal\nreview: off",
        "type: idea\nreview: weekly",
        "review: weekly",
        "type: goal\nreview: weekly\nstatus: done",
        "type: goal\nreview: weekly\nstatus: Paused",
    ],
)
def test_other_notes_start_nothing(header: str) -> None:
    assert goal(header) is None


@pytest.mark.parametrize("folder", ["sessions", "inbox", "jobs", "entries", "archive", "daily"])
def test_a_note_in_the_agent_s_folders_is_no_goal(folder: str) -> None:
    assert goal("type: goal\nreview: weekly", f"{folder}/a.md") is None


def test_the_profile_s_note_of_goals_counts_without_a_type() -> None:
    assert isinstance(goal("review: monthly", GOALS_NOTE), Job)
    assert isinstance(goal("review: monthly", f"Agent/{GOALS_NOTE}", UNDER), Job)
    assert goal("layer: 2", GOALS_NOTE) is None
    assert goal("review: monthly", GOALS_NOTE, UNDER) is None


@pytest.mark.parametrize("review", ["often", "3", "true", "'* * * * *'", "'*/5 9 * * *'", "'0 9,18 * * *'", "[weekly]"])
def test_a_wrong_or_too_frequent_time_is_a_problem_that_names_its_field(review: str) -> None:
    problem = goal(f"type: goal\nreview: {review}")
    assert isinstance(problem, JobProblem)
    assert (problem.path, problem.key) == ("goals/Run a marathon.md", "review")
    assert translated(problem.message, "zh") != problem.message


def test_a_wrong_zone_is_a_problem_too() -> None:
    problem = goal("type: goal\nreview: weekly\ntimezone: Mars/Olympus")
    assert isinstance(problem, JobProblem)
    assert problem.key == "timezone"
