"""The result of a run with its commits and its cost; the interfaces put it into sentences."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from agent.asking.answers import pending_proposals
from agent.dataclass import dataclass
from agent.llm.ledger import SpendTotals
from agent.loop.outcome import Ended
from agent.memory.capture.writer import is_work
from agent.texts import Sentence
from agent.vault.history.find import commits
from agent.vault.store import Vault

_NOT_YET = Sentence("git is busy; what was changed is committed with the next change")


@dataclass(frozen=True, slots=True)
class RunReport:
    """The result of a run, the full ids of its commits (oldest first), and its cost with its sub-runs; `also` are the
    notes that wait for a yes beside the one that it names."""

    ended: Ended
    commits: tuple[str, ...]
    spent: SpendTotals
    also: tuple[str, ...] = ()


def report(
    ended: Ended, spent: SpendTotals, vault: Vault, wait_for: Callable[[str], object], *, resumed: bool = False
) -> RunReport:
    """The report of a run. Its commits are those with what its tools have done, from the history, once `wait_for` has
    waited for them; what is only its record is left out."""
    made: tuple[str, ...] = ()
    if ended.is_changed or resumed:
        wait_for(ended.run)
        made = tuple(commit.id for commit in reversed(commits(vault, run=ended.run)) if is_work(commit))
        if vault.held_of(ended.session, work=True):
            ended = replace(ended, queued=ended.queued or _NOT_YET)
    return RunReport(ended, made, spent, tuple(_also_asked(vault, ended)))


def _also_asked(vault: Vault, ended: Ended) -> Iterator[str]:
    """The notes about the other calls of a run that wait for a yes."""
    root = ended.run.partition(".")[0]
    if ended.waits_for:
        for each in pending_proposals(vault, "call"):
            if each.run.partition(".")[0] == root and each.path != ended.waits_for:
                yield each.path
