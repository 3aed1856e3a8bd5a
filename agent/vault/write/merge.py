"""Three-way merge of notes for the write protocol, based on git's line merge."""

import tempfile
from collections.abc import Callable
from pathlib import Path

from agent.markdown import merge as notes
from agent.vault.change import Collision
from agent.vault.plumbing.git import Git

Combine = Callable[[Collision, bytes, bytes, bytes], bytes | None]
"""(collision, base, ours, theirs) to the merged bytes, None if both changed the same lines."""


def combiner(git: Git) -> Combine:
    """The merge of notes that a vault uses."""

    def lines(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
        return merge_lines(git, base, ours, theirs)

    def combine(collision: Collision, base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
        if theirs == base:
            return ours
        match collision:
            case Collision.REFUSE:
                return None
            case Collision.MERGE:
                return notes.merge(base, ours, theirs, lines)
            case Collision.APPEND:
                return notes.merge_append(base, ours, theirs)

    return combine


def merge_lines(git: Git, base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """git's three-way merge of lines; None for a conflict, and for content that git treats as binary."""
    with tempfile.TemporaryDirectory(prefix="vault-agent-merge-") as folder:
        names = [str(Path(folder) / name) for name in ("ours", "base", "theirs")]
        for name, data in zip(names, (ours, base, theirs), strict=True):
            Path(name).write_bytes(data)
        running = git.start("merge-file", "-p", "-q", *names)
        merged = running.wait(ok=range(256))
        return merged if running.code == 0 else None
