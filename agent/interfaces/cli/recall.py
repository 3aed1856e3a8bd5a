"""`vault-agent recall`: the passages that a model could get for a task, each with its receipt."""

from collections.abc import Collection
from contextlib import closing
from dataclasses import replace
from functools import partial

import click

from agent.app.open import open_workspace
from agent.context.tokens import counter
from agent.errors import UserError
from agent.index.embedder import shipped_embedder
from agent.index.hit import Hit, SearchResult
from agent.interfaces.cli.guest import asking, guest_options
from agent.interfaces.cli.language import said
from agent.interfaces.cli.output import Output, progress
from agent.interfaces.cli.search import why
from agent.memory.recall.asker import Asker
from agent.memory.recall.eligibility import SPARE, may_be_offered
from agent.runs.accounts import open_accounts
from agent.runs.extractive_provider import ExtractiveProvider
from agent.runs.question_words import QuestionWords
from agent.runs.recall_source import MemorySource, recall_source
from agent.vault.history.versions import last_commit
from agent.workspace.catch_up import catch_up, open_ahead, search_whole
from agent.workspace.search_index import SearchIndex
from agent.workspace.workspace import Workspace

_PIECES = 8


@click.command(short_help="Show what a model would be given for a task.")
@click.argument("task")
@click.option("-n", "--limit", type=click.IntRange(1), help=f"The most passages (with --all: {_PIECES}).")
@click.option("--all", "whole", is_flag=True, help="Show what comes closest in all notes, given or not.")
@guest_options
@click.pass_obj
def command(output: Output, task: str, limit: int | None, whole: bool, name: str, group: str, channel: str) -> None:
    """Show what a run would be given for TASK, with receipts: path, lines, commit, score and reasons.

    These are memories and passages of other notes, if they are likely to help; with --all the best passages of all
    notes except transcripts, the archive and notes with instructions for the agent.
    """
    if not task.strip():
        raise UserError("the task is empty", hint='vault-agent recall "tea for Anna"')
    who = asking(name, group, channel)
    if whole and name:
        raise UserError("--all shows the owner's notes, which a guest does not see", hint="leave out --all or --as")
    asker = Asker(who.speaker.sender, who.chat, who.role == "owner")
    workspace = open_workspace(output.vault())
    index, notes = open_ahead(workspace, task)
    with closing(index):
        late = catch_up(workspace, index, notes, progress=progress)
        best = partial(_best, workspace, index, task, limit or _PIECES)
        look = best if whole else partial(_given, workspace, index, asker, task, limit)
        answer, late = search_whole(workspace, index, look, late)
    answer = replace(answer, degraded="; ".join(filter(None, [answer.degraded, late])) or None)
    edited = {item.path for item in workspace.vault.changed_files()}
    pieces = [_piece(workspace, hit, edited) for hit in answer.hits]
    document = {"task": task, "mode": answer.mode, "degraded": answer.degraded, "pieces": pieces}
    output.emit(document, lambda: _format(answer, pieces))


def _best(workspace: Workspace, index: SearchIndex, task: str, limit: int) -> SearchResult:
    """The best passages of the notes that may be offered."""
    answer = index.search(task, limit * SPARE, passages=True, explain=True)
    return replace(answer, hits=tuple(hit for hit in answer.hits if may_be_offered(hit, workspace.vault.home))[:limit])


def _given(workspace: Workspace, index: SearchIndex, asker: Asker, task: str, limit: int | None) -> SearchResult:
    """What a run would be given."""
    searches = recall_source(workspace, index)
    if workspace.settings.memory.ask_for_words:
        stand_in = ExtractiveProvider(searches, workspace.settings.vault.language)
        accounts = open_accounts(workspace, counter(shipped_embedder()), stand_in)
        searches.other_words = QuestionWords(workspace, accounts).words
    given = MemorySource(searches, asker).given(task)
    return SearchResult(task, given.memories.mode, index.engine, given.hits[:limit], given.memories.degraded)


def _piece(workspace: Workspace, hit: Hit, edited: Collection[str]) -> dict[str, object]:
    return {
        "path": hit.path,
        "title": hit.title,
        "lines": list(hit.lines),
        "commit": None if hit.path in edited else last_commit(workspace.vault, hit.path),
        "score": hit.score,
        "why": why(hit),
        "headings": list(hit.headings),
        "text": hit.passage,
    }


def _format(answer: SearchResult, pieces: list[dict[str, object]]) -> str:
    lines: list[str] = []
    for hit, piece in zip(answer.hits, pieces, strict=True):
        commit = str(piece["commit"])[:12] if piece["commit"] else said("not committed")
        best = ", ".join(f"{leg.name} {leg.share:.2f}" for leg in hit.why[:3])
        lines += [f"## {hit.title}  ({hit.path}:{hit.lines[0]}-{hit.lines[1]} @ {commit})", hit.passage.strip()]
        lines += [said("   score {score:.2f}: {best}", score=hit.score, best=best), ""]
    lines += [] if pieces else [said("nothing is given for it; --all shows what comes closest")]
    lines += [said("degraded: {reason}", reason=said(answer.degraded))] if answer.degraded else []
    return "\n".join(lines)
