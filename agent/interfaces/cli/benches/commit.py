"""The time of one small durable change, and of `git add` and `git commit` for it in a copy of the vault."""

import shutil
from pathlib import Path

from agent.clock import SystemClock
from agent.interfaces.cli.benches.figures import Figure, paired
from agent.interfaces.cli.benches.vaults import build, git
from agent.vault.change import Stamp
from agent.vault.folders import ENTRIES
from agent.vault.options import Options
from agent.vault.store import open_vault

RATIO = 0.6
"""The most time of one durable change, as a share of git's two commands, which flush nothing."""
FEWEST = 11
"""The notes that the vault needs: one for each month up to the one whose folder the changes are written to."""


def measure(folder: Path, notes: int, rounds: int) -> list[Figure]:
    """Two figures: the program's own change first, git's second."""
    ours, theirs = folder / "ours", folder / "theirs"
    build(ours, notes)
    shutil.copytree(ours, theirs, symlinks=True)
    git(theirs, "update-index", "-q", "--refresh")
    vault = open_vault(ours, folder / "state", SystemClock(), Options(durable=True))

    def change(number: int) -> None:
        with vault.transaction("bench(commit): one small note", Stamp("agent", tool="bench")) as transaction:
            transaction.create(f"{ENTRIES}2026/11/bench-{number}.md", b"---\nid: b\n---\nA small note.\n")

    def add_and_commit(number: int) -> None:
        path = f"{ENTRIES}2026/11/bench-{number}.md"
        (theirs / path).write_bytes(b"---\nid: b\n---\nA small note.\n")
        git(theirs, "add", "--", path)
        git(theirs, "commit", "-q", "-m", "bench(commit): one small note")

    return paired(rounds, [("one small durable change", change), ("git add + git commit, not durable", add_and_commit)])
