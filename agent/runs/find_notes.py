"""A search as every interface does it: the person's own notes before what the program wrote; and as a document."""

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from agent.errors import UserError
from agent.index.hit import Hit, SearchResult
from agent.memory.recall.eligibility import is_unfilled
from agent.vault.history.commits import resolve
from agent.vault.history.find import commits
from agent.vault.history.trailers import is_commit_id
from agent.vault.history.typed_time import parse_time
from agent.workspace.person_first import MORE, person_first
from agent.workspace.workspace import Workspace

if TYPE_CHECKING:
    from agent.workspace.search_index import SearchIndex


def find_notes(
    index: "SearchIndex", query: str, limit: int, *, passages: bool = False, explain: bool = False
) -> tuple[SearchResult, float]:
    """The best hits, and the milliseconds that the search took."""
    started = time.perf_counter()
    answer = index.search(query, limit + MORE, passages=passages, explain=True)
    home = index.workspace.vault.home
    answer = replace(answer, hits=tuple(hit for hit in answer.hits if not is_unfilled(hit, home)))
    found = person_first(answer, limit, home)
    if not explain:
        found = replace(found, hits=tuple(replace(hit, why=()) for hit in found.hits))
    return found, (time.perf_counter() - started) * 1000


def commit_at(workspace: Workspace, when: str) -> str:
    """The commit (a full id) that a person means by a commit, or by a day or moment: the last one until its end."""
    try:
        until = parse_time(when, workspace.clock.now(), end=True)
    except UserError:
        until = None
    if until is None or is_commit_id(when):
        return resolve(workspace.vault, when)
    found = commits(workspace.vault, until=until, limit=1)
    if not found:
        raise UserError("there is no commit before {when}", hint="vault-agent log -n 0 lists them all", when=when)
    return found[0].id


def search_document(answer: SearchResult, took: float, late: str | None) -> dict[str, object]:
    """The result of a search; `late` is why the index is behind."""
    return {
        "query": answer.query,
        "mode": "hybrid" if answer.mode == "hybrid" else "keyword",
        "degraded": "; ".join(filter(None, [answer.degraded, late])) or None,
        "engine": answer.engine,
        "took_ms": round(took, 1),
        "hits": [hit_document(hit) for hit in answer.hits],
    }


def hit_document(hit: Hit) -> dict[str, object]:
    """A hit of a search."""
    return {
        "path": hit.path,
        "title": hit.title,
        "id": hit.id,
        "score": hit.score,
        "lines": list(hit.lines),
        "passage": hit.passage,
        "headings": list(hit.headings),
        "why": why_document(hit),
    }


def why_document(hit: Hit) -> list[dict[str, object]]:
    """The signals of a hit."""
    return [{"leg": leg.name, "rank": leg.rank, "score": leg.score, "share": leg.share} for leg in hit.why]
