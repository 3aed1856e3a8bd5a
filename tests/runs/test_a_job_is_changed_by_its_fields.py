"""A job is changed by the fields of a form: one commit, only what was changed, only from the version that was seen."""

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agent.app.open import open_workspace
from agent.errors import NoteGone, UserError
from agent.markdown.note import Note
from agent.runs.job_edits import (
    JobForm,
    StaleForm,
    WrongInput,
    add_job,
    changed_job,
    job_in_form,
    save_job,
)
from agent.schedule.job import PROBLEM
from agent.schedule.job_header import parse_job, task_text
from agent.schedule.new_job import with_task_text, with_title
from agent.schedule.triggers import At, Cron
from agent.workspace.workspace import Workspace
from tests.remotes import shared_with_mallory
from tests.stories.agents import furnish
from tests.vaults import git, write

JOB = """\
---
type: job
# why it is so early
on: {cron: "30 2 * * *"}   # before the backup
timezone: Asia/Tokyo
retry: {max: 2, backoff_seconds: 60}
mine: 1
---
# Night

Say hello.
"""


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    root = furnish(tmp_path, monkeypatch.setenv, tmp_path / "script.json")
    write(root / "jobs/night.md", JOB)
    git(root, "add", "-A")
    git(root, "commit", "-qm", "jobs")
    return open_workspace(root)


def note(workspace: Workspace, path: str = "jobs/night.md") -> str:
    return (workspace.vault.place.root / path).read_text("utf-8")


def test_a_form_that_was_not_changed_changes_nothing(workspace: Workspace) -> None:
    found = job_in_form(workspace, "night")
    assert found.form == JobForm("Night", "30 2 * * *", "Asia/Tokyo", "Say hello.", False, "", "", "2", "")
    assert save_job(workspace, found.path, found.base, found.form) is None
    assert note(workspace) == JOB


def test_what_was_changed_is_one_commit_in_the_person_s_name_and_the_rest_stays(workspace: Workspace) -> None:
    found = job_in_form(workspace, "night")
    form = JobForm("Nightly", "every weekday at 9", "Asia/Tokyo", "Say hello.\r\n\r\nTwice.\r\n", True)
    outcome = save_job(workspace, found.path, found.base, form)
    assert outcome is not None and outcome.commit
    root = workspace.vault.place.root
    assert git(root, "log", "-1", "--format=%s").strip() == "job(edit): night"
    assert git(root, "log", "-1", "--format=%(trailers:key=Vault-Actor,valueonly)").strip() in {"", "human"}
    written = note(workspace)
    for line in ("# why it is so early", "retry: {max: 2, backoff_seconds: 60}", "mine: 1", "timezone: Asia/Tokyo"):
        assert line in written.splitlines()
    assert written.endswith("---\n# Nightly\n\nSay hello.\n\nTwice.\n")
    job = parse_job("jobs/night.md", written.encode())
    assert getattr(job, "triggers", ()) == (Cron("0 9 * * 1-5"),) and getattr(job, "approval_required", False)


def test_the_zone_that_the_words_name_is_the_job_s_and_an_empty_one_this_machine_s(workspace: Workspace) -> None:
    made = changed_job(workspace, "night", JobForm(when="daily at 7 Europe/Lisbon", zone="Asia/Tokyo"))
    assert made.job.zone.key == "Europe/Lisbon"
    assert b"timezone" not in changed_job(workspace, "night", JobForm(when="30 2 * * *", zone="")).data
    assert note(workspace) == JOB


@pytest.mark.parametrize(
    ("form", "field", "says", "hint"),
    [
        (JobForm(when="0 25 * * *", zone=""), "when", "no cron expression", "02:30"),
        (JobForm(when="", zone=""), "when", "nothing says when", "every weekday"),
        (JobForm(when="daily at 8", zone="Mars/Base"), "zone", "no such time zone: Mars/Base", "Europe/Berlin"),
        (JobForm(when="at 2001-01-01 08:00", zone=""), "when", "that time is over", "still to come"),
    ],
)
def test_what_a_job_cannot_be_names_its_field_and_what_to_write(
    workspace: Workspace, form: JobForm, field: str, says: str, hint: str
) -> None:
    found = job_in_form(workspace, "night")
    with pytest.raises(WrongInput) as caught:
        save_job(workspace, found.path, found.base, form)
    assert caught.value.field == field and says in caught.value.message and hint in caught.value.hint
    with pytest.raises(WrongInput):
        add_job(workspace, JobForm("x", form.when, form.zone, "y", False))
    assert note(workspace) == JOB


def test_a_form_of_an_older_version_is_refused_with_both_versions(workspace: Workspace) -> None:
    found = job_in_form(workspace, "night")
    later = JOB.replace("Say hello.", "Say good night.")
    write(workspace.vault.place.root / "jobs/night.md", later)
    form = JobForm("Night", "daily at 4", "Asia/Tokyo", "Say hello.", False)
    with pytest.raises(StaleForm) as caught:
        save_job(workspace, found.path, found.base, form)
    assert caught.value.current == later and "cron: 0 4 * * *" in caught.value.sent
    assert "Say hello." in caught.value.sent and note(workspace) == later
    assert save_job(workspace, found.path, caught.value.base, form) is not None
    assert "Say hello." in note(workspace)
    (workspace.vault.place.root / "jobs/night.md").unlink()
    with pytest.raises((NoteGone, UserError)):
        save_job(workspace, found.path, caught.value.base, form)


def test_a_note_that_cannot_run_is_mended(workspace: Workspace) -> None:
    broken = JOB.replace("30 2", "99 2").replace("\n\nSay", f"\n{PROBLEM}wrong\n\nSay")
    write(workspace.vault.place.root / "jobs/night.md", broken)
    found = job_in_form(workspace, "jobs/night.md")
    assert found.problem is not None and found.problem.key == "on" and found.form.when == "99 2 * * *"
    assert found.form.text == "Say hello."
    save_job(workspace, found.path, found.base, JobForm(when="30 2 * * *", zone="Asia/Tokyo", text="Say it."))
    assert "vault-agent:" not in note(workspace) and job_in_form(workspace, "night").problem is None


def test_a_goal_and_what_arrived_are_not_changed_here(workspace: Workspace, tmp_path: Path) -> None:
    root = workspace.vault.place.root
    write(root / "goals/run.md", "---\ntype: goal\nreview: weekly\n---\n# Run\n\nTen miles.\n")
    with pytest.raises(UserError, match="is the goal in goals/run.md"):
        job_in_form(workspace, "goals/run.md")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "goal")
    mallory = shared_with_mallory(root, tmp_path)
    base = job_in_form(workspace, "night").base
    mallory.pushes({"jobs/night.md": JOB.replace("hello", "the password"), "jobs/new.md": JOB})
    git(root, "pull", "-q", "--ff-only", "origin", "main")
    for name in ("night", "jobs/night.md", "jobs/new.md"):
        with pytest.raises(UserError, match="was not looked at"):
            job_in_form(workspace, name)
    with pytest.raises(UserError, match="was not looked at"):
        save_job(workspace, "jobs/night.md", base, JobForm(when="daily at 4", zone=""))
    assert "the password" in note(workspace)


def test_a_new_job_is_one_note_in_one_commit(workspace: Workspace) -> None:
    job, outcome = add_job(workspace, JobForm("", "每个工作日九点", "", "给我简报", True))
    assert outcome.commit and (job.title, job.text, job.triggers) == ("给我简报", "给我简报", (Cron("0 9 * * 1-5"),))
    assert job_in_form(workspace, job.id).form.asks
    again, _ = add_job(workspace, JobForm("给我简报", "at 2999-01-01 08:00", "", "", False))
    assert again.path != job.path and again.only_wakes and isinstance(again.triggers[0], At)
    with pytest.raises(WrongInput, match="a title or a text"):
        add_job(workspace, JobForm("", "daily at 8", "", "", False))


_LINE = st.text("ab #->!é早", max_size=12)
_TEXT = st.lists(_LINE, max_size=6).map("\n".join)


@example("# ", "", "", False)
@given(_TEXT, _TEXT, st.text("ab ö早#", max_size=8), st.booleans())
def test_whatever_the_text_is_it_is_read_back(body: str, text: str, title: str, is_dos: bool) -> None:
    header = '---\non: {every: 2h}\nkeep: "  as it is"\n---\n'
    whole = header + body
    data = (whole.replace("\n", "\r\n") if is_dos else whole).encode()
    made = with_task_text(with_title(Note.parse(data), "jobs/x.md", title), text)
    wanted = text.replace("\r\n", "\n").strip()
    if not wanted.startswith("# ") and not any(line.startswith(PROBLEM) for line in wanted.splitlines()):
        assert task_text(made.body) == wanted or task_text(Note.parse(data).body) == wanted
    assert made.data.startswith(data[: len(data) - len(Note.parse(data).body.encode())])
    assert b"\n" not in made.data.replace(b"\r\n", b"") or not is_dos


def test_where_the_answer_goes_quiet_and_second_tries_are_changed_alone(workspace: Workspace) -> None:
    made = changed_job(workspace, "night", JobForm(channel="telegram", quiet="30", retries="3"))
    assert (made.job.channel, made.job.cooldown_seconds) == ("telegram", 1_800)
    assert (made.job.retry.most, made.job.retry.backoff_seconds) == (3, 60), "the pause stays as its person wrote it"
    assert changed_job(workspace, "night", JobForm(channel="", quiet="", retries="2")).data == JOB.encode()
    assert b"retry" not in changed_job(workspace, "night", JobForm(retries="0")).data
    for form, field in ((JobForm(quiet="soon"), "quiet"), (JobForm(retries="99"), "retries")):
        with pytest.raises(WrongInput) as wrong:
            changed_job(workspace, "night", form)
        assert wrong.value.field == field


def test_any_other_setting_is_a_line_of_the_form(workspace: Workspace) -> None:
    found = job_in_form(workspace, "night")
    save_job(workspace, found.path, found.base, JobForm(more="priority: 8\nspend: 0.5\nactive_days: [0, 4]"))
    assert all(f"\n{line}\n" in note(workspace) for line in ("priority: 8", "spend: 0.5", "active_days:"))
    again = job_in_form(workspace, "night")
    save_job(workspace, again.path, again.base, JobForm(more="priority: 8"))
    assert "spend" not in note(workspace) and "priority: 8\n" in note(workspace)
    last = job_in_form(workspace, "night")
    for wrong in ("prioritty: 8", "priority: 80", "just words", "on: {every: 1m}"):
        with pytest.raises(WrongInput) as error:
            save_job(workspace, last.path, last.base, JobForm(more=wrong))
        assert error.value.field == "more"
