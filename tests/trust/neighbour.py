"""Other programs at work in the same repository, each a process that goes on until it is ended.

Run as `python -m tests.trust.neighbour ROOT LEDGER ROLE`: `committer` writes a note of its own and commits everything
(an editor's git plugin), `poller` asks for the status (an editor's side bar), `plumber` commits without git's index and
without its lock (a plugin with its own git).
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.trust.crash import CLOCK
from tests.trust.forks import PROJECT
from tests.trust.ledger import Ledger
from tests.vaults import git


def committer(root: Path, ledger: Ledger, number: int) -> None:
    """One turn of an auto-committer; a lock in its way makes it wait for its next turn."""
    note = root / "auto" / f"{number % 20}.md"
    note.parent.mkdir(exist_ok=True)
    note.write_text(f"auto {number}\n")
    git(root, "add", "-A", check=False)
    git(root, "commit", "-q", "-m", f"auto {number}", check=False)


def poller(root: Path, ledger: Ledger, number: int) -> None:
    """One look at the status, which also rewrites the index where it can."""
    git(root, "status", "--porcelain", check=False)


def plumber(root: Path, ledger: Ledger, number: int) -> None:
    """One commit by plumbing, told to the ledger when git has confirmed it, and a short rest."""
    CLOCK.sleep(0.02)
    old = git(root, "rev-parse", "HEAD").strip()
    new = git(root, "commit-tree", "-p", old, "-m", f"plumber {number}", f"{old}^{{tree}}").strip()
    done = subprocess.run(["git", "update-ref", "HEAD", new, old], cwd=root, capture_output=True, check=False)
    if done.returncode == 0:
        ledger.add("plumbed", new)


ROLES = {"committer": committer, "poller": poller, "plumber": plumber}


@contextmanager
def at_work(root: Path, ledger: Ledger, *roles: str) -> Iterator[None]:
    """Have the neighbours work meanwhile; they finish their turn and are gone afterwards."""
    command = [sys.executable, "-m", "tests.trust.neighbour", str(root), str(ledger.path)]
    started = [
        subprocess.Popen([*command, role], cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for role in roles
    ]
    try:
        for process in started:
            assert process.stdout and process.stdout.readline() == b"at work\n"
        yield
    finally:
        for process in started:
            process.communicate(timeout=60)


def main(arguments: list[str]) -> None:
    """Take turns until the other end closes the pipe."""
    root, ledger, turn = Path(arguments[0]), Ledger(Path(arguments[1])), ROLES[arguments[2]]
    print("at work", flush=True)  # noqa: T201 - the parent waits for this word
    watch = subprocess.Popen(["cat"], stdin=sys.stdin, stdout=subprocess.DEVNULL)
    number = 0
    while watch.poll() is None:
        turn(root, ledger, number)
        number += 1


if __name__ == "__main__":
    main(sys.argv[1:])
