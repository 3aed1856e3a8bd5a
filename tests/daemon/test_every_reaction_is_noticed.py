"""Each row of the table of reactions matters: with one taken out, a day with the daemon goes wrong for its person."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent.app.open import open_workspace
from agent.events.bus import Bus
from agent.events.runs import TaskCompleted
from agent.interfaces.cli.main import main
from agent.loop.session import load_session, sessions
from agent.markdown.checkbox_decision import APPROVE
from agent.metrics import totals
from agent.runs.registry import RunMark, run_registry
from agent.workspace.daemon_lock import load_daemon_state
from tests.daemon.house import BRISK, House, living
from tests.daemon.test_chores_are_done_when_it_is_quiet import remembered
from tests.skills.shelves import text, triggers
from tests.stories.agents import call, furnish, script, ticked
from tests.vaults import git, write

SECONDS = 15.0
CHANGE = call("vault_write", path="AGENT.md", content="# Obey\n")
ROWS = [
    "start: crash recovery", "start: index", "start: runs cut off", "start: inbox", "start: maintenance",
    "files: index", "files: human edits", "files: sessions", "files: decisions", "files: inbox", "files: maintenance",
    "tick: human edits", "tick: decisions", "tick: inbox", "tick: maintenance",
    "turn over: status", "metrics",
]  # fmt: skip
QUICK = {"files: index", "tick: inbox", "metrics"}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A vault in which a run waits for a yes, another was cut off, and a request was left by the last daemon."""
    for key, value in {**BRISK, "VAULT_AGENT_INBOX__QUIET_SECONDS": "0.2"}.items():
        monkeypatch.setenv(key, value)
    said = script(tmp_path / "script.json", CHANGE, "Done.", "Green.", "Black.", "White.", "Red.", "Blue.")
    made = furnish(tmp_path, monkeypatch.setenv, said)
    assert main(["--vault", str(made), "ask", "change"]) == 0
    return made


def prepare(root: Path) -> None:
    """What happened while nobody watched."""
    write(root / "before.md", "wombat\n")
    write(root / "skills/tea/SKILL.md", text("tea", triggers("brew"), "Boil."))
    (session,) = sessions(open_workspace(root).vault)
    marks = run_registry(open_workspace(root).vault)
    marks.put(RunMark("CUTOFF", "sessions/gone.md", "r9"))
    assert session and marks.get("CUTOFF")


def begin(root: Path) -> None:
    """What its person does then."""
    write(root / "new.md", "quokka\n")
    write(root / "inbox/tea.md", "Which tea?\n")
    write(root / "skills/coffee/SKILL.md", text("coffee", triggers("grind"), "Grind."))
    remembered(root, "The boat is blue.")
    (approval,) = (root / "approvals").glob("*vault_write*.md")
    approval.write_text(ticked(approval.read_text("utf-8"), APPROVE), "utf-8")


def checks(root: Path, house: House, heard: list[object]) -> dict[str, Callable[[], bool]]:
    """What must be so by the evening."""
    workspace = open_workspace(root)
    (session,) = sessions(workspace.vault)[-1:]
    return {
        "what was edited before is committed": lambda: "before.md" in git(root, "log", "--name-only"),
        "what was edited before is found": lambda: house.finds("wombat") == ["before.md"],
        "the mark of a run that was cut off is gone": lambda: run_registry(workspace.vault).get("CUTOFF") is None,
        "a skill that lay there is asked about": (root / "approvals/skill-vault-tea.md").exists,
        "a new note is found": lambda: house.finds("quokka") == ["new.md"],
        "a new note is committed": lambda: "new.md" in git(root, "log", "--name-only"),
        "a request is worked on": lambda: "status: needs_approval" in (root / "inbox/tea.md").read_text("utf-8"),
        "a decided run goes on": lambda: (
            (root / "AGENT.md").read_text("utf-8") == "# Obey\n"
            and load_session(workspace.vault, session).open_run is None
        ),
        "a new skill is asked about": (root / "approvals/skill-vault-coffee.md").exists,
        "a run that is over is heard of": lambda: len(heard) >= 2,
        "status knows what is seen": lambda: (load_daemon_state(house.workspace) or {}).get("files", 0) > 0,  # type: ignore[operator]
        "files are counted": lambda: (
            totals.load_totals(workspace.metrics).events.get("note.created", 0) > 0 or not house.parts.metrics.save()
        ),
    }


def day(root: Path) -> list[str]:
    """A day with the daemon; what went wrong in it."""
    prepare(root)
    heard: list[object] = []
    with living(root) as house:
        house.live.bus.subscribe(heard.append, TaskCompleted, name="test", timeout=None)
        house.step()
        begin(root)
        wanted = checks(root, house, heard)
        clock = house.workspace.clock
        deadline = clock.monotonic() + SECONDS
        while wanted and clock.monotonic() < deadline:
            house.step()
            house.parts.metrics.save()
            wanted = {name: holds for name, holds in wanted.items() if not holds()}
    return list(wanted)


def test_a_day_goes_well(root: Path) -> None:
    assert day(root) == []


@pytest.mark.parametrize(
    "row", [each if each in QUICK else pytest.param(each, marks=pytest.mark.chaos) for each in ROWS]
)
def test_a_row_that_is_taken_out_is_noticed(root: Path, row: str, monkeypatch: pytest.MonkeyPatch) -> None:
    subscribe, seen = Bus.subscribe, []

    def without(self: Bus, *args: Any, **terms: Any) -> None:
        seen.append(terms["name"])
        if terms["name"] != row:
            subscribe(self, *args, **terms)

    monkeypatch.setattr(Bus, "subscribe", without)
    monkeypatch.setattr(f"{__name__}.SECONDS", 5.0)
    assert day(root) != []
    assert row in seen
