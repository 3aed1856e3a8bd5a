"""The result of a run as one document, the same for every interface; the interfaces put it into sentences."""

from agent.dataclass import dataclass
from agent.llm.ledger import SpendTotals
from agent.loop.outcome import Ended
from agent.memory.capture.writer import AFTER_RUN_TOOLS
from agent.tools.tool import Cited
from agent.vault.history.find import commits
from agent.vault.store import Vault


@dataclass(frozen=True, slots=True)
class RunReport:
    """The result of a run, the full ids of its commits (oldest first), and its cost with its sub-runs."""

    ended: Ended
    commits: tuple[str, ...]
    spent: SpendTotals

    def as_document(self) -> dict[str, object]:
        """The report for JSON: empty texts are null, money is in US dollars."""
        ended = self.ended
        sources = dict.fromkeys((*ended.given, *ended.sources))
        return {
            "answer": ended.answer,
            "outcome": ended.outcome.value,
            "reason": ended.reason or None,
            "hint": ended.hint or None,
            "waits_for": ended.waits_for or None,
            "queued": ended.queued or None,
            "refused": list(ended.refused),
            "run": ended.run,
            "session": ended.session,
            "commits": list(self.commits),
            "sources": [_document(source) for source in sources],
            "used": [_document(source) for source in ended.used],
            "spend": {
                "calls": self.spent.calls,
                "input_tokens": self.spent.usage.input,
                "output_tokens": self.spent.usage.output,
                "money": round(self.spent.money, 6),
            },
        }


def _document(cited: Cited) -> dict[str, object]:
    return {"path": cited.path, "lines": list(cited.lines)}


def report(ended: Ended, spent: SpendTotals, vault: Vault, *, resumed: bool = False) -> RunReport:
    """The report of a run; for a resumed run, its earlier commits are added from the history.

    Commits that memory makes after a run has returned are left out.
    """
    made = ended.commits
    if resumed:
        before = [commit.id for commit in reversed(commits(vault, run=ended.run)) if commit.tool not in AFTER_RUN_TOOLS]
        made = tuple(dict.fromkeys([*before, *made]))
    return RunReport(ended, made, spent)
