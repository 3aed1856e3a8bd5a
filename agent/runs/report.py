"""The result of a run with its commits and its cost; the interfaces put it into sentences."""

from agent.dataclass import dataclass
from agent.llm.ledger import SpendTotals
from agent.loop.outcome import Ended
from agent.memory.capture.writer import AFTER_RUN_TOOLS
from agent.vault.history.find import commits
from agent.vault.store import Vault


@dataclass(frozen=True, slots=True)
class RunReport:
    """The result of a run, the full ids of its commits (oldest first), and its cost with its sub-runs."""

    ended: Ended
    commits: tuple[str, ...]
    spent: SpendTotals


def report(ended: Ended, spent: SpendTotals, vault: Vault, *, resumed: bool = False) -> RunReport:
    """The report of a run; for a resumed run, its earlier commits are added from the history.

    Commits that memory makes after a run has returned are left out.
    """
    made = ended.commits
    if resumed:
        before = [commit.id for commit in reversed(commits(vault, run=ended.run)) if commit.tool not in AFTER_RUN_TOOLS]
        made = tuple(dict.fromkeys([*before, *made]))
    return RunReport(ended, made, spent)
