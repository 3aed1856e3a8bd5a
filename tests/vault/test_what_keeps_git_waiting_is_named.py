"""Two lines of a pulled `.gitignore`, or a pipe in the place of a file of rules, cost two seconds and are named."""

import os
import time
from pathlib import Path

import pytest

from agent.errors import UserError
from agent.git.hazards import hazards
from agent.vault.health.examine import repository
from agent.vault.health.status import status
from agent.vault.history.find import commits
from agent.vault.store import Vault
from tests.vaults import git, make_vault, write

STARS = "*a*a*a*a*a*a*a*a*a*a*a*a*b"


def named(vault: Vault) -> list[str]:
    return [str(each) for each in hazards(vault.place.gitdir, vault.place.worktree)]


@pytest.mark.parametrize("place", [".gitignore", "notes/.gitignore", ".git/info/exclude"])
def test_a_pattern_that_git_cannot_match_in_time_is_named_with_its_line(tmp_path: Path, place: str) -> None:
    vault = make_vault(tmp_path, {"notes/a.md": "one\n"})
    write(vault.place.root / place, f"*.tmp\n{STARS}\n")
    write(vault.place.root / "notes" / f"{'a' * 200}.md", "x\n")
    assert named(vault) == [f"git takes too long to match line 2 of {vault.place.root / place}: {STARS}"]
    assert [check.what for check in repository(vault, fix=False) if check.name == "pattern"] == named(vault)


def test_status_and_commit_go_on_with_the_files_that_git_knows(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"notes/a.md": "one\n"})
    write(vault.place.root / ".gitignore", STARS + "\n")
    write(vault.place.root / f"{'a' * 200}.md", "x\n")
    write(vault.place.root / "notes/a.md", "two\n")
    began = time.process_time()
    seen = status(vault)
    assert [item.path for item in seen.dirty] == ["notes/a.md"] and "notes/a.md" in seen.notes
    assert len(seen.unread) == 1 and "new files (git takes too long to match line 1 of" in seen.unread[0]
    outcome = vault.commit_human()
    assert outcome.paths == ("notes/a.md",) and outcome.unread == seen.unread
    assert time.process_time() - began < 2.0


@pytest.mark.parametrize(
    "pattern", ["*.log", "**/node_modules/**/*.tmp", "*-*-*-*.bak", "*.py[cod]", "[Bb]uild*/**/*.o*", "# * * * * * *"]
)
def test_patterns_that_people_write_are_none(tmp_path: Path, pattern: str) -> None:
    vault = make_vault(tmp_path)
    write(vault.place.root / ".gitignore", pattern + "\n")
    for number in range(200):
        write(vault.place.root / f"2026-01-02-a-note-about-number-{number}-with-a-long-name.md", "x\n")
    assert named(vault) == []


@pytest.mark.parametrize("place", [".mailmap", ".git/info/attributes", ".git/info/exclude", "rules", "sub/.gitignore"])
def test_a_pipe_is_named_wherever_git_reads(tmp_path: Path, place: str) -> None:
    vault = make_vault(tmp_path, {"sub/a.md": "one\n"})
    path = vault.place.root / place
    path.unlink(missing_ok=True)
    path.parent.mkdir(exist_ok=True)
    os.mkfifo(path)
    if place == "rules":
        git(vault.place.root, "config", "core.excludesFile", str(path))
    assert named(vault) == [f"git waits for {path}, which is not a file"]


def test_a_pipe_as_mailmap_stops_nothing(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"a.md": "one\n"})
    os.mkfifo(vault.place.root / ".mailmap")
    assert status(vault).last is not None
    assert len(list(commits(vault))) == 1


def test_a_pipe_in_the_place_of_excludes_is_named_by_status(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"a.md": "one\n"})
    os.mkfifo(tmp_path / "rules")
    git(vault.place.root, "config", "core.excludesFile", str(tmp_path / "rules"))
    with pytest.raises(UserError, match="git waits for .*rules, which is not a file"):
        status(vault)
