"""Runs of other processes reach the daemon through their sessions' notes, each once; what follows is counted."""

from pathlib import Path

import pytest

from agent.app.open import open_workspace
from agent.background.session_watch import SessionWatch
from agent.events.runs import TaskCompleted
from agent.events.types import FilesChanged, NoteEdited, Origin
from agent.interfaces.cli.main import main
from agent.markdown.changes import NoteChange
from agent.metrics import names, totals
from tests.daemon.house import BRISK, House, living
from tests.stories.agents import call, furnish, script
from tests.vaults import git_beside, write

CHAIN = """---
name: brew
description: Makes tea.
triggers:
  intent_patterns:
    - "brew"
chain:
  - skill: boil
  - skill: pour
---
Boil, then pour.
"""
STEP = "---\nname: {0}\ndescription: Does {0}.\n---\nDo {0}.\n"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for key, value in BRISK.items():
        monkeypatch.setenv(key, value)
    said = script(tmp_path / "script.json", call("vault_read", path="tea.md"), "Green.", "Fine.", "Well.")
    return furnish(tmp_path, monkeypatch.setenv, said)


def hearing(house: House) -> list[TaskCompleted]:
    """The runs that the daemon is told of from now on."""
    heard: list[TaskCompleted] = []
    house.live.bus.subscribe(lambda event: heard.append(event), TaskCompleted, name="test", timeout=None)
    return heard


def test_a_run_of_another_process_is_told_once(root: Path) -> None:
    with living(root) as house:
        heard = hearing(house)
        assert main(["--vault", str(root), "ask", "which tea?"]) == 0
        house.until(lambda: bool(heard), "the run is heard of")
        house.for_a_while(1.5)
        (told,) = heard
        assert (told.task, told.outcome, told.answer, told.tools) == (
            "which tea?",
            "finished",
            "Green.",
            ("vault_read",),
        )
        assert told.speaker.channel == "cli" and told.steps == 2 and told.at is not None
        assert main(["--vault", str(root), "ask", "and now?"]) == 0
        house.until(lambda: len(heard) == 2, "the next one is heard of, too")


def test_a_note_that_is_told_twice_tells_no_run_twice(root: Path) -> None:
    workspace = open_workspace(root)
    since = workspace.clock.now().replace(microsecond=0)
    heard: list[TaskCompleted] = []
    assert main(["--vault", str(root), "ask", "which tea?"]) == 0
    (path,) = (root / "sessions").rglob("*.md")
    event: FilesChanged[NoteChange] = FilesChanged(
        (NoteEdited(path.relative_to(root).as_posix(), "a", "b", Origin.OWN),), 0.0
    )
    watch = SessionWatch(workspace.vault, since, heard.append)
    watch.changed(event)
    watch.changed(event)
    assert len(heard) == 1


def test_a_session_from_elsewhere_tells_nothing(root: Path, tmp_path: Path) -> None:
    assert main(["--vault", str(root), "ask", "which tea?"]) == 0
    (path,) = (root / "sessions").rglob("*.md")
    name, text = path.relative_to(root), path.read_text("utf-8")
    other = tmp_path / "other"
    git_beside(root, "clone", "-q", str(root), str(other))
    write(other / name.with_name("stranger.md"), text.replace("01", "02"))
    git_beside(other, "add", "-A")
    git_beside(other, "-c", "user.name=Eve", "-c", "user.email=e@example.org", "commit", "-qm", "x")
    with living(root) as house:
        heard = hearing(house)
        git_beside(root, "pull", "-q", "--ff-only", str(other), "main")
        house.until(lambda: name.with_name("stranger.md").as_posix() in house.index.known(), "it is taken in")
        house.for_a_while(0.5)
        assert not heard


def counted(root: Path) -> dict[str, float]:
    return dict(totals.load_totals(open_workspace(root).metrics).events)


def test_what_comes_last_in_a_process_is_counted(root: Path) -> None:
    for name in ("boil", "pour"):
        write(root / f"skills/{name}/SKILL.md", STEP.format(name))
    write(root / "skills/brew/SKILL.md", CHAIN)
    for name in ("boil", "pour", "brew"):
        assert main(["--vault", str(root), "skills", "review", name]) == 0
    for _ in range(2):
        assert main(["--vault", str(root), "ask", "brew some tea, with the skill brew"]) == 0
    assert counted(root)[names.event_name("ChainCompleted")] == 2
    assert main(["--vault", str(root), "skills", "feedback", "brew", "helpful"]) == 0
    assert counted(root)[names.event_name("SkillRated")] == 1


def test_a_run_is_counted_by_its_own_process_alone(root: Path) -> None:
    with living(root) as house:
        heard = hearing(house)
        assert main(["--vault", str(root), "ask", "which tea?"]) == 0
        house.until(lambda: bool(heard), "the run is heard of")
    assert counted(root)[names.RUNS] == 1
