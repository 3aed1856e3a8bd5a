"""The searches of programs. The index is opened at the first search and kept, and brought up to date before each one.

This is the only place where the index is opened, and the largest part of the process's memory.
"""

import threading
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import TYPE_CHECKING

from agent.tools.tool import RunContext
from agent.workspace.catch_up import catch_up, open_ahead, prefetch_contents, search_whole
from agent.workspace.workspace import Workspace

if TYPE_CHECKING:
    from agent.index.hit import SearchResult
    from agent.memory.recall.recaller import Recollection
    from agent.runs.recall_source import RecallSource
    from agent.workspace.catch_up import Prefetch


@dataclass(slots=True)
class Searches:
    """Searches of one vault; may be used by several threads."""

    workspace: Workspace
    _source: "RecallSource | None" = None
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def search(self, question: str, limit: int) -> "SearchResult":
        """Passages of all notes except transcripts and the archive."""
        with self._lock:
            source, late = self._ready(question)
            found, late = search_whole(self.workspace, source.library, lambda: source.search(question, limit), late)
            return replace(found, degraded=_reasons(found.degraded, late))

    def remembered(self, question: str, limit: int, context: RunContext) -> "Recollection":
        """The memories about a question, for the person of the program."""
        with self._lock:
            source, late = self._ready(question)
            recall = source.remembered
            found, late = search_whole(self.workspace, source.library, lambda: recall(question, limit, context), late)
            return replace(found, degraded=_reasons(found.degraded, late))

    def close(self) -> None:
        """Close the index."""
        with self._lock:
            if self._source is not None:
                self._source.close()
                self._source.library.close()
                self._source = None

    def _ready(self, question: str) -> "tuple[RecallSource, str | None]":
        """The searches, and why the index is behind."""
        notes: Prefetch[dict[str, str]] | None
        if self._source is None:
            index, notes = open_ahead(self.workspace, question)
            source: RecallSource = import_module("agent.runs.recall_source").recall_source(self.workspace, index)
            self._source = source
        else:
            notes = prefetch_contents(self.workspace)
        return self._source, catch_up(self.workspace, self._source.library, notes)


def _reasons(*reasons: str | None) -> str | None:
    return "; ".join(filter(None, reasons)) or None
