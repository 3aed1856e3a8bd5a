"""A transfer that hangs is ended with all that it has started, and one that was killed does not stop the next."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.clock import SystemClock
from agent.errors import Retryable
from agent.git.index_lock import git_is_busy
from agent.git.network import Network, RefUpdate
from tests.processes import SECONDS, started
from tests.trust.git_server import Step, git_server, hang
from tests.vault.network.persons import Shared, own_account, shared
from tests.vaults import git, head, object_format, write

MAIN = "refs/heads/main"
TRACKED = "+refs/heads/*:refs/remotes/origin/*"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shared:
    own_account(tmp_path, monkeypatch)
    return shared(tmp_path)


def ssh(place: Shared, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The person's ssh is this script; what it is asked to run there is the last argument."""
    path = place.remote.parent / "bin/ssh"
    write(path, f'#!/bin/sh\ntest "$1" = -G && exit 0\n{script}\n')
    path.chmod(0o755)
    monkeypatch.setenv("GIT_SSH_COMMAND", str(path))
    git(place.root, "remote", "set-url", "origin", f"ssh://git@vault.invalid{place.remote}")


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def ended(pid: int) -> bool:
    """True as soon as a process is gone; false if it is still there after five seconds."""
    for _ in range(100):
        if not is_running(pid):
            return True
        SystemClock().sleep(0.05)
    return False


def test_a_hanging_ssh_is_ended_with_what_it_has_started(place: Shared, monkeypatch: pytest.MonkeyPatch) -> None:
    pids = place.remote.parent / "pids"
    ssh(place, f"echo $$ >> '{pids}'; sleep 60 & echo $! >> '{pids}'; wait", monkeypatch)
    with pytest.raises(Retryable, match="git fetch did not finish in 2 s"):
        Network(place.network.git, 2).fetch("origin", [TRACKED])
    started = [int(line) for line in pids.read_text().split()]
    assert len(started) == 2 and all(ended(pid) for pid in started)


def test_a_child_that_stays_does_not_hold_the_transfer_up(place: Shared, monkeypatch: pytest.MonkeyPatch) -> None:
    """An ssh that keeps the connection for later leaves a process in the background, with the same error output."""
    pids = place.remote.parent / "pids"
    script = f"setsid sleep 60 >/dev/null & echo $! > '{pids}'\nshift $(($# - 1))\neval \"exec $1\""
    ssh(place, script, monkeypatch)
    begun = SystemClock().monotonic()
    assert place.network.list_refs("origin")[MAIN] == head(place.root)
    assert SystemClock().monotonic() - begun < 15
    os.kill(int(pids.read_text()), signal.SIGKILL)


PROGRAM = """
import signal, sys
from pathlib import Path
from agent.git.runner import Git
from agent.git.network import Network, RefUpdate

network = Network(Git(Path(sys.argv[1], ".git"), Path(sys.argv[1]), durable=False))
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell without jobs starts programs that ignore it
print("ready", flush=True)
try:
    if sys.argv[2] == "fetch":
        network.fetch("origin", ["+refs/heads/*:refs/remotes/origin/*"])
    else:
        network.push("origin", [RefUpdate("HEAD", "refs/heads/main", None)])
except KeyboardInterrupt:
    print("stopped", flush=True)
"""


@pytest.fixture
def server_of(tmp_path: Path, place: Shared) -> Iterator[Shared]:
    """The same vault with a server that does not answer for a while, and knows when it is asked."""
    with git_server(tmp_path / "server", object_format()) as server:
        git(place.root, "push", "-q", str(server.repository), "main")
        git(place.root, "remote", "set-url", "origin", server.url)
        place.saves("notes/a.md", "mine\n")
        server.plan(hang(30), Step.LISTED, Step.ANNOUNCED)
        yield place


@pytest.mark.parametrize("what", ["fetch", "push"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_killed_transfer_does_not_stop_the_next(server_of: Shared, what: str, number: signal.Signals) -> None:
    root = server_of.root
    command = [sys.executable, "-c", PROGRAM, str(root), what]
    with started(command, stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None and process.stdout.readline() == b"ready\n"
        children = transfer_of(root)
        assert children
        process.send_signal(number)
        said, _ = process.communicate(timeout=SECONDS)
    assert said == (b"stopped\n" if number is signal.SIGINT else b"")
    if number is signal.SIGINT:
        assert all(ended(child) for child in children)
        assert not [*(root / ".git/vault-agent").glob("network-*")]
    network = server_of.network
    assert not git_is_busy(root / ".git", root)
    assert network.push("origin", [RefUpdate("HEAD", MAIN, None)]) == ()
    network.fetch("origin", [TRACKED])
    assert git(root, "rev-parse", "origin/main").strip() == head(root)
    assert not [*(root / ".git").glob("**/*.lock")]
    for child in children:
        if is_running(child):
            os.kill(child, signal.SIGKILL)


def transfer_of(root: Path) -> list[int]:
    """The git processes of a transfer for this repository, as soon as one talks to the server."""
    mark = os.fsencode(root / ".git/vault-agent/network-")
    for _ in range(200):
        found = []
        for process in Path("/proc").iterdir():
            try:
                if process.name.isdigit() and mark in (process / "environ").read_bytes():
                    found.append((int(process.name), (process / "comm").read_text()))
            except OSError:
                continue
        if any(name.startswith("git-remote") for _, name in found):
            return [pid for pid, _ in found]
        SystemClock().sleep(0.05)
    return []


def test_what_a_killed_transfer_left_goes_after_a_day(place: Shared) -> None:
    left = [place.root / ".git/vault-agent" / name for name in ("network-old", "network-new", "id")]
    for path in left[:2]:
        write(path / "git/objects/pack/tmp_pack_1", "half\n")
    now = SystemClock().now().timestamp()
    os.utime(left[0], (now - 90_000, now - 90_000))
    place.network.list_refs("origin")
    assert [path.exists() for path in left] == [False, True, True]


def test_a_file_in_the_way_of_the_temporary_repositories_is_told(place: Shared) -> None:
    private = place.root / ".git/vault-agent"
    private.rename(place.root / ".git/elsewhere")
    write(private, "")
    with pytest.raises(Retryable, match="nothing could be transferred: file exists"):
        place.network.fetch("origin", [TRACKED])
