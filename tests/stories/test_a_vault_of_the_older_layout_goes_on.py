"""A vault that was laid whole, with explaining notes and empty forms in every folder, goes on without a manual step."""

from pathlib import Path

import pytest

from agent.app.open import open_workspace
from agent.app.setup import ignore_rules
from agent.runs.upkeep_jobs import Upkeeper
from agent.vault.change import Stamp
from tests.daemon.house import living
from tests.stories.agents import document, furnish, script, settings, tell
from tests.vaults import git, head, write

FIELDS = "- **Name**: [to be filled]\n- **Home**: [to be filled]\n"
OLDER = {
    ".gitignore": ignore_rules().decode(),
    ".obsidian/types.json": '{"types": {"due": "date", "priority": "number"}}\n',
    "MEMORY.md": "---\ntype: memory\n---\n# Long-term memory\n\nSee [[About entries|entries]].\n\n## People\n",
    "entries.base": "filters:\n  and:\n    - 'file.inFolder(\"entries\")'\n    - 'type != \"about\"'\nviews: []\n",
    "entries/About entries.md": "---\ntype: about\n---\n# About entries\n\nWhat you asked me to remember.\n",
    "inbox/About inbox.md": "---\ntype: about\n---\n# About inbox\n\nWrite me:\n\n    - [ ] @agent what is it?\n",
    "jobs.base": "filters:\n  and:\n    - 'file.inFolder(\"jobs\")'\nviews: []\n",
    "jobs/About jobs.md": "---\ntype: about\n---\n# About jobs\n\nWhat I do at its time.\n",
    "jobs/morning-briefing.md": '---\nid: morning-briefing\ntype: job\non: {cron: "0 9 * * 1-5"}\nstatus: paused\n'
    "priority: 7\n---\n# Morning briefing\n\nBrief me for the day.\n",
    "profile/00-basic-info.md": "---\ntype: profile\ntitle: Basics\nlayer: 0\nconfidence: 0\nevidence: []\n---\n"
    f"# Basic information\n\n## Person\n\n{FIELDS}",
    "profile/22-goals-aspirations.md": "---\ntype: profile\ntitle: Goals\nlayer: 2\nconfidence: 0\nevidence: []\n---\n"
    "# Goals\n\n## Current focus\n\n- [to be filled]\n",
    "profile/About profile.md": "---\ntype: about\n---\n# About profile\n\nWhat I know about you and your home.\n",
    "tasks/About tasks.md": "---\ntype: about\n---\n# About tasks\n\nWhat I plan to do, most urgent first.\n",
}  # fmt: skip
"""What `init` laid at that time, of each kind a piece."""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    said = script(tmp_path / "said.json", "In the hall, with Ana.")
    root = furnish(tmp_path, monkeypatch.setenv, said)
    vault = open_workspace(root).vault
    with vault.transaction(f"init(vault): added {len(OLDER)} files", Stamp("agent", tool="init"), system=True) as laid:
        for path, text in OLDER.items():
            if not path.startswith("."):
                laid.create(path, text.encode())
    for path in (".gitignore", ".obsidian/types.json"):
        write(root / path, OLDER[path])
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "the rest")
    return root


def is_untouched(root: Path, *but: str) -> bool:
    """Whether all that was laid is there, byte for byte but for these notes."""
    return all((root / path).read_text("utf-8") == text for path, text in OLDER.items() if path not in but)


def test_it_is_read_asked_and_filled_as_it_is(root: Path, tmp_path: Path) -> None:
    own = settings(tmp_path, tmp_path / "said.json")
    status = tell(root, own, "status")
    assert "About" not in status and "[to be" not in status
    tell(root, own, "remember", "My name is Mara Lindt")
    asked = document(root, own, "ask", "What do you know about me, my home, my inbox, entries and tasks?")
    assert asked["outcome"] == "finished"
    assert not [each["path"] for each in asked["sources"] if "About" in each["path"]]
    Upkeeper(open_workspace(root)).fill_profile()
    basics = (root / "profile/00-basic-info.md").read_text("utf-8")
    assert "**Name**: Mara Lindt ([[" in basics and "**Home**: [to be filled]" in basics
    assert is_untouched(root, "profile/00-basic-info.md", "MEMORY.md")
    assert git(root, "log", "--diff-filter=D", "--format=%h") == ""


def test_init_and_the_daemon_lay_and_ask_nothing(root: Path, tmp_path: Path) -> None:
    before, was = head(root), git(root, "ls-files")
    own = settings(tmp_path)
    said = tell(root, own, "init", str(root), "--yes")
    assert "is already a vault" in said and "added" not in said
    with living(root) as house:
        house.catches_up()
        house.for_a_while(4)
        write(root / "tea.md", "# Tea\n\nBlack tea now.\n")
        house.commits_all()
    assert git(root, "ls-files") == was and is_untouched(root)
    assert git(root, "log", "--format=%s", f"{before}..").count("\n") == 1, "the person's edit alone"
    tell(root, own, "jobs", "resume", "morning-briefing")
    (job,) = document(root, own, "jobs")["jobs"]
    assert (job["path"], job["status"]) == ("jobs/morning-briefing.md", "active")
    assert git(root, "ls-files") == was and is_untouched(root, "jobs/morning-briefing.md")
