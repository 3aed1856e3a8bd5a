"""`forget --purge --for-good` says gone only when it is gone; without it, the answer says how that is reached."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agent.app.open import open_workspace
from agent.interfaces.cli import forget
from agent.interfaces.cli.main import main
from agent.vault.layout import FORGETTING
from agent.workspace.workspace import daemon_lock
from tests.interfaces.cli.conftest import Run
from tests.trust.test_forgotten_is_gone import FOR_GOOD, left
from tests.vaults import git, head, write

SAYING = "The spare key is under the stone frog"
FINISH = ("forget", *FOR_GOOD)


@pytest.fixture
def told(root: Path) -> Path:
    assert main(["remember", SAYING]) == 0
    return root


def elsewhere(root: Path) -> list[tuple[str, str]]:
    """Every file, ref, log and object of this machine that still has a word of it."""
    return left(root, Path(os.environ["VAULT_AGENT_HOME"]), ["frog"])


@contextmanager
def live_git(folder: Path) -> Iterator[int]:
    """A git process that is at work in a folder until the end of the block."""
    command = ["git", "cat-file", "--batch"]
    with subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(b"HEAD\n")
        process.stdin.flush()
        process.stdout.readline()
        yield process.pid
        process.stdin.close()


def test_without_it_the_answer_says_that_the_text_can_be_brought_back(
    told: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["forget", SAYING, "--purge", "--yes"]) == 0
    said = capsys.readouterr().out
    assert "not gone for good" in said and "can still be brought back" in said
    assert "vault-agent forget --purge --for-good" in said and elsewhere(told)
    assert main(list(FINISH)) == 0
    assert "gone for good" in capsys.readouterr().out and elsewhere(told) == []
    assert main(list(FINISH)) == 0, "to ask again does no harm"


def test_it_ends_all_earlier_purges_and_needs_a_yes(told: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["forget", SAYING, "--purge", "--yes"]) == 0
    git(told, "gc", "-q", "--prune=never")
    capsys.readouterr()
    assert main(["forget", "--purge", "--for-good", "--dry-run"]) == 0
    assert "before-purge" in capsys.readouterr().out
    assert main(["forget", "--purge", "--for-good"]) == 2 and "cannot be undone" in capsys.readouterr().err
    assert elsewhere(told)
    assert main(list(FINISH)) == 0 and elsewhere(told) == []


def test_it_needs_a_purge(told: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["forget", SAYING, "--for-good", "--yes"]) == 2
    assert "needs --purge" in capsys.readouterr().err
    assert main(list(FINISH)) == 2 and "nothing was purged" in capsys.readouterr().err
    assert elsewhere(told)


@pytest.mark.parametrize("answer", ["y", "n"])
def test_on_a_terminal_it_is_asked_for_at_the_end(
    told: Path, monkeypatch: pytest.MonkeyPatch, answer: str, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[str] = []

    def confirm(question: str, **how: object) -> bool:
        asked.append(question)
        return answer == "y"

    monkeypatch.setattr(forget, "_is_asked", lambda output: True)
    monkeypatch.setattr(forget, "agree", lambda *args: None)
    monkeypatch.setattr(forget, "confirm", confirm)
    assert main(["forget", SAYING, "--purge"]) == 0
    assert asked == ["delete it here for good? this cannot be undone"]
    assert bool(elsewhere(told)) is (answer == "n")


def test_in_a_pipe_nobody_is_asked(told: Path) -> None:
    assert main(["forget", SAYING, "--purge"]) == 2
    assert main(["forget", SAYING, "--purge", "--yes"]) == 0
    assert elsewhere(told)


def test_while_a_daemon_or_a_git_is_at_work_it_is_refused_by_name(
    told: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    git(told, "worktree", "add", "-q", "--detach", str(tmp_path / "linked"), "HEAD~1")
    tip = head(told)
    with daemon_lock(open_workspace(told)):
        assert main(["forget", SAYING, *FOR_GOOD]) == 75
    assert f"the daemon is at work on this vault (process {os.getpid()})" in capsys.readouterr().err
    for folder in (told, tmp_path / "linked"):
        with live_git(folder) as process:
            assert main(["forget", SAYING, *FOR_GOOD]) == 75
        assert f"git is at work on this repository (process {process})" in capsys.readouterr().err
    assert head(told) == tip and elsewhere(told)
    assert main(["forget", SAYING, *FOR_GOOD]) == 0 and elsewhere(told) == []


def test_a_git_that_begins_half_way_only_delays_it(told: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as planted, live_git(told):
        planted.setattr("agent.memory.forgetting.purge.check_exclusive", lambda vault: None)
        assert main(["forget", SAYING, *FOR_GOOD]) == 75
    workspace = open_workspace(told)
    assert elsewhere(told) == [] and not (workspace.vault.private_folder / FORGETTING).exists()


def test_what_a_person_keeps_is_named_until_it_is_gone(told: Path, run: Run) -> None:
    git(told, "tag", "old")
    for number in range(2):
        write(told / "a.md", f"stashed {number}\n")
        git(told, "stash", "-q")
    found = run("forget", SAYING, *FOR_GOOD, code=1)["purged"]
    assert isinstance(found, dict) and {"refs/tags/old", "refs/stash", "stash@{1}"} <= {
        *found["other_refs"],
        *found["remaining"],
    }
    assert len(git(told, "stash", "list").splitlines()) == 2
    git(told, "tag", "-d", "old")
    assert "refs/stash" in str(run(*FINISH, code=1)["purged"])
    git(told, "stash", "clear")
    run(*FINISH)
    assert elsewhere(told) == []


def test_packs_that_are_marked_to_be_kept_are_named(told: Path, run: Run) -> None:
    run("forget", SAYING, "--purge", "--yes")
    git(told, "repack", "-q", "-a", "-d")
    kept = [path.with_suffix(".keep") for path in (told / ".git/objects/pack").glob("*.pack")]
    kept[0].touch()
    assert "marked to be kept" in str(run(*FINISH, code=1)["purged"])
    kept[0].unlink()
    run(*FINISH)
    assert elsewhere(told) == []


def test_the_other_entries_of_the_logs_stay(told: Path, run: Run) -> None:
    git(told, "checkout", "-q", "-b", "side", "HEAD~1")
    write(told / "a.md", "by hand\n")
    git(told, "commit", "-q", "-a", "-m", "by hand")
    git(told, "reset", "-q", "--hard", "HEAD~1")
    git(told, "checkout", "-q", "main")
    run("forget", SAYING, *FOR_GOOD)
    rows = git(told, "reflog", "HEAD").splitlines()
    assert any("commit: by hand" in row for row in rows) and any("purge by vault-agent" in row for row in rows)
    assert "+by hand" in git(told, "log", "-g", "-p")


def test_a_remote_is_named_until_a_sync_has_replaced_its_branch(told: Path, tmp_path: Path, run: Run) -> None:
    remote = tmp_path / "shared.git"
    git(tmp_path, "init", "-q", "--bare", "-b", "main", str(remote))
    git(told, "remote", "add", "origin", str(remote))
    run("sync", "setup", "origin")
    run("sync")
    assert "frog" in git(remote, "log", "-p", "main")
    for command in (("forget", SAYING, *FOR_GOOD, "--yes-remote"), FINISH):
        found = run(*command, code=1)["purged"]
        assert isinstance(found, dict) and "origin/main, until a vault-agent sync" in str(found["remaining"])
    assert elsewhere(told) == []
    run("sync")
    assert "frog" not in git(remote, "log", "-p", "main")
    run(*FINISH)
    assert elsewhere(told) == [] and git(told, "status", "--porcelain") == ""
