"""What a run leaves in the history: a commit for each change of a note, and one for all that is said of the run."""

from pathlib import Path

from tests.stories.agents import call, document, furnish, script, settings, tell
from tests.vaults import git, head


def made(root: Path, before: str) -> list[str]:
    return git(root, "log", "--format=%s", f"{before}..").splitlines()


def test_a_run_is_one_commit_and_each_change_of_a_note_is_one(tmp_path: Path) -> None:
    write_two = [call("vault_write", path=f"{name}.md", content=f"# {name}\n") for name in ("ginger", "mint")]
    said = script(tmp_path / "script.json", "Nothing new.")
    own = settings(tmp_path, said)
    root = furnish(tmp_path, lambda key, value: None, said)
    before = head(root)
    document(root, own, "ask", "what is new")
    assert made(root, before) == ["session: finished: what is new"]
    script(said, *write_two, "Written.")
    before = head(root)
    done = document(root, own, "ask", "write two notes")
    assert made(root, before) == [
        "session: finished: write two notes",
        "vault(write): mint.md",
        "vault(write): ginger.md",
    ]
    assert git(root, "status", "--porcelain") == ""
    session = str(done["session"])
    tell(root, own, "undo", "--run", str(done["run"]))
    assert not (root / "ginger.md").exists() and (root / session).exists(), "the record stays"
    day = next((root / "daily").glob("*.md")).read_text("utf-8")
    assert "what is new" in day and "write two notes" not in day
    assert not [note for note in (root / "entries").rglob("*.md") if "two notes" in note.read_text("utf-8")]
