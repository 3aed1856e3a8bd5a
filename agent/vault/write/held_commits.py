"""Commits held notes, or has them wait for the evening, under the writer lock and after what a crash has left."""

from collections.abc import Callable

from agent.vault.obsidian import has_auto_committer
from agent.vault.refusal import in_plain_words
from agent.vault.write.held_notes import HeldNote
from agent.vault.write.recover import recover
from agent.vault.write.writer import Writer


def commit_held(
    writer: Writer, is_wanted: Callable[[HeldNote], bool], *, apart: bool = False, keep: bool = False
) -> None:
    """Commit the held notes that are wanted (`holding.by_commit`); nothing while git is busy. `keep`: they wait for the
    evening instead."""
    if not any(map(is_wanted, writer.held.all())):
        return
    with in_plain_words(writer.place), writer.exclusive():
        recover(writer)
        wanted = [] if writer.waiting_reason() else list(filter(is_wanted, writer.held.all()))
        if keep and not has_auto_committer(writer.place.root):
            writer.holding.let_wait(wanted)
        else:
            writer.commit_held(wanted, apart=apart)
