"""Memories that come up in the middle of a run stand in the session's note with where they are from, as those given at
its beginning do; a note that git does not have as it is gets no commit."""

import re
from pathlib import Path

import pytest

from agent.app.open import open_workspace
from agent.runs.run_trace import latest_findings
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


def refreshed(root: Path, asked: dict[str, object]) -> str:
    """The record of the refresh in the session's note, which is the only one of memories."""
    text = (root / str(asked["session"])).read_text("utf-8")
    parts = re.split(r"^(?:> )?%% vault-agent: ", text, flags=re.M)
    found = [part for part in parts if part.startswith("context ") and "[[entries/" in part]
    assert len(found) == 1
    return found[0]


def test_a_refresh_leaves_receipts_that_can_be_checked(root: Path, own: dict[str, str]) -> None:
    remembered = document(root, own, "remember", FACT)
    asked = document(root, own, "ask", "Plan the week")
    (line,) = re.findall(r"^> (- \[\[entries/.*)$", refreshed(root, asked), flags=re.M)
    receipt = re.fullmatch(r"- \[\[(\S+)\]\] lines? (\d+)(?:–(\d+))? at `([0-9a-f]{10})`", line)
    assert receipt is not None, line
    path = f"{receipt[1]}.md"
    assert path == remembered["path"]
    shown = git(root, "show", f"{receipt[4]}:{path}").splitlines()
    assert FACT in "\n".join(shown[int(receipt[2]) - 1 : int(receipt[3] or receipt[2])])
    assert path in [source["path"] for source in asked["sources"]]


def test_the_topics_of_a_run_are_what_it_found_and_not_what_it_was_given(root: Path, own: dict[str, str]) -> None:
    asked = document(root, own, "ask", "Plan the week")
    found = latest_findings(open_workspace(root).vault, str(asked["session"]), str(asked["run"]), 4_000)
    assert "The flight to Lisbon, part 3." in found and found.endswith("Planned.")
    assert "skills (show" not in found and "competitors" not in found and "Plan the week" not in found


def test_a_note_that_was_edited_since_its_commit_is_not_pinned(root: Path, own: dict[str, str]) -> None:
    name = str(document(root, own, "remember", FACT)["path"])
    path, before = root / name, head(root)
    path.write_text(path.read_text("utf-8").replace("river", "sea"), "utf-8")
    record = refreshed(root, document(root, {**own, "VAULT_AGENT_GIT__HUMAN_COMMITS": "off"}, "ask", "Plan the week"))
    assert "near the sea" not in record
    (line,) = re.findall(r"^> (- \[\[entries/.*)$", record, flags=re.M)
    assert " at `" not in line
    assert git(root, "diff", "--name-only", before, "HEAD", "--", name) == "", "the edit was committed after all"
