"""Memories that come up in the middle of a run stand in the session's note with where they are from, as those given at
its beginning do; a note that git does not have as it is gets no commit."""

import re
from pathlib import Path

import pytest

from agent.app.open import open_workspace
from agent.loop.records import PinnedLines, Spoken
from agent.loop.session import load_session
from agent.runs.run_course import latest_findings
from tests.stories.agents import call, document, furnish, script, settings
from tests.vaults import git, head, write

FACT = "Clara lives in Lisbon, near the river."


@pytest.fixture
def own(tmp_path: Path) -> dict[str, str]:
    reads = [call("vault_read", path=f"leg{number}.md") for number in (1, 2, 3)]
    said = script(tmp_path / "script.json", *reads, "Planned.")
    patient = {"VAULT_AGENT_MEMORY__REFRESH_SECONDS": "20"}  # how soon it has to come is not what is tried here
    return {**settings(tmp_path, said), "VAULT_AGENT_MEMORY__AUTO_RECALL": "false", **patient}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = furnish(tmp_path, monkeypatch.setenv)
    for number in (1, 2, 3):
        write(made / f"leg{number}.md", f"# Leg {number}\n\nThe flight to Lisbon, part {number}.\n")
    git(made, "add", "-A")
    git(made, "commit", "-q", "-m", "legs")
    return made


def refreshed(root: Path, asked: dict[str, object]) -> PinnedLines:
    """The receipt of the refresh, which is the only one of memories, and stands in the session's note as code."""
    path = str(asked["session"])
    said = (each.event for each in load_session(open_workspace(root).vault, path).records)
    (found,) = (each.pinned for each in said if isinstance(each, Spoken) and each.pinned)
    (line,) = (each for each in found if each.path != "MEMORY.md")
    assert f"`{line.path}` line" in (root / path).read_text("utf-8")
    return line


def test_a_refresh_leaves_receipts_that_can_be_checked(root: Path, own: dict[str, str]) -> None:
    remembered = document(root, own, "remember", FACT)
    asked = document(root, own, "ask", "Plan the week")
    receipt = refreshed(root, asked)
    assert receipt.path == remembered["path"] and re.fullmatch("[0-9a-f]{40,64}", receipt.pin)
    shown = git(root, "show", f"{receipt.pin}:{receipt.path}").splitlines()
    assert FACT in "\n".join(shown[receipt.lines[0] - 1 : receipt.lines[1]])
    assert receipt.path in [source["path"] for source in asked["sources"]]


def test_the_topics_of_a_run_are_what_it_found_and_not_what_it_was_given(root: Path, own: dict[str, str]) -> None:
    asked = document(root, own, "ask", "Plan the week")
    found = latest_findings(open_workspace(root).vault, str(asked["session"]), str(asked["run"]), 4_000)
    assert "The flight to Lisbon, part 3." in found and found.endswith("Planned.")
    assert "skills (show" not in found and "competitors" not in found and "Plan the week" not in found


def test_a_note_that_was_edited_since_its_commit_is_not_pinned(root: Path, own: dict[str, str]) -> None:
    name = str(document(root, own, "remember", FACT)["path"])
    path, before = root / name, head(root)
    path.write_text(path.read_text("utf-8").replace("river", "sea"), "utf-8")
    asked = document(root, {**own, "VAULT_AGENT_GIT__HUMAN_COMMITS": "off"}, "ask", "Plan the week")
    assert "near the sea" not in (root / str(asked["session"])).read_text("utf-8")
    assert refreshed(root, asked).pin == git(root, "hash-object", name).strip(), "its content, and no commit"
    assert git(root, "diff", "--name-only", before, "HEAD", "--", name) == "", "the edit was committed after all"
