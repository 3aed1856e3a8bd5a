"""A vault whose `.git` is a file (`git init --separate-git-dir`) works as any other; a file that a stranger has put
there leads to no repository of the person's."""

import shutil
from pathlib import Path

import pytest

from agent.app.open import open_workspace
from agent.git.gitdir_pointer import OWNER
from agent.interfaces.cli.main import main
from tests.interfaces.cli.conftest import Run
from tests.trust.test_forgotten_is_gone import FOR_GOOD
from tests.vaults import git, write

SAYING = "The spare key is under the stone frog"


@pytest.fixture(params=["folder", "file"])
def root(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A vault with a note, in both forms: its history inside, or elsewhere."""
    monkeypatch.setenv("VAULT_AGENT_HOME", str(tmp_path / "home"))
    folder = tmp_path / "vault"
    where = ["--separate-git-dir", str(tmp_path / "history")] if request.param == "file" else []
    git(tmp_path, "init", "-q", "-b", "main", *where, str(folder))
    git(folder, "config", "user.name", "Anna")
    git(folder, "config", "user.email", "anna@example.org")
    write(folder / "a.md", "# A\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "mine")
    assert main(["init", "--yes", "--hooks", str(folder)]) == 0
    monkeypatch.chdir(folder)
    return folder


def test_it_works_in_both_forms(root: Path, run: Run, tmp_path: Path) -> None:
    made = run("remember", SAYING)
    write(root / "a.md", "# A\n\nby hand\n")
    run("commit")
    run("undo", str(made["commit"]))
    assert not (root / str(made["path"])).exists() and "by hand" in (root / "a.md").read_text()
    assert git(root, "status", "--porcelain") == ""
    assert "pre-commit" in [path.name for path in Path(git(root, "rev-parse", "--git-path", "hooks").strip()).iterdir()]
    git(tmp_path, "init", "-q", "--bare", "-b", "main", "shared.git")
    git(root, "remote", "add", "origin", str(tmp_path / "shared.git"))
    run("sync", "setup", "origin")
    run("sync")
    assert "by hand" in git(tmp_path / "shared.git", "show", "main:a.md")
    assert main(["--vault", str(root), "status"]) == 0 and main(["doctor"]) in {0, 1}
    assert main(["clone", str(tmp_path / "shared.git"), str(tmp_path / "copy")]) == 0


def test_what_is_forgotten_for_good_is_gone_in_both_forms(root: Path, run: Run) -> None:
    run("remember", SAYING)
    run("forget", SAYING, *FOR_GOOD)
    gitdir = open_workspace(root).vault.place.gitdir
    assert "frog" not in git(root, "log", "-p", "--all") and "error" not in git(root, "fsck", "--strict")
    assert not any(b"frog" in path.read_bytes() for path in gitdir.rglob("*") if path.is_file())


def test_a_vault_whose_repository_is_moved_out_is_taken_again_by_init(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    id = open_workspace(root).vault.id
    git(root, "init", "-q", "--separate-git-dir", str(tmp_path / "elsewhere"))
    (tmp_path / "elsewhere" / OWNER).unlink(missing_ok=True)
    assert main(["status"]) == 2 and "vault-agent init" in capsys.readouterr().err
    assert main(["init", "--yes", str(root)]) == 0 and main(["status"]) == 0
    assert open_workspace(root).vault.id == id


def stranger(folder: Path, gitdir: Path) -> Path:
    """A folder from a stranger, with a `.git` file that leads to a repository of the person's."""
    write(folder / "vault-agent.yaml", "")
    write(folder / "theirs.md", "# Theirs\n")
    write(folder / ".git", f"gitdir: {gitdir}\n")
    return folder


def refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """What is said of a folder that neither a command nor `init` takes."""
    assert main(["--vault", str(folder), "status"]) == 2
    capsys.readouterr()
    assert main(["init", "--yes", str(folder)]) == 2
    return capsys.readouterr().err


def test_a_pointer_of_a_stranger_s_leads_to_no_repository(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = open_workspace(root).vault.place.gitdir
    before = git(root, "for-each-ref"), git(root, "status", "--porcelain")
    git(tmp_path, "init", "-q", "--bare", "bare")
    git(root, "worktree", "add", "-q", "--detach", str(tmp_path / "linked"))
    linked = next((own / "worktrees").iterdir())
    git(tmp_path, "init", "-q", "--separate-git-dir", str(tmp_path / "other-history"), "other")
    write(tmp_path / "other/b.md", "# B\n")
    git(tmp_path / "other", "add", "-A")
    git(tmp_path / "other", "commit", "-q", "-m", "other")
    targets = (own, tmp_path / "bare", linked, tmp_path / "other-history", tmp_path / "nowhere")
    for number, target in enumerate(targets):
        assert "points to" in refused(stranger(tmp_path / f"from{number}", target), capsys)
    assert before == (git(root, "for-each-ref"), git(root, "status", "--porcelain"))
    assert not (tmp_path / "other-history" / "vault-agent").exists()


def test_a_copy_of_the_folder_does_not_take_the_repository_of_the_first(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if (root / ".git").is_dir():
        pytest.skip("a copy of a whole repository is one of its own")
    shutil.copytree(root, tmp_path / "copy")
    assert "belongs to another folder" in refused(tmp_path / "copy", capsys)
    root.rename(tmp_path / "moved")
    assert main(["--vault", str(tmp_path / "moved"), "status"]) == 2
    assert main(["init", "--yes", str(tmp_path / "moved")]) == 0
    assert main(["--vault", str(tmp_path / "moved"), "status"]) == 0
