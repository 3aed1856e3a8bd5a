"""How the commit here and the commit of a remote stand to each other."""

from enum import StrEnum

from agent.dataclass import dataclass
from agent.vault.plumbing.git import Git
from agent.vault.plumbing.object_ids import object_id


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
        return Relation(Standing.UNRELATED, object_id("tree", b"", git.width))
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
