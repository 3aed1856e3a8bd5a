"""A person shortens what the agent wrote, twice: what they prefer stands where they can read it, once a day."""

from pathlib import Path

import pytest

from tests.stories.agents import call, furnish, script, settings, tell
from tests.vaults import git, write

LONG = "The talk with the landlord took place on Friday afternoon in the office, and after long words the rent stays."
NOTE = "profile/31-preferences.md"


def test_what_is_shortened_is_learned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = [call("vault_write", path=f"{name}.md", content=f"# Talk\n\n{LONG}\n") for name in ("one", "two")]
    told = script(tmp_path / "script.json", *written, "Written to [[one]] and [[two]].")
    own = settings(tmp_path, told)
    root = furnish(tmp_path, monkeypatch.setenv, told)
    tell(root, own, "ask", "Write down the talk, twice")
    for name in ("one", "two"):
        write(root / f"{name}.md", "# Talk\n\nTalk with the landlord on Friday: the rent stays.\n")
    tell(root, own, "commit")
    assert f"lines changed on what you prefer: 1 (in {NOTE})" in tell(root, own, "memory", "run")
    note = (root / NOTE).read_text("utf-8")
    assert "## What I believe you prefer\n\n- prefers shorter text · 0.70 · 2 signs · notes ^" in note
    assert "  - you changed: [[one]] " in note and '"The talk with the landlord' in note
    assert git(root, "log", "-1", "--format=%s").strip() == "memory(beliefs): 1 line on what the person prefers"
    assert "prefer" not in tell(root, own, "memory", "run"), "once a day"
    tell(root, own, "undo", "--job", "growth/beliefs")
    assert not (root / NOTE).exists(), "the note that it began is gone with what it had learned"


def test_without_growth_nothing_is_learned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = {**settings(tmp_path), "VAULT_AGENT_GROWTH__ENABLED": "false"}
    root = furnish(tmp_path, monkeypatch.setenv)
    tell(root, own, "remember", "I prefer short answers.")
    assert "what you prefer" not in tell(root, own, "memory", "run")
    assert "What I believe" not in ((root / NOTE).read_text("utf-8") if (root / NOTE).exists() else "")


def test_what_is_forgotten_is_forgotten_here_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong, right = "Mara lives in Porto near the river.", "Mara lives in Lisbon near the river."
    written = [call("vault_write", path=f"{name}.md", content=f"# Mara\n\n{wrong}\n") for name in ("mara", "mar")]
    told = script(tmp_path / "script.json", *written, "Written to [[mara]].")
    own = settings(tmp_path, told)
    root = furnish(tmp_path, monkeypatch.setenv, told)
    tell(root, own, "ask", "Write down where she lives")
    for name in ("mara", "mar"):
        write(root / f"{name}.md", f"# Mara\n\n{right}\n")
    tell(root, own, "commit")
    tell(root, own, "memory", "run")
    assert "says “Lisbon”, not “Porto” · 0.70" in (root / NOTE).read_text("utf-8")
    for name in ("mara", "mar"):
        write(root / f"{name}.md", "# Mara\n")
    tell(root, own, "forget", right, "--purge", "--yes", code=1)  # the history of the person's note is theirs
    assert "Mara lives in Lisbon" not in (root / NOTE).read_text("utf-8")
    assert "Mara lives in Lisbon" not in git(root, "log", "--format=%B")
