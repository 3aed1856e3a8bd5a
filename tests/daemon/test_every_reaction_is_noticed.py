"""Each row of the table of reactions matters: with one taken out, a day with the daemon goes wrong for its person."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent.app.open import open_workspace
from agent.background.inbox.queue import PendingRequest, request_queue
from agent.clock import SystemClock
from agent.events.bus import Bus
from agent.events.runs import TaskCompleted
from agent.growth.curiosity.gap import CuriousGap
from agent.growth.curiosity.look import ask
from agent.interfaces.cli.main import main
from agent.markdown.checkbox_decision import APPROVE
from agent.metrics import totals
from agent.runs.registry import RunMark, run_registry
from agent.workspace.workspace import load_daemon_state
from tests.daemon.house import BRISK, House, living
from tests.daemon.test_maintenance_is_done_when_it_is_quiet import is_trusted, remembered
from tests.skills.shelves import text, triggers
from tests.stories.agents import call, furnish, script, ticked
from tests.vaults import git, write

SECONDS = 60.0
"""How long a reaction may take; on a quiet machine the whole day takes about five."""
CHANGE = call("vault_write", path="AGENT.md", content="# Obey\n")
ROWS = [
    "start: index", "start: decisions", "start: inbox", "start: reviews",
    "files: index", "files: human edits", "files: sessions", "files: decisions", "files: inbox",
    "files: upkeep",
    "files: tasks",
    "tick: human edits", "tick: decisions", "tick: inbox", "tick: reviews", "tick: upkeep",
    "tick: tasks",
    "turn over: status", "any event: metrics", "start: jobs", "files: jobs", "tick: jobs", "any event: jobs",
    "files: questions", "tick: questions",
]  # fmt: skip
QUICK = {"files: index", "tick: inbox", "any event: metrics"}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A vault in which a run waits for a yes, another was cut off, and a request was left by the last daemon."""
    for key, value in {**BRISK, "VAULT_AGENT_INBOX__QUIET_SECONDS": "0.2"}.items():
        monkeypatch.setenv(key, value)
    said = script(tmp_path / "script.json", CHANGE, "Done.", "Green.", "Black.", "White.", "Red.", "Blue.")
    made = furnish(tmp_path, monkeypatch.setenv, said)
    monkeypatch.setenv("VAULT_AGENT_MEMORY__LIFECYCLE", "on")
    monkeypatch.setenv("VAULT_AGENT_MEMORY__LIFECYCLE_ENTRIES", "1")  # the day's first upkeep may be in the morning
    write(made / "MEMORY.md", "# Long-term memory\n")
    assert main(["--vault", str(made), "ask", "change"]) == 0
    return made


def prepare(root: Path) -> None:
    """What happened while nobody watched; the last daemon has left a request that it was about to look at."""
    write(root / "skills/tea/SKILL.md", text("tea", triggers("brew"), "Boil."))
    git(root, "add", "skills")
    git(root, "commit", "-q", "-m", "a skill")
    write(root / "before.md", "wombat\n")
    jobs = {"start": "{event: daemon.started}", "change": "{change: {path: coats.md, quiet_seconds: 0}}"}
    for name, on in jobs.items():
        write(root / f"jobs/{name}.md", f"---\ntype: job\non: {on}\n---\nLook.\n")
    write(root / "inbox/unseen.md", "Which milk?\n")
    write(root / "inbox/left.md", "Which cup?\n")
    vault = open_workspace(root).vault
    left = PendingRequest("inbox/left.md", 0.0, vault.content_id((root / "inbox/left.md").read_bytes()))
    request_queue(vault).save([left], ())
    ask(open_workspace(root), CuriousGap("knowledge", "hat", "Which hat?", "It is cold.", "None.", ("wool", "straw")))
    run_registry(vault).put(RunMark("CUTOFF", "sessions/gone.md", "r9"))


def begin(root: Path) -> None:
    """What its person does then."""
    write(root / "new.md", "quokka\n")
    write(root / "coats.md", "# Coats\n")
    write(root / "inbox/tea.md", "Which tea?\n")
    write(root / "tasks/tidy.md", "---\ntype: task\ntask_type: cleanup\n---\n# Tidy up\n")
    write(root / "skills/coffee/SKILL.md", text("coffee", triggers("grind"), "Grind."))
    (question,) = (root / "questions").glob("*-hat-*.md")
    question.write_text(ticked(question.read_text("utf-8"), "wool"), "utf-8")
    for mark in "!.;":
        remembered(root, f"The boat is blue{mark}")
    (approval,) = [path for path in (root / "approvals").glob("*vault_write*.md") if "AGENT.md" in path.read_text()][:1]
    for note in (approval, root / "approvals/skill-vault-tea.md"):
        if note.exists():
            note.write_text(ticked(note.read_text("utf-8"), APPROVE), "utf-8")


Checks = dict[str, Callable[[], bool]]


def morning(root: Path, house: House) -> Checks:
    """What must be so soon after the start."""
    workspace = open_workspace(root)
    return {
        "what was edited before is committed": lambda: "before.md" in git(root, "log", "--name-only"),
        "what was edited before is found": lambda: house.finds("wombat") == ["before.md"],
        "the mark of a run that was cut off is gone": lambda: run_registry(workspace.vault).get("CUTOFF") is None,
        "a skill that lay there is asked about": (root / "approvals/skill-vault-tea.md").exists,
        "a job that waits for the start has run": (root / "jobs/history/start.md").exists,
        "a request that was left is worked on": lambda: "status: " in (root / "inbox/left.md").read_text("utf-8"),
    }


def evening(root: Path, house: House, heard: list[object]) -> Checks:
    """What must be so by the evening."""
    workspace = open_workspace(root)
    return {
        "a new note is found": lambda: house.finds("quokka") == ["new.md"],
        "a new note is committed": lambda: "new.md" in git(root, "log", "--name-only"),
        "a task is done": lambda: any((root / "tasks/done").glob("*/tidy.md")),
        "a request is worked on": lambda: "status: " in (root / "inbox/tea.md").read_text("utf-8"),
        "what was written while nobody watched asks nothing": lambda: (
            (root / "inbox/unseen.md").read_text("utf-8") == "Which milk?\n"
        ),
        "a decided run goes on": lambda: (root / "AGENT.md").read_text("utf-8") == "# Obey\n",
        "a new skill is asked about": (root / "approvals/skill-vault-coffee.md").exists,
        "a skill with a yes is trusted": lambda: is_trusted(root),
        "an answer is taken in": lambda: (
            "status: answered" in next((root / "questions").glob("*-hat-*.md")).read_text()
        ),
        "memory is tended": lambda: "The boat is blue" in (root / "MEMORY.md").read_text("utf-8"),
        "runs that are over are heard of": lambda: len(heard) >= 2,
        "status knows what is seen": lambda: (load_daemon_state(workspace) or {}).get("files") not in {None, 0},
        "a change starts a job": (root / "jobs/history/change.md").exists,
        "files are counted": lambda: totals.load_totals(workspace.metrics).events.get("note.created", 0) > 0,
    }


def until(house: House, wanted: Checks) -> list[str]:
    """Let the daemon take its turns until all is so, or time is up; what is not so then."""
    clock = SystemClock()
    deadline = clock.monotonic() + SECONDS
    while wanted and clock.monotonic() < deadline:
        house.step()
        house.parts.metrics.save()
        wanted = {name: holds for name, holds in wanted.items() if not holds()}
    return list(wanted)


def day(root: Path) -> list[str]:
    """A day with the daemon; what went wrong in it."""
    prepare(root)
    heard: list[object] = []
    with living(root) as house:
        house.live.bus.subscribe(heard.append, TaskCompleted, name="test", timeout=None)
        wrong = until(house, morning(root, house))
        begin(root)
        return wrong + until(house, evening(root, house, heard))


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
