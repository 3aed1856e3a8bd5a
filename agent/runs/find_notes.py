"""A search as every interface does it: the person's notes and the facts that they told, and the agent's own only where
they are asked for.

What is said of hits that have no word of the query: "no note has these words" only where that is known.

Notes that are not indexed yet or cannot be, that a filter leaves out or that are not shown, may have them.
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from importlib import import_module
from itertools import islice
from typing import TYPE_CHECKING

from agent.errors import UserError
from agent.index.query import Hit, SearchResult, without_filters
from agent.lazy import only_once
from agent.memory.recall.authorship import has_both_authors, has_most_words, has_word, is_agents, is_near, parse_search
from agent.memory.recall.candidates import is_unfilled
from agent.texts import Sentence
from agent.vault.history.commit_index import is_commit_id
from agent.vault.history.commits import resolve
from agent.vault.history.find import commits
from agent.vault.history.typed_time import parse_time
from agent.vault.listing import count_ignored_notes
from agent.vault.store import Vault
from agent.workspace.index_status import index_state
from agent.workspace.workspace import Workspace

if TYPE_CHECKING:
    from agent.workspace.search_index import SearchIndex

_FAR = 1 / 3
"""The share of the best score below which a hit without a word of the query is left out: where the best one has what
is looked for, a note that only resembles the words is noise."""
MORE = 50
"""Hits that are requested beside those that are shown, as some are not eligible."""


def find_notes(
    index: "SearchIndex",
    query: str,
    limit: int,
    *,
    passages: bool = False,
    explain: bool = False,
    whole: bool = False,
    in_past: bool = False,
) -> tuple[SearchResult, float]:
    """The best hits, and the milliseconds that the search took. `whole`: also the agent's own notes, after the
    person's; `in_past`: the index is of a commit."""
    started = time.perf_counter()
    home = index.workspace.vault.home
    scope = parse_search(query, home, index.workspace.clock.now().date(), whole=whole)
    every = index.search(scope.text, limit + MORE, passages=passages, explain=True, without=scope.without)
    hits = _close(hit for hit in every.hits if scope.may_have(hit) and not is_unfilled(hit, home) and is_near(hit))
    hits.sort(key=lambda hit: is_agents(hit, home))  # a stable sort keeps the order of each
    left = _persons_part(index.workspace.vault, hits, scope.text) if scope.without and not in_past else hits
    best = tuple(islice(filter(None, left), limit))
    has_words = any(map(has_word, best)) or not any(hit.why for hit in every.hits)
    is_by_meaning = every.mode in {"hybrid", "vector"} and not has_words
    is_elsewhere = is_by_meaning and any(map(has_word, every.hits))
    if not explain:
        best = tuple(replace(hit, why=()) for hit in best)
    found = replace(every, query=query, hits=best, is_near=is_by_meaning, is_elsewhere=is_elsewhere)
    return found, (time.perf_counter() - started) * 1000


def _persons_part(vault: Vault, hits: Sequence[Hit], text: str) -> Iterator[Hit | None]:
    """The hits with the person's lines only; None for one that has none that says what is looked for."""
    lines = only_once(lambda: import_module("agent.runs.likely_passages").PersonsLines(vault))  # few notes have both
    for hit in hits:
        is_shared = hit.is_of_note and has_both_authors(hit.path, vault.read(hit.path) or b"", vault.home)
        yield lines().left_of(hit, text) if is_shared else hit


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


def words_of_near_hits(
    index: "SearchIndex", answer: SearchResult, late: str | None, *, in_past: bool = False
) -> Sentence | None:
    """The sentence above hits that were found by their meaning alone, or in place of any; None for others. `late`: why
    the index is behind."""
    if not answer.is_near:
        return None
    known = _known(index, answer, late, in_past=in_past)
    return Sentence("{known}; these are nearest in meaning", known=known) if answer.hits else known


def _known(index: "SearchIndex", answer: SearchResult, late: str | None, *, in_past: bool) -> Sentence:
    """A hint about notes with words of the query."""
    if reason := late or answer.degraded or (None if in_past else _unknown(index)):
        return Sentence("whether a note has these words is not known ({reason})", reason=reason)
    if answer.is_elsewhere:
        return Sentence("only notes that are not shown have some of these words")
    workspace = index.workspace
    text = parse_search(answer.query, workspace.vault.home, workspace.clock.now().date()).text
    others = index.search(without_filters(answer.text), MORE, explain=True) if answer.text != text else None
    if others is not None and any(map(has_word, others.hits)):
        return Sentence("only notes that the filter leaves out have some of these words")
    return Sentence("no note has these words")


def _unknown(index: "SearchIndex") -> Sentence | None:
    """Why notes may have words that search does not find; None if it finds those of all notes."""
    state = index_state(index.workspace, index.listed)
    if state.coverage is None:
        return Sentence("the index: {problem}", problem=state.problem)
    if state.outdated or state.coverage.pending:
        count = (state.outdated or 0) + state.coverage.pending
        return Sentence("{count} changes are not indexed yet", count=count)
    left = len(state.coverage.skipped) + len(state.coverage.failed) + len(state.coverage.partly)
    if left:
        return Sentence("{count} notes are not or not whole in the index: vault-agent status --notes", count=left)
    ignored = count_ignored_notes(index.workspace.vault)
    return Sentence("{count} notes are left out, since git ignores them", count=ignored) if ignored else None


def _close(hits: Iterable[Hit]) -> list[Hit]:
    """The hits with a word of the search, and those that are about as near as the best one with most of its words."""
    found = list(hits)
    least = _FAR * max((each.score for each in found if has_most_words(each)), default=0.0)
    return [hit for hit in found if has_word(hit) or hit.score >= least]
