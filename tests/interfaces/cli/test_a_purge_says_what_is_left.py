"""After a purge for good the words are nowhere, or the command names the place and fails."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.app.open import open_workspace
from agent.interfaces.cli.main import main
from tests.interfaces.cli.conftest import Run
from tests.trust.test_forgotten_is_gone import FOR_GOOD, left
from tests.vaults import git, write

SAYING = "The spare key is under the stone frog"
SESSION = "sessions/2026/11/2026-11-21-talk-5n7f9a (conflict 2026-11-21 120000 ab1c).md"


def purge(run: Run, code: int = 0) -> list[str]:
    """What the command names as still holding it."""
    found = run("forget", SAYING, *FOR_GOOD, code=code)["purged"]
    assert isinstance(found, dict) and found["complete"] is (code == 0) and not found["recoverable"]
    return [*found["other_refs"], *found["remaining"]]


def elsewhere(root: Path) -> list[tuple[str, str]]:
    """Every file, ref, log and object of this machine that still has a word of it."""
    return left(root, Path(os.environ["VAULT_AGENT_HOME"]), ["frog"])


def in_the_state(root: Path) -> Callable[[], object]:
    path = open_workspace(root).vault.private_folder / "something.json"
    write(path, f'{{"text": "{SAYING}"}}')
    return path.unlink


def in_the_cache(root: Path) -> Callable[[], object]:
    path = open_workspace(root).cache / "something.txt"
    write(path, SAYING)
    return path.unlink


def in_a_note_that_git_ignores(root: Path) -> Callable[[], object]:
    write(root / ".git/info/exclude", "*conflict*\n")
    write(root / SESSION, f"# {SAYING}\n")
    return (root / SESSION).unlink


def in_a_tag(root: Path) -> Callable[[], object]:
    git(root, "tag", "old")
    return lambda: git(root, "tag", "-d", "old")


def in_an_older_stash(root: Path) -> Callable[[], object]:
    for text in (SAYING, "nothing"):
        write(root / "a.md", f"{text}\n")
        git(root, "stash", "-q")
    return lambda: git(root, "stash", "clear")


def in_the_index(root: Path) -> Callable[[], object]:
    before = (root / "a.md").read_bytes()
    write(root / "a.md", f"{SAYING}\n")
    git(root, "add", "a.md")
    write(root / "a.md", before)
    return lambda: git(root, "add", "a.md")


def in_a_message_of_git(root: Path) -> Callable[[], object]:
    path = root / ".git" / "COMMIT_EDITMSG"
    write(path, SAYING)
    return path.unlink


PLACES = (
    in_the_state,
    in_the_cache,
    in_a_note_that_git_ignores,
    in_a_tag,
    in_an_older_stash,
    in_the_index,
    in_a_message_of_git,
)
NAMES = ("something.json", "something.txt", SESSION, "refs/tags/old", "stash@{1}", "staged of a.md", "COMMIT_EDITMSG")


def test_each_place_that_it_cannot_clean_is_named_until_it_is_clean(root: Path, run: Run) -> None:
    run("remember", SAYING)
    clean = [plant(root) for plant in PLACES]
    named = purge(run, code=1)
    assert [name for name in NAMES if not any(name in each for each in named)] == []
    *most, last = clean
    for remove in most:
        remove()
    named = purge(run, code=1)
    assert len(named) == 1 and NAMES[-1] in named[0]
    assert purge(run, code=1) == named
    last()
    assert elsewhere(root) == []
    run("forget", SAYING, *FOR_GOOD, code=2)


def test_what_no_reference_leads_to_any_more_is_deleted_too(root: Path) -> None:
    assert main(["remember", SAYING]) == 0
    git(root, "reset", "-q", "--hard", "HEAD^")
    assert elsewhere(root)
    assert main(["forget", SAYING, "--purge", "--yes"]) == 0
    assert elsewhere(root)
    assert main(["forget", *FOR_GOOD]) == 0
    assert elsewhere(root) == []


def test_a_note_of_the_person_s_that_says_it_is_no_success(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["remember", SAYING]) == 0
    write(root / "a.md", f"# A\n\n{SAYING}.\n")
    assert main(["commit"]) == 0
    capsys.readouterr()
    assert main(["forget", SAYING, "--purge", "--yes"]) == 1
    said = capsys.readouterr().out
    assert said.startswith("not all of it is gone") and "stays, and says it too: a.md" in said
    assert "then repeat this command" in said


def test_a_common_word_that_is_the_name_of_a_note_is_not_looked_for(root: Path, run: Run) -> None:
    write(root / "boat.md", f"# Boat\n\n{SAYING}.\n")
    write(root / "a.md", "# A\n\nThe boat is blue.\n")
    run("commit")
    found = run("forget", "boat.md", "--purge", "--yes")["purged"]
    assert isinstance(found, dict) and found["remaining"] == []
