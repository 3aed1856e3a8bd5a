"""Files that a remote does not take because of their size: they stay on this machine, and notes go on."""

from agent.vault import exclude
from agent.vault.plumbing.git import Git
from agent.vault.plumbing.link_check import common_folder
from agent.vault.store import Vault
from agent.vault.worktree.files import Files

LEAST = 1_000_000
"""Bytes from which a file can be the reason why a remote refuses a push for its size."""


def largest_file(git: Git, since: str, tip: str) -> str:
    """The path of the largest file that the commits after `since` bring, if it is large; else empty."""
    listed = git.run("rev-list", "--objects", "--end-of-options", f"{since}..{tip}").decode("utf-8", "surrogateescape")
    paths = {oid: path for oid, _, path in (row.partition(" ") for row in listed.splitlines()) if path}
    asked = "".join(f"{oid}\n" for oid in paths).encode()
    if not asked:
        return ""
    command = ["cat-file", "--batch-check=%(objectsize) %(objecttype) %(objectname)"]
    rows = [row.split(" ") for row in git.run(*command, stdin=asked).decode().splitlines()]
    size, path = max(((int(row[0]), paths[row[2]]) for row in rows if row[1] == "blob"), default=(0, ""))
    return path if size >= LEAST else ""


def leave_alone(vault: Vault, path: str) -> None:
    """Keep git from adding a file again, on this machine only."""
    gitdir = common_folder(vault.place.gitdir)
    lines = [exclude.exactly(path)]
    exclude.add(Files(gitdir, vault.clock, vault.options.durable), lines, vault.clock.new_id())
