"""The process that holds the search index for `searches`, and answers one question at a time on its standard input.

The index, its model and its engines are three quarters of the memory that a server would have. This process is started
for the first search, and ends by itself when nobody has searched for a while, or when the server has ended.
"""

import os
import pickle
import sys
from dataclasses import replace
from pathlib import Path
from select import select
from typing import TypeAlias

from agent.app.open import open_workspace
from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.index.query import SearchResult
from agent.interfaces.mcp.searches import SearchFailure, SearchQuestion
from agent.memory.recall.recaller import Recollection
from agent.runs.recall_source import RecallSource, recall_source
from agent.tools.tool import RunContext
from agent.workspace.catch_up import catch_up, open_ahead, prefetch_contents, search_whole
from agent.workspace.workspace import Workspace

IDLE = 60.0
"""Seconds without a question after which this process ends."""
Found: TypeAlias = SearchResult | Recollection


@dataclass(slots=True)
class IndexSearches:
    """The searches of one vault in this process; the index is brought up to date before each one."""

    workspace: Workspace
    _source: RecallSource | None = None

    def find(self, asked: SearchQuestion) -> Found:
        """Passages of notes, or memories, with the reason why something may be missing."""
        source, late = self._ready()
        return find_in(self.workspace, source, asked, late)

    def _ready(self) -> tuple[RecallSource, str | None]:
        """The searches, and why the index is behind."""
        if self._source is None:
            index, notes = open_ahead(self.workspace)
            self._source = recall_source(self.workspace, index)
        else:
            notes = prefetch_contents(self.workspace)
        return self._source, catch_up(self.workspace, self._source.library, notes)


def find_in(workspace: Workspace, source: RecallSource, asked: SearchQuestion, late: str | None) -> Found:
    """Passages of notes, or memories; `late` is why the index is behind, None if it is not."""

    def search() -> Found:
        if not asked.memories:
            return source.search(asked.text, asked.limit)
        return source.remembered(asked.text, asked.limit, RunContext(asked.run, "", channel=asked.channel))

    found, late = search_whole(workspace, source.library, search, late)
    return replace(found, degraded="; ".join(filter(None, [found.degraded, late])) or None)


def serve(root: Path) -> None:
    """Answer questions until there are no more."""
    outgoing = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints is no answer
    searches = IndexSearches(open_workspace(root))
    incoming = sys.stdin.buffer
    while select([incoming], [], [], IDLE)[0]:
        try:
            asked = pickle.load(incoming)
        except EOFError:
            return
        answer: Found | SearchFailure
        try:
            answer = searches.find(asked)
        except AgentError as error:
            answer = SearchFailure(str(error.message), str(error.hint))
        except Exception as error:  # noqa: BLE001 - told to the program that asked; the next question may be answered
            answer = SearchFailure(f"search failed: {type(error).__name__}: {error}")
        pickle.dump(answer, outgoing)
        outgoing.flush()


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
