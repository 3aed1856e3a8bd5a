"""Two notes with one id: a command that takes an id names both and does nothing."""

from pathlib import Path

import pytest

from agent.interfaces.cli.main import main
from tests.interfaces.cli.conftest import Run
from tests.vaults import git, head, write

ID = "01HZZZZZZZ0000000000000001"


@pytest.mark.parametrize("where", ["deep/er/c.md", "a (conflict 2026-01-01 101010 abcd).md"])
@pytest.mark.parametrize("saved", ["committed", "not committed"])
@pytest.mark.parametrize("command", [("get",), ("forget", "--yes"), ("forget", "--purge", "--yes"), ("run",)])
def test_both_are_named(
    root: Path, capsys: pytest.CaptureFixture[str], where: str, saved: str, command: tuple[str, ...]
) -> None:
    write(root / where, f"---\nid: {ID}\n---\nanother\n")
    if saved == "committed":
        git(root, "add", "-A")
        git(root, "commit", "-q", "-m", "copied")
    before = head(root)
    assert main([command[0], ID.lower(), *command[1:]]) == 2
    told = capsys.readouterr().err
    assert "a.md" in told and where in told and "name the path" in told
    assert head(root) == before and (root / where).exists() and (root / "a.md").exists()


def test_the_path_says_which(root: Path, run: Run) -> None:
    write(root / "c.md", f"---\nid: {ID}\n---\nanother\n")
    assert run("get", "c.md")["path"] == "c.md"
    assert run("forget", "c.md", "--yes")["forgotten"] == ["c.md"]
    assert run("get", ID)["path"] == "a.md"


def test_a_note_that_only_mentions_the_id_is_not_meant(root: Path, run: Run) -> None:
    write(root / "c.md", f"see {ID}\n")
    assert run("get", ID)["path"] == "a.md"
