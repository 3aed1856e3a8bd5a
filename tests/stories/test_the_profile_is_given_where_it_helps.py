"""What a run is told about its person: the base always, other notes by the task; nothing that is empty, unsure, or
written by others."""

from pathlib import Path

import pytest

from agent.app.agent import opened_runs
from agent.app.open import open_workspace
from agent.context.budget import SHARES
from agent.events.runs import Speaker
from agent.loop.request import RunRequest
from agent.memory.profile.template import template_notes
from agent.tools.text_origin import text_origin_of
from agent.vault.change import Stamp
from tests.stories.agents import furnish, script
from tests.vaults import write

TASK = "Which music shall I put on tonight?"


def given(root: Path, task: str = TASK, *, role: str = "owner", sender: str = "", group: bool = False) -> str:
    """What a task is given from the profile."""
    workspace = open_workspace(root)
    with opened_runs(workspace) as runs:
        start, _, _ = runs.explain(RunRequest(task, Speaker("cli", sender, group), role=role))
    return "\n".join(each.text for each in start.messages if each.source == "profile")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A vault with an empty profile."""
    made = furnish(tmp_path, monkeypatch.setenv, script(tmp_path / "script.json", "Well."))
    with open_workspace(made).vault.transaction("init(vault): notes", Stamp("agent", tool="init")) as change:
        for name, data in template_notes("en").items():
            change.create(f"profile/{name}", data)
    return made


def fill(root: Path, name: str, old: str, new: str) -> None:
    path = root / "profile" / name
    before = path.read_text("utf-8")
    assert old in before
    write(path, before.replace(old, new))


def test_an_empty_profile_gives_nothing(root: Path) -> None:
    assert given(root) == ""


def test_the_base_is_always_given_and_others_by_the_task(root: Path) -> None:
    fill(root, "00-basic-info.md", "Name**: [to be filled]", "Name**: Ida")
    fill(root, "23-interests-hobbies.md", "Music**: [to be filled]", "Music**: Grieg")
    assert "- Name: Ida" in given(root) and "- Music: Grieg" in given(root)
    other = given(root, "Count the notes in the archive.")
    assert "- Name: Ida" in other and "Grieg" not in other


def test_what_is_unsure_is_not_given(root: Path) -> None:
    fill(root, "23-interests-hobbies.md", "Music**: [to be filled]", "Music**: Grieg")
    fill(root, "23-interests-hobbies.md", "confidence: 0", "confidence: 0.6")
    assert given(root) == ""
    fill(root, "23-interests-hobbies.md", "confidence: 0.6", "confidence: 0.61")
    assert "Grieg" in given(root)


def test_others_are_not_told(root: Path) -> None:
    fill(root, "00-basic-info.md", "Name**: [to be filled]", "Name**: Ida")
    assert given(root, group=True) == ""
    assert given(root, role="guest", sender="eve") == ""


def test_what_a_run_wrote_that_had_read_a_strangers_text_is_not_given(root: Path) -> None:
    fill(root, "00-basic-info.md", "Name**: [to be filled]", "Name**: Mallory")
    data = (root / "profile/00-basic-info.md").read_bytes()
    text_origin_of(open_workspace(root).vault).remember(data, b"", ["https://evil.example"])
    assert given(root) == ""


def test_it_stays_within_its_share(root: Path) -> None:
    path = root / "profile/00-basic-info.md"
    write(path, path.read_text("utf-8") + "".join(f"\nMy friend number {n} likes music a lot.\n" for n in range(900)))
    workspace = open_workspace(root)
    with opened_runs(workspace) as runs:
        _, rows, _ = runs.explain(RunRequest(TASK, Speaker("cli")))
    (row,) = (each for each in rows if each.name == "profile")
    assert SHARES["profile"] == 0.03
    assert 0 < row.used <= row.allowed


def believe(root: Path, *lines: str) -> None:
    path = root / "profile/31-preferences.md"
    rows = "\n".join(
        f'- {line} ^belief-{at:08x}\n  - you said: [[tea]] 2026-11-20 "tea"' for at, line in enumerate(lines)
    )
    write(path, f"{path.read_text('utf-8')}\n## What I believe you prefer\n\n{rows}\n")


def test_what_they_prefer_is_told_for_the_tasks_kind_only(root: Path) -> None:
    believe(
        root,
        "prefers shorter text · 0.82 (plain mean 0.71) · 5 signs, 1 against · letters, reports",
        "wants no emoji · 0.91 (plain mean 0.90) · 6 signs, confirmed · all texts",
        "prefers headings · 0.60 (plain mean 0.70) · 2 signs · all texts",
    )
    letter = given(root, "Write an e-mail to Anna about the boat")
    assert "- prefers shorter text (0.82)" in letter and "- wants no emoji (0.91)" in letter
    assert "headings" not in letter, "not sure enough"
    answer = given(root, "How far is the moon?")
    assert "shorter" not in answer and "- wants no emoji (0.91)" in answer
    assert "you said" not in letter and "[[profile/31-preferences]]" in letter


def test_what_they_like_is_told_where_a_task_is_about_it(root: Path) -> None:
    believe(root, "prefers green tea to coffee · 0.81 (plain mean 0.90) · 2 signs")
    assert "green tea to coffee (0.81)" in given(root, "Which tea shall I buy?")
    assert "tea" not in given(root, "How far is the moon?")


def test_beliefs_in_a_chinese_note_are_told_too(root: Path) -> None:
    believe(root, "偏好更短的文字 · 0.82（平均强度 0.71） · 5 次表现，1 次相反 · 信件，报告")
    assert "- 偏好更短的文字 (0.82)" in given(root, "给安娜写一封邮件")
    assert "更短" not in given(root, "月亮有多远？")
