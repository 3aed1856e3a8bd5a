"""A person shortens what the agent wrote: the upkeep of memory counts it where they can read it, once a day."""

from pathlib import Path

import pytest

from tests.stories.agents import call, furnish, script, settings, tell
from tests.vaults import git, write

LONG = "The talk with the landlord took place on Friday afternoon in the office, and after long words the rent stays."
NOTE = "profile/31-preferences.md"


def test_what_is_shortened_is_learned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = call("vault_write", path="one.md", content=f"# Talk\n\n{LONG}\n")
    told = script(tmp_path / "script.json", written, "Written to [[one]].")
    own = settings(tmp_path, told)
    root = furnish(tmp_path, monkeypatch.setenv, told)
    tell(root, own, "ask", "Write down the talk")
    write(root / "one.md", "# Talk\n\nTalk with the landlord on Friday: the rent stays.\n")
    tell(root, own, "commit")
    assert f"learned from your edits: 1 (in {NOTE})" in tell(root, own, "memory", "run")
    note = (root / NOTE).read_text("utf-8")
    assert "## Learned from your edits\n\n- prefers shorter text (1 time, last [[daily/" in note
    assert "[[one]] “The talk with the landlord" in note
    assert git(root, "log", "-1", "--format=%s").strip() == "memory(edits): learned from 1 edit of the person"
    assert "learned" not in tell(root, own, "memory", "run"), "once a day"


def test_what_is_forgotten_is_forgotten_here_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong, right = "Mara lives in Porto near the river.", "Mara lives in Lisbon near the river."
    written = call("vault_write", path="mara.md", content=f"# Mara\n\n{wrong}\n")
    told = script(tmp_path / "script.json", written, "Written to [[mara]].")
    own = settings(tmp_path, told)
    root = furnish(tmp_path, monkeypatch.setenv, told)
    tell(root, own, "ask", "Write down where she lives")
    write(root / "mara.md", f"# Mara\n\n{right}\n")
    tell(root, own, "commit")
    tell(root, own, "memory", "run")
    assert "says “Lisbon”, not “Porto” (1 time" in (root / NOTE).read_text("utf-8")
    write(root / "mara.md", "# Mara\n")
    tell(root, own, "forget", right, "--purge", "--yes", code=1)  # the history of the person's note is theirs
    assert "Mara lives in Lisbon" not in (root / NOTE).read_text("utf-8")
    assert "Mara lives in Lisbon" not in git(root, "log", "--format=%B")
