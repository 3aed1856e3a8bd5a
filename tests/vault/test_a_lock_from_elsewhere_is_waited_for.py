"""Several agents on one vault, in containers or on computers of their own, share nothing but the repository."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from agent.clock import SystemClock
from agent.config import private
from agent.config.durable import process_lock
from agent.config.private import Holder
from agent.errors import LockHeld
from agent.git.commit import Committer
from agent.git.index_file import SharedIndex
from agent.git.index_lock import FOREIGN_SECONDS, STALE_SECONDS, index_lock, is_left
from agent.vault.change import Stamp
from agent.vault.health.status import status
from agent.vault.options import Options
from agent.vault.store import Vault, open_vault
from agent.vault.write.journal import JournalRecord
from tests.fakes import FakeClock
from tests.trust.forks import PROJECT
from tests.vaults import FAST, committed, git, head, make_vault, write

HERE = private.current()
ELSEWHERE = {
    "another computer": replace(HERE, host="server2", boot="1f0e", process=1),
    "another computer of the same name": replace(HERE, boot="1f0e", process=1),
    "before the last start of this one": replace(HERE, boot="1f0e"),
    "another container": replace(HERE, namespace="pid:[1]", process=1),
    "another container, by a number that no process has": replace(HERE, namespace="pid:[1]", process=999_999_999),
    "a place that is not told": Holder("-", "-", "-", "-", 999_999_999),
}
DEAD = {
    "its process is gone": replace(HERE, process=999_999_999),
    "its number is now another process's": replace(HERE, process=os.getppid(), started="1"),
}
PATIENT = Options(durable=False, lock_seconds=0.05)
WORKER = """
import sys
from pathlib import Path
from agent.clock import SystemClock
from agent.vault.store import open_vault
from agent.vault.change import Stamp
from agent.vault.options import Options
root, state, name, count = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])
vault = open_vault(root, state, SystemClock(), Options(durable=False, lock_seconds=30.0))
for number in range(count):
    with vault.transaction("agent(notes): one", Stamp("agent")) as tx:
        tx.create(f"{name}/{number}.md", b"text\\n")
    assert tx.outcome.commit, tx.outcome
    print(f"{name}/{number}.md", flush=True)
"""
HOLDER = """
import sys
from pathlib import Path
from agent.clock import SystemClock
from agent.git.index_lock import index_lock
with index_lock(Path(sys.argv[1]), Path(sys.argv[1]).parent, "TOKEN", SystemClock(), 0):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("holder", ELSEWHERE.values(), ids=ELSEWHERE)
def test_a_holder_from_elsewhere_is_judged_by_age_alone(holder: Holder) -> None:
    assert not is_left(holder, locked=False, free=False, age=FOREIGN_SECONDS - 1)
    assert is_left(holder, locked=False, free=False, age=FOREIGN_SECONDS)
    assert not is_left(holder, locked=False, free=True, age=STALE_SECONDS - 1)
    assert not is_left(holder, locked=True, free=False, age=10 * FOREIGN_SECONDS)


@pytest.mark.parametrize("holder", DEAD.values(), ids=DEAD)
def test_a_holder_from_here_that_is_gone_is_told_at_once(holder: Holder) -> None:
    assert is_left(holder, locked=False, free=True, age=0)
    assert not is_left(holder, locked=True, free=False, age=0)


def test_a_living_holder_from_here_keeps_its_lock() -> None:
    assert not is_left(replace(HERE, process=os.getppid(), started="-"), locked=False, free=False, age=STALE_SECONDS)


def test_a_lock_that_names_a_process_alone_is_judged_by_age() -> None:
    assert not is_left(None, locked=False, free=True, age=STALE_SECONDS - 1)
    assert is_left(None, locked=False, free=True, age=STALE_SECONDS)


def test_a_holder_is_written_in_one_line_and_read_back() -> None:
    assert private.parse(f"vault-agent TOKEN {HERE}\n") == HERE
    assert [private.parse(text) for text in ("", "12", "vault-agent TOKEN 12", "a b c d e f")] == [None] * 4


@pytest.mark.parametrize("holder", ELSEWHERE.values(), ids=ELSEWHERE)
def test_a_write_waits_in_the_queue_for_it_and_takes_it_over_when_it_is_old(tmp_path: Path, holder: Holder) -> None:
    vault = make_vault(tmp_path, clock=FakeClock(), options=PATIENT)
    lock = leave_lock(vault, holder)
    assert add(vault, "new.md").startswith("another vault-agent holds the index lock (process ")
    assert lock.exists() and not (vault.place.root / "new.md").exists()
    make_old(lock, FOREIGN_SECONDS + 5)
    assert vault.settle() == 1
    assert committed(vault.place.root, "new.md") == b"text\n" and not lock.exists()


def test_the_time_is_the_file_systems_own(tmp_path: Path) -> None:
    """The clock of this computer is a day ahead of the disk's."""
    clock = FakeClock(start=SystemClock().now())
    clock.advance(86400)
    vault = make_vault(tmp_path, clock=clock, options=PATIENT)
    for content in (f"vault-agent TOKEN {ELSEWHERE['another computer']}\n", ""):
        (vault.place.gitdir / "index.lock").write_text(content)
        assert "index lock" in add(vault, "new.md")
        assert (vault.place.gitdir / "index.lock").read_text() == content


def test_a_lock_that_our_own_journal_knows_is_taken_at_once(tmp_path: Path) -> None:
    """A container that was killed starts again with its private files, in a new PID namespace."""
    vault = make_vault(tmp_path, options=PATIENT)
    token = vault.clock.new_id()
    vault.writer.journal.open(JournalRecord(token, "x", "", Stamp(), ()))
    lock = leave_lock(vault, ELSEWHERE["another container"], token)
    assert add(vault, "new.md") == ""
    assert not lock.exists() and status(vault).unfinished == 0


def test_taking_a_holder_from_elsewhere_for_dead_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Holder, "shares_processes_with", lambda self, other: True)
    holder = ELSEWHERE["another container, by a number that no process has"]
    with pytest.raises(AssertionError):
        test_a_write_waits_in_the_queue_for_it_and_takes_it_over_when_it_is_old(tmp_path, holder)


@contextmanager
def holding(gitdir: Path) -> Iterator["subprocess.Popen[bytes]"]:
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", HOLDER, str(gitdir)]
    with subprocess.Popen(command, cwd=PROJECT, stdin=pipe, stdout=pipe) as process:
        assert process.stdout is not None and process.stdout.readline() == b"held\n"
        yield process
        process.kill()


def test_a_stopped_holder_keeps_its_lock_at_any_age_and_a_killed_one_loses_it_at_once(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, options=PATIENT)
    with holding(vault.place.gitdir) as process:
        process.send_signal(signal.SIGSTOP)
        make_old(vault.place.gitdir / "index.lock", 10 * FOREIGN_SECONDS)
        assert f"process {process.pid}" in add(vault, "new.md")
        process.kill()
        process.wait()
        assert vault.settle() == 1
    assert committed(vault.place.root, "new.md") == b"text\n"


def test_a_process_lock_says_where_its_holder_is(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with process_lock(path, FakeClock(), 0, "taken"):
        path.write_text(str(ELSEWHERE["another computer"]))
        with (
            pytest.raises(LockHeld, match=r"taken \(process 1 on server2\)"),
            process_lock(path, FakeClock(), 0, "taken"),
        ):
            pass


def replace_index(vault: Vault, path: str) -> None:
    """Stage a file as a program does that takes no lock."""
    root, index = vault.place.root, vault.place.gitdir / "index"
    other = vault.place.gitdir / "other"
    shutil.copy2(index, other)
    write(root / path, "by another program\n")
    environment = {**os.environ, "GIT_INDEX_FILE": str(other)}
    subprocess.run(["git", "add", path], cwd=root, env=environment, check=True)
    other.replace(index)


def swap_after(monkeypatch: pytest.MonkeyPatch, action: "object", times: int = 1) -> None:
    """Let something happen just before the shared index is put in its place."""
    real, left = SharedIndex._swap, [times]

    def racing(self: SharedIndex, *args: object) -> None:
        if left[0]:
            left[0] -= 1
            assert callable(action)
            action()
        real(self, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(SharedIndex, "_swap", racing)


def test_an_index_that_changed_meanwhile_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vault = make_vault(tmp_path, {"a.md": "one\n"})
    swap_after(monkeypatch, lambda: replace_index(vault, "theirs.md"))
    assert add(vault, "new.md") == ""
    assert git(vault.place.root, "diff", "--cached", "--name-status").split() == ["A", "theirs.md"]


def test_not_comparing_the_index_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.git.index_file.index_stamp", lambda index: (0, 0, 0))
    with pytest.raises(AssertionError):
        test_an_index_that_changed_meanwhile_is_read_again(tmp_path, monkeypatch)


@pytest.mark.parametrize("holder", [None, "vault-agent OTHER host boot ns start 1\n"], ids=["gone", "another's"])
def test_who_has_lost_the_lock_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, holder: str | None
) -> None:
    vault = make_vault(tmp_path, {"a.md": "one\n"})
    lock, before = vault.place.gitdir / "index.lock", head(vault.place.root)

    def lose() -> None:
        lock.unlink()
        if holder is not None:
            lock.write_text(holder)

    with monkeypatch.context() as planted:
        swap_after(planted, lose)
        with pytest.raises(Exception, match="index"):
            add(vault, "new.md")
    assert lock.exists() == (holder is not None), "a lock of another was removed"
    lock.unlink(missing_ok=True)
    assert head(vault.place.root) == before and git(vault.place.root, "status", "--porcelain") == ""


def test_an_index_of_another_program_is_not_put_back_to_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vault = make_vault(tmp_path, {"a.md": "one\n"})

    def fail(*_: object) -> bool:
        replace_index(vault, "theirs.md")
        raise OSError(5, "a disk that fails")

    with monkeypatch.context() as planted:
        planted.setattr(Committer, "_move_head", fail)
        with pytest.raises(Exception, match="disk"):
            add(vault, "new.md")
    assert "theirs.md" in git(vault.place.root, "ls-files")


COUNTS = [(2, 4), pytest.param(4, 25, marks=pytest.mark.chaos)]


@pytest.mark.parametrize(("workers", "notes"), COUNTS)
def test_agents_in_pid_namespaces_of_their_own_lose_nothing(tmp_path: Path, workers: int, notes: int) -> None:
    unshare = ["unshare", "--pid", "--fork", "--mount-proc"]
    if (
        shutil.which("unshare") is None
        or subprocess.run([*unshare, "true"], capture_output=True, check=False).returncode
    ):
        pytest.skip("PID namespaces are not permitted here")
    vault = make_vault(tmp_path, {"a.md": "one\n"})
    root = vault.place.root
    command = [*unshare, sys.executable, "-c", WORKER, str(root)]
    started = [
        subprocess.Popen(
            [*command, str(tmp_path / f"home{n}"), f"w{n}", str(notes)], cwd=PROJECT, stdout=subprocess.PIPE
        )
        for n in range(workers)
    ]
    acked = [line for process in started for line in process.communicate(timeout=120)[0].decode().split()]
    assert len(acked) == workers * notes
    assert git(root, "diff", "--cached", "--name-status") == ""
    write(root / "mine.md", "mine\n")
    git(root, "add", "mine.md")
    git(root, "commit", "-qm", "mine")
    listed = set(git(root, "ls-tree", "-r", "--name-only", "HEAD").split())
    assert listed.issuperset(acked)


def leave_lock(vault: Vault, holder: Holder, token: str = "TOKEN") -> Path:
    lock = vault.place.gitdir / "index.lock"
    lock.write_text(f"vault-agent {token} {holder}\n")
    return lock


def make_old(path: Path, seconds: float) -> None:
    then = path.stat().st_mtime - seconds
    os.utime(path, (then, then))


def add(vault: Vault, path: str) -> str:
    """Add a note as another process would; returns why it waits, or nothing."""
    again = open_vault(vault.place.root, vault.writer.layout.folder.parent, vault.clock, vault.writer.options)
    with again.transaction("agent(notes): new", Stamp("agent")) as tx:
        tx.create(path, b"text\n")
    return tx.outcome.queued or ""


def test_the_lock_is_touched_at_every_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vault = make_vault(tmp_path, options=FAST)
    lock, seen = vault.place.gitdir / "index.lock", list[bool]()
    real = SharedIndex.changed

    def aged(self: SharedIndex, *args: object) -> object:
        make_old(lock, 3600)
        return real(self, *args)  # type: ignore[arg-type]

    def look() -> None:
        seen.append(lock.stat().st_mtime > SystemClock().now().timestamp() - 60)

    monkeypatch.setattr(SharedIndex, "changed", aged)
    swap_after(monkeypatch, look)
    assert add(vault, "new.md") == "" and seen == [True]
    with index_lock(vault.place.gitdir, vault.place.root, "T", vault.clock, 0):
        assert lock.read_bytes().startswith(b"vault-agent T ")
