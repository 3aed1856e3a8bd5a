"""Commands that write are refused, in words, where what they would write to is another repository."""

from pathlib import Path

import pytest

from agent.interfaces.cli.main import main
from tests.vaults import git, head, write


@pytest.mark.parametrize(
    ("folder", "command"),
    [
        ("entries", ["remember", "The boat is blue"]),
        ("inner", ["forget", "inner/a.md", "--yes"]),
        ("archive", ["forget", "b.md", "--yes"]),
    ],
)
def test_it_says_so_and_nothing_is_written(
    root: Path, capsys: pytest.CaptureFixture[str], folder: str, command: list[str]
) -> None:
    write(root / folder / "a.md", "theirs\n")
    git(root / folder, "init", "-q")
    before = head(root), sorted(path for path in root.rglob("*.md"))
    assert main(command) == 2
    told = capsys.readouterr().err
    assert folder in told and "repository of its own" in told
    assert (head(root), sorted(path for path in root.rglob("*.md"))) == before


def test_status_and_commit_do_not_count_its_files(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root / "inner" / ".git").mkdir(parents=True)  # a clone that has only begun
    write(root / "inner" / "a.md", "theirs\n")
    assert main(["status"]) == 0
    assert "all committed" in capsys.readouterr().out
    before = head(root)
    assert main(["commit"]) == 0 and head(root) == before
