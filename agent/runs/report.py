"""The result of a run with its commits and its cost; the interfaces put it into sentences."""

from collections.abc import Iterator

from agent.asking.answers import pending_proposals
from agent.dataclass import dataclass
from agent.llm.ledger import SpendTotals
from agent.loop.outcome import Ended
from agent.memory.capture.writer import AFTER_RUN_TOOLS
from agent.vault.history.find import commits
from agent.vault.store import Vault


@dataclass(frozen=True, slots=True)
class RunReport:
    """The result of a run, the full ids of its commits (oldest first), and its cost with its sub-runs; `also` are the
    notes that wait for a yes beside the one that it names."""

    ended: Ended
    commits: tuple[str, ...]
    spent: SpendTotals
    also: tuple[str, ...] = ()


def report(ended: Ended, spent: SpendTotals, vault: Vault, *, resumed: bool = False) -> RunReport:
    """The report of a run; for a resumed run, its earlier commits are added from the history.

    Commits that memory makes after a run has returned are left out.
    """
    made = ended.commits
    if resumed:
        before = [commit.id for commit in reversed(commits(vault, run=ended.run)) if commit.tool not in AFTER_RUN_TOOLS]
        made = tuple(dict.fromkeys([*before, *made]))
    return RunReport(ended, made, spent, tuple(_also_asked(vault, ended)))


def _also_asked(vault: Vault, ended: Ended) -> Iterator[str]:
    """The notes about the other calls of a run that wait for a yes."""
    root = ended.run.partition(".")[0]
    if ended.waits_for:
        for each in pending_proposals(vault, "call"):
            if each.run.partition(".")[0] == root and each.path != ended.waits_for:
                yield each.path
