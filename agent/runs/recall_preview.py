"""What a run would be given for a task, with receipts, without a run."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from agent.context.tokens import counter
from agent.dataclass import dataclass
from agent.index.embedder import shipped_embedder
from agent.index.hit import SearchResult
from agent.memory.recall.asker import Asker
from agent.memory.recall.eligibility import SPARE, may_be_offered
from agent.runs.accounts import open_accounts
from agent.runs.find_notes import why_document
from agent.runs.question_words import QuestionWords
from agent.runs.recall_source import MemorySource, recall_source
from agent.vault.history.versions import last_commit
from agent.workspace.search_index import SearchIndex
from agent.workspace.workspace import Workspace

PIECES = 8
"""The most passages that come closest, where no other number is asked for."""


@dataclass(frozen=True, slots=True)
class RecallPreview:
    """The answer of the search, and its passages as documents with their receipts."""

    answer: SearchResult
    pieces: list[dict[str, object]]

    @property
    def document(self) -> Mapping[str, object]:
        """The whole for JSON."""
        answer = self.answer
        return {"task": answer.query, "mode": answer.mode, "degraded": answer.degraded, "pieces": self.pieces}


def closest(workspace: Workspace, index: SearchIndex, task: str, limit: int) -> SearchResult:
    """The best passages of the notes that may be offered."""
    answer = index.search(task, limit * SPARE, passages=True, explain=True)
    return replace(answer, hits=tuple(hit for hit in answer.hits if may_be_offered(hit, workspace.vault.home))[:limit])


def given(workspace: Workspace, index: SearchIndex, asker: Asker, task: str, limit: int | None) -> SearchResult:
    """What a run would be given."""
    searches = recall_source(workspace, index)
    if workspace.settings.memory.ask_for_words:
        searches.other_words = QuestionWords(workspace, open_accounts(workspace, counter(shipped_embedder()))).words
    found = MemorySource(searches, asker).given(task)
    return SearchResult(task, found.memories.mode, index.engine, found.hits[:limit], found.memories.degraded)


def preview_recall(workspace: Workspace, look: Callable[[], tuple[SearchResult, str | None]]) -> RecallPreview:
    """The result of `look` (and why the index is behind) with receipts: path, lines, commit, score and reasons."""
    answer, late = look()
    answer = replace(answer, degraded="; ".join(filter(None, [answer.degraded, late])) or None)
    found = sorted({hit.path for hit in answer.hits})
    edited = {item.path for item in workspace.vault.changed_files(found)} if found else set()
    pieces: list[dict[str, object]] = [
        {
            "path": hit.path,
            "title": hit.title,
            "lines": list(hit.lines),
            "commit": None if hit.path in edited else last_commit(workspace.vault, hit.path),
            "score": hit.score,
            "why": why_document(hit),
            "headings": list(hit.headings),
            "text": hit.passage,
        }
        for hit in answer.hits
    ]
    return RecallPreview(answer, pieces)
