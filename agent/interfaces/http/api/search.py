"""Search, and what a run would be given for a task."""

from contextlib import closing
from functools import partial
from typing import Annotated

import msgspec

from agent.interfaces.http.api.typed import typed
from agent.interfaces.http.operation import Call, Operation
from agent.memory.recall.asker import Asker
from agent.runs.find_notes import commit_at, find_notes, search_document
from agent.runs.recall_preview import PIECES, closest, given, preview_recall
from agent.workspace.catch_up import catch_up, open_past, search_whole

Query = Annotated[str, msgspec.Meta(min_length=1, max_length=4_000)]


class SearchParams(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to search for; filters in it: path: tag: type: scope: after: before: and any header key, as key:value.
    `as_of` is a commit or a time."""

    query: Query
    limit: Annotated[int, msgspec.Meta(ge=1, le=200)] = 10
    passages: bool = False
    explain: bool = False
    as_of: Annotated[str, msgspec.Meta(max_length=100)] = ""


class HitSignal(msgspec.Struct, frozen=True):
    """One reason for a hit: its rank and score in this search, and its share of the whole score."""

    leg: str
    rank: int
    score: float
    share: float


class Found(msgspec.Struct, frozen=True):
    """A note, or a passage of one."""

    path: str
    title: str
    id: str | None
    score: float
    lines: list[int]
    passage: str
    headings: list[str]
    why: list[HitSignal]


class Findings(msgspec.Struct, frozen=True):
    """The hits, best first; `degraded` says what keeps the search from finding all."""

    query: str
    mode: str
    degraded: str | None
    engine: str
    took_ms: float
    hits: list[Found]


class RecallParams(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The task; with `all` what comes closest in all notes, given or not."""

    task: Query
    limit: Annotated[int, msgspec.Meta(ge=1, le=200)] | None = None
    all: bool = False


class RecalledPassage(msgspec.Struct, frozen=True):
    """A passage with its receipt."""

    path: str
    title: str
    lines: list[int]
    commit: str | None
    score: float
    why: list[HitSignal]
    headings: list[str]
    text: str


class RecallView(msgspec.Struct, frozen=True):
    """What a run would be given for a task."""

    task: str
    mode: str
    degraded: str | None
    pieces: list[RecalledPassage]


def search(call: Call[SearchParams, None]) -> Findings:
    """The notes that fit a query best, now or in the past."""
    asked, workspace = call.params, call.service.workspace
    wanted = partial(find_notes, limit=asked.limit, passages=asked.passages, explain=asked.explain)
    if asked.as_of:
        with closing(open_past(workspace, commit_at(workspace, asked.as_of))) as past:
            late = catch_up(workspace, past, in_past=True)
            (answer, took), late = search_whole(workspace, past, lambda: wanted(past, asked.query), late, in_past=True)
            return typed(search_document(answer, took, late), Findings)
    with call.service.index.held() as index:
        late = catch_up(workspace, index)
        (answer, took), late = search_whole(workspace, index, lambda: wanted(index, asked.query), late)
    return typed(search_document(answer, took, late), Findings)


def recall(call: Call[RecallParams, None]) -> RecallView:
    """The memories and passages that a run would be given for a task."""
    asked, workspace = call.params, call.service.workspace
    with call.service.index.held() as index:
        late = catch_up(workspace, index)
        best = partial(closest, workspace, index, asked.task, asked.limit or PIECES)
        look = best if asked.all else partial(given, workspace, index, Asker("", "", True), asked.task, asked.limit)
        found = preview_recall(workspace, partial(search_whole, workspace, index, look, late))
    return typed({**found.document, "task": asked.task}, RecallView)


OPERATIONS = (
    Operation("GET", "/api/v1/search", "search", "Find notes by words and by meaning", search, Findings, SearchParams),
    Operation("GET", "/api/v1/recall", "recall", "What a model would be given for a task", recall, RecallView,
              RecallParams),
)  # fmt: skip
