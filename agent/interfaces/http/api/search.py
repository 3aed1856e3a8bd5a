"""Search, what a run would be given for a task, and remembering: a fact that the person wants to be kept."""

from contextlib import closing
from functools import partial
from typing import Annotated

import msgspec

from agent.deeds.search import Findings, RecallView, findings, recall_view
from agent.errors import UserError
from agent.interfaces.http.operation import Routes, TypedReply
from agent.interfaces.http.service import Service
from agent.memory.recall.authorship import Asker
from agent.memory.remember import remember
from agent.runs.find_notes import commit_at, find_notes
from agent.runs.recall_source import PIECES, closest, passages_for_run, preview_recall
from agent.workspace.catch_up import catch_up, open_past, search_whole
from agent.workspace.workspace import Workspace

ROUTES = Routes("/api/v1")
RememberedText = Annotated[str, msgspec.Meta(min_length=1, max_length=20_000)]
"""Whole sentences, with names."""
Keywords = Annotated[tuple[Annotated[str, msgspec.Meta(max_length=100)], ...], msgspec.Meta(max_length=50)]
Query = Annotated[str, msgspec.Meta(min_length=1, max_length=4_000)]
"""Filters in it: path: tag: type: scope: after: before: and any header key, as key:value; kind:agent finds the agent's
own notes."""
Most = Annotated[int, msgspec.Meta(ge=1, le=200)]
Revision = Annotated[str, msgspec.Meta(max_length=100)]
"""A commit or a time."""


@ROUTES.get("/search", "Find notes by words and by meaning")
def search(
    service: Service,
    query: Query,
    limit: Most = 10,
    passages: bool = False,
    explain: bool = False,
    all: bool = False,
    as_of: Revision = "",
) -> Findings:
    """The notes that fit a query best, now or in the past."""
    workspace = service.workspace
    wanted = partial(find_notes, limit=limit, passages=passages, explain=explain, whole=all, in_past=bool(as_of))
    if as_of:
        with closing(open_past(workspace, commit_at(workspace, as_of))) as past:
            late = catch_up(workspace, past, in_past=True)
            (answer, took), late = search_whole(workspace, past, lambda: wanted(past, query), late, in_past=True)
            return findings(answer, took, late)
    with service.index.held() as index:
        late = catch_up(workspace, index)
        (answer, took), late = search_whole(workspace, index, lambda: wanted(index, query), late)
    return findings(answer, took, late)


@ROUTES.get("/recall", "What a model would be given for a task")
def recall(service: Service, task: Query, limit: Most | None = None, all: bool = False) -> RecallView:
    """The memories and passages that a run would be given for a task."""
    workspace = service.workspace
    with service.index.held() as index:
        late = catch_up(workspace, index)
        best = partial(closest, workspace, index, task, limit or PIECES)
        look = best if all else partial(passages_for_run, workspace, index, Asker("", "", True), task, limit)
        found = preview_recall(workspace, partial(search_whole, workspace, index, look, late))
    return recall_view(found, task)


class RememberedEntry(msgspec.Struct, frozen=True):
    """The entry; `known`: it was there already, and is counted again."""

    path: str
    id: str
    commit: str | None
    queued: str | None
    known: bool


@ROUTES.post("/remember", "Remember a text", 200, 202, 409, status=201, name="remember")
def remember_text(workspace: Workspace, text: RememberedText, keywords: Keywords = ()) -> TypedReply[RememberedEntry]:
    """Write an entry, or count the one that says the same."""
    vault = workspace.vault
    if not text.strip():
        raise UserError("there is nothing to remember", hint='vault-agent remember "Anna likes green tea"')
    entry, outcome, known = remember(vault, text, keywords, workspace.settings.vault.language)
    done = RememberedEntry(vault.home.at(entry.path), entry.id, outcome.commit, outcome.queued, known)
    return TypedReply(done, status=202 if outcome.queued else 200 if known else 201)
