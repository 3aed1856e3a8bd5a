"""Rebase, merge, bisect, detached HEAD, locks: nothing is lost, nothing is forced."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agent.config.durable import process_lock
from agent.errors import LockHeld
from agent.vault.change import Stamp
from agent.vault.health.status import status
from agent.vault.options import Options
from agent.vault.store import Vault, open_vault
from tests.fakes import FakeClock
from tests.vaults import committed, git, head, make_vault, write

AGENT = Stamp("agent", tool="remember")


def start_merge(root: Path) -> None:
    git(root, "checkout", "-q", "-b", "side")
    write(root / "a.md", "side\n")
    git(root, "commit", "-qam", "side")
    git(root, "checkout", "-q", "main")
    write(root / "a.md", "main\n")
    git(root, "commit", "-qam", "main")
    git(root, "merge", "side", check=False)


def start_rebase(root: Path) -> None:
    start_merge(root)
    git(root, "merge", "--abort")
    git(root, "rebase", "side", check=False)


def start_bisect(root: Path) -> None:
    git(root, "commit", "-q", "--allow-empty", "-m", "more")
    git(root, "bisect", "start", "HEAD", "HEAD~1")


def detach(root: Path) -> None:
    git(root, "checkout", "-q", "--detach")


STATES = {
    "a merge is under way": (start_merge, ["merge", "--abort"]),
    "a rebase is under way": (start_rebase, ["rebase", "--abort"]),
    "a bisect is under way": (start_bisect, ["bisect", "reset"]),
    "HEAD is detached (no branch is checked out)": (detach, ["checkout", "-q", "main"]),
}


@pytest.mark.parametrize("reason", STATES)
def test_writes_wait_on_disk_and_are_carried_out_when_it_is_over(tmp_path: Path, reason: str) -> None:
    start, end = STATES[reason]
    vault = make_vault(tmp_path, {"a.md": "one\n", "b.md": "two\n"})
    root = vault.place.root
    start(root)
    before = git(root, "status", "--porcelain=v2")
    with vault.transaction("memory(entry): one", AGENT) as tx:
        tx.create("new.md", b"new\n")
    with vault.transaction("memory(entry): two", AGENT) as tx:
        tx.append("b.md", b"more")
    assert tx.outcome.queued == reason
    assert not (root / "new.md").exists()
    assert git(root, "status", "--porcelain=v2") == before
    seen = status(vault)
    assert (seen.blocked, seen.waiting) == (reason, 2)
    assert {path.stat().st_mode & 0o777 for path in vault.writer.layout.queue.iterdir()} == {0o600}
    assert vault.commit_human().queued == reason

    git(root, *end)
    assert again(vault).settle() == 2
    assert committed(root, "new.md") == b"new\n"
    assert committed(root, "b.md") == b"two\nmore\n"
    assert git(root, "log", "-2", "--format=%s").splitlines() == ["memory(entry): two", "memory(entry): one"]
    assert status(vault).waiting == 0


@contextmanager
def running_git(root: Path) -> Iterator[None]:
    """A git process that is surely alive in the repository, as an open commit editor would be."""
    pipe = subprocess.PIPE
    with subprocess.Popen(["git", "cat-file", "--batch-check"], cwd=root, stdin=pipe, stdout=pipe) as process:
        assert process.stdin and process.stdout
        process.stdin.write(b"HEAD\n")
        process.stdin.flush()
        process.stdout.readline()
        yield
        process.stdin.close()


def again(vault: Vault) -> Vault:
    """The same vault, as another process would open it."""
    return open_vault(vault.place.root, vault.writer.layout.folder.parent, vault.clock, vault.writer.options)


def test_a_waiting_write_that_can_no_longer_be_made_is_kept_and_shown(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"a.md": "one\n"})
    detach(vault.place.root)
    with vault.transaction("x", AGENT) as tx:
        tx.create("new.md", b"mine\n")
    git(vault.place.root, "checkout", "-q", "main")
    write(vault.place.root / "new.md", "theirs\n")
    with vault.transaction("y", AGENT) as tx:
        tx.append("a.md", b"more")
    assert tx.outcome.commit
    assert vault.read("new.md") == b"theirs\n"
    ((path, reason),) = status(vault).failed.items()
    assert "new.md exists" in reason
    assert Path(path).exists()


def test_a_lock_of_a_live_git_makes_the_write_wait_in_the_queue(tmp_path: Path) -> None:
    clock = FakeClock()
    vault = make_vault(tmp_path, clock=clock, options=Options(durable=False, lock_seconds=0.2))
    lock = vault.place.gitdir / "index.lock"
    lock.touch()
    os.utime(lock, (0, 0))
    with running_git(vault.place.root), vault.transaction("x", AGENT) as tx:
        tx.create("new.md", b"new\n")
    assert tx.outcome.queued is not None and "index lock" in tx.outcome.queued
    assert lock.exists()
    assert not (vault.place.root / "new.md").exists()
    lock.unlink()
    assert vault.settle() == 1
    assert committed(vault.place.root, "new.md") == b"new\n"


def test_an_old_lock_without_a_live_git_is_moved_aside(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    lock = vault.place.gitdir / "index.lock"
    lock.write_bytes(b"left by a crash")
    os.utime(lock, (1, 1))
    with vault.transaction("x", AGENT) as tx:
        tx.create("new.md", b"new\n")
    assert tx.outcome.commit == head(vault.place.root)
    assert (vault.place.gitdir / "index.lock.vault-agent-stale").read_bytes() == b"left by a crash"


def test_the_second_writer_waits_a_little_and_then_says_who_is_at_work(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, clock=FakeClock(), options=Options(durable=False, lock_seconds=0.1))
    lock = process_lock(vault.writer.layout.lock, FakeClock(), 0.1, "taken")
    with lock, pytest.raises(LockHeld, match=f"writing.*{os.getpid()}"):
        vault.settle()
