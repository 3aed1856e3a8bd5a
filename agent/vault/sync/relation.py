"""How the commit here and the commit of a remote stand to each other."""

from dataclasses import dataclass
from enum import StrEnum

from agent.vault.plumbing.git import Git

_EMPTY_TREE = {
    40: "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    64: "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}


class Standing(StrEnum):
    """The commit here, seen from the remote's."""

    SAME = "same"
    AHEAD = "ahead"
    BEHIND = "behind"
    DIVERGED = "diverged"
    UNRELATED = "unrelated"
    """They have no commit in common, as after two `init`s."""


@dataclass(frozen=True, slots=True)
class Relation:
    """The standing of two commits, with their latest common commit (the empty tree if there is none)."""

    standing: Standing
    base: str


def relate(git: Git, ours: str, theirs: str) -> Relation:
    """Compare two commits of this repository."""
    if ours == theirs:
        return Relation(Standing.SAME, ours)
    found = git.run("merge-base", "--end-of-options", ours, theirs, ok=(0, 1)).decode().strip()
    if not found:
        return Relation(Standing.UNRELATED, _EMPTY_TREE[git.width])
    standing = {theirs: Standing.AHEAD, ours: Standing.BEHIND}.get(found, Standing.DIVERGED)
    return Relation(standing, found)


def contains(git: Git, commit: str, earlier: str) -> bool:
    """True if `earlier` is the commit or one below it; False if it is not in this repository."""
    if commit == earlier:
        return True
    command = ["merge-base", "--is-ancestor", "--end-of-options", earlier, commit]
    running = git.start(*command)
    running.wait(ok=(0, 1, 128))
    return running.code == 0


def distance(git: Git, ours: str, theirs: str) -> tuple[int, int]:
    """The number of commits that only this side has, and that only the other has."""
    found = git.run("rev-list", "--left-right", "--count", "--end-of-options", f"{ours}...{theirs}").decode().split()
    return int(found[0]), int(found[1])
