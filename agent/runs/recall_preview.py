"""What a run would be given for a task, with receipts, without a run."""

from collections.abc import Callable
from dataclasses import replace

from agent.dataclass import dataclass
from agent.index.query import SearchResult
from agent.memory.recall.asker import Asker
from agent.memory.recall.candidates import SPARE, may_be_offered
from agent.runs.recall_source import MemorySource, recall_source
from agent.vault.history.versions import last_commit
from agent.workspace.search_index import SearchIndex
from agent.workspace.workspace import Workspace

PIECES = 8
"""The most passages that come closest, where no other number is asked for."""


@dataclass(frozen=True, slots=True)
class RecallPreview:
    """The answer of the search, and for each passage the last commit of its note (None: it was edited since)."""

    answer: SearchResult
    commits: tuple[str | None, ...]


def closest(workspace: Workspace, index: SearchIndex, task: str, limit: int) -> SearchResult:
    """The best passages of the notes that may be offered."""
    answer = index.search(task, limit * SPARE, passages=True, explain=True)
    return replace(answer, hits=tuple(hit for hit in answer.hits if may_be_offered(hit, workspace.vault.home))[:limit])


def given(workspace: Workspace, index: SearchIndex, asker: Asker, task: str, limit: int | None) -> SearchResult:
    """What a run would be given."""
    found = MemorySource(recall_source(workspace, index), asker).given(task)
    hits = tuple(each.hit for each in found.found)
    return SearchResult(task, found.mode, index.engine, hits[:limit], found.degraded)


def preview_recall(workspace: Workspace, look: Callable[[], tuple[SearchResult, str | None]]) -> RecallPreview:
    """The result of `look` (and why the index is behind) with receipts: path, lines, commit, score and reasons."""
    answer, late = look()
    answer = replace(answer, degraded="; ".join(filter(None, [answer.degraded, late])) or None)
    found = sorted({hit.path for hit in answer.hits})
    edited = {item.path for item in workspace.vault.changed_files(found)} if found else set()
    vault = workspace.vault
    commits = (None if hit.path in edited else last_commit(vault, hit.path) for hit in answer.hits)
    return RecallPreview(answer, tuple(commits))
