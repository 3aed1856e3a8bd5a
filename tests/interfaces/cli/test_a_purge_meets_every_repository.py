"""`forget --purge` in clones that lack a part, beside refs that hold the words too, and for what is gone already."""

from pathlib import Path

import pytest

from agent.app.open import open_workspace
from agent.interfaces.cli.main import main
from agent.memory.forgetting.purge import Forgetter
from tests.interfaces.cli.conftest import Run
from tests.vaults import git, head, write

WORD = "treasure"
NOTE = "secret.md"


@pytest.fixture
def vault(root: Path) -> Path:
    """A vault whose note had two versions with the word, between commits that have nothing to do with it."""
    for number in range(2):
        write(root / NOTE, f"the {WORD}\n" * (number + 1))
        write(root / "a.md", f"{number}\n")
        git(root, "add", "-A")
        git(root, "commit", "-q", "-m", f"version {number}")
    return root


def history(root: Path) -> str:
    return git(root, "log", "-p", "-m", "--format=%H %s %b", "HEAD")


def purge(run: Run, name: str = NOTE, *, code: int = 0) -> dict[str, object]:
    document = run("forget", name, "--purge", "--yes", code=code)
    purged = document["purged"]
    assert isinstance(purged, dict)
    return purged


def refused(root: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """What a purge says that is refused; nothing is forgotten then, not even in the files."""
    before = head(root), git(root, "status", "--porcelain")
    assert main(["--vault", str(root), "forget", NOTE, "--purge", "--yes", "--yes-remote"]) == 2
    assert (head(root), git(root, "status", "--porcelain")) == before and (root / NOTE).exists()
    return capsys.readouterr().err


def test_a_shallow_clone_is_refused_until_it_is_whole(
    vault: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--depth", "2", vault.as_uri(), "clone")
    assert "shallow" in (told := refused(clone, capsys)) and "git fetch --unshallow" in told
    git(clone, "fetch", "-q", "--unshallow")
    assert main(["--vault", str(clone), "forget", NOTE, "--purge", "--yes", "--yes-remote"]) == 1
    assert WORD not in history(clone) and "still holds it: refs/remotes/origin/main" in capsys.readouterr().out


def test_a_shallow_clone_whose_work_tree_is_linked_is_refused(
    vault: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    git(tmp_path, "clone", "-q", "--depth", "2", vault.as_uri(), "clone")
    git(tmp_path / "clone", "worktree", "add", "-q", str(tmp_path / "linked"))
    assert "shallow" in refused(tmp_path / "linked", capsys)


def test_a_partial_clone_is_refused(vault: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    git(vault, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", "--filter=blob:none", vault.as_uri(), "clone")
    assert "partial clone" in refused(tmp_path / "clone", capsys)


def test_grafted_parents_are_refused(vault: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(vault / ".git" / "info" / "grafts", head(vault) + "\n")
    assert "git replace --convert-graft-file" in refused(vault, capsys)


def test_what_a_plain_forget_has_left_in_the_history_can_be_purged(vault: Path, run: Run) -> None:
    assert run("forget", NOTE, "--yes")["forgotten"] == [NOTE]
    assert WORD in history(vault)
    said = run("forget", NOTE, "--yes", code=2)
    assert "forget secret.md --purge" in str(said)
    assert purge(run)["commits"]
    assert WORD not in history(vault) and git(vault, "status", "--porcelain") == ""


def test_a_note_that_a_person_has_deleted_can_be_purged(vault: Path, run: Run) -> None:
    (vault / NOTE).unlink()
    run("forget", NOTE, "--purge", "--yes", code=2)  # the last commit has it yet
    run("commit")
    assert run("forget", "secret", "--purge", "--dry-run")["forgotten"] == [NOTE]
    purge(run, "secret")
    assert WORD not in history(vault)


def test_an_entry_takes_with_it_what_its_forgetting_took(root: Path, run: Run) -> None:
    made = [run("remember", f"Anna's locker code is kelp-4711{mark}") for mark in ("", "!", ".")]
    run("memory", "run")
    assert "kelp-4711" in (root / "MEMORY.md").read_text()
    run("forget", str(run("search", "locker code", "-n", "1")["hits"][0]["path"]), "--yes")  # type: ignore[index]
    gone = next(str(each["path"]) for each in made if not (root / str(each["path"])).exists())
    purge(run, gone)
    assert "kelp-4711" not in history(root)


def test_a_note_that_git_keeps_away_is_not_forgotten(vault: Path, capsys: pytest.CaptureFixture[str]) -> None:
    git(vault, "update-index", "--skip-worktree", NOTE)
    (vault / NOTE).unlink()
    assert main(["forget", NOTE, "--purge", "--yes"]) == 2
    assert "sparse" in capsys.readouterr().err and WORD in history(vault)


def test_what_was_never_there_is_not_found(vault: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("never.md", "../outside.md", "deep/never"):
        assert main(["forget", name, "--purge", "--yes"]) == 2
    assert "never" in capsys.readouterr().err


def test_a_finished_purge_says_again_how_to_drop_what_is_left(vault: Path, run: Run) -> None:
    first = purge(run)
    again = purge(run)
    assert again["commits"] == 0 and again["backup"] == first["backup"] and again["recoverable"] is True


def test_everything_that_still_holds_it_is_named(vault: Path, run: Run, tmp_path: Path) -> None:
    git(vault, "tag", "v1")
    git(vault, "branch", "other")
    git(vault, "notes", "add", "-m", f"about the {WORD}")
    for number in range(2):
        write(vault / "a.md", f"stashed {number}\n")
        git(vault, "stash", "-q")
    git(vault, "worktree", "add", "-q", "--detach", str(tmp_path / "detached"))
    git(vault, "checkout", "-q", "--orphan", "alone")
    git(vault, "commit", "-q", "-m", "the words without the commits")
    git(vault, "checkout", "-q", "main")
    found = purge(run, code=1)["other_refs"]
    assert isinstance(found, list)
    names = ("refs/tags/v1", "refs/heads/other", "refs/notes/commits", "refs/stash", "stash@{1}", "refs/heads/alone")
    assert set(names) <= set(found) and any("detached" in each for each in found)


def test_a_tag_on_a_side_branch_is_named(vault: Path, run: Run) -> None:
    git(vault, "checkout", "-q", "-b", "side", "HEAD~2")
    write(vault / NOTE, f"the {WORD}, on the side\n")
    git(vault, "add", "-A")
    git(vault, "commit", "-q", "-m", "side")
    git(vault, "tag", "aside")
    git(vault, "checkout", "-q", "main")
    git(vault, "merge", "-q", "-s", "ours", "-m", "merged", "side")
    found = purge(run, code=1)["other_refs"]
    assert isinstance(found, list) and "refs/tags/aside" in found
    assert WORD not in history(vault)


def test_objects_of_another_repository_are_named(vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(tmp_path, "clone", "-q", "--shared", str(vault), "clone")
    git(tmp_path / "clone", "remote", "remove", "origin")
    monkeypatch.chdir(tmp_path / "clone")
    workspace = open_workspace(tmp_path / "clone")
    forgetter = Forgetter(workspace.vault, "en", workspace.cache)
    found = forgetter.preview(NOTE, forgetter.plan(NOTE)[1], remote=False)
    assert any("alternates" in each for each in found.other_refs)


def test_in_a_linked_work_tree_the_branch_there_is_written_anew(
    vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(vault, "worktree", "add", "-q", "-b", "linked", str(tmp_path / "linked"))
    assert main(["--vault", str(tmp_path / "linked"), "forget", NOTE, "--purge", "--yes"]) == 1
    assert WORD not in history(tmp_path / "linked") and WORD in history(vault)
