"""`vault-agent recall`: what would be put before a model for a task, each piece with its receipt."""

from collections.abc import Collection
from contextlib import closing
from dataclasses import replace
from functools import partial

import click

from agent.app.build import App, build
from agent.errors import UserError
from agent.index.hit import Answer, Hit
from agent.interfaces.cli.output import Output
from agent.interfaces.cli.search import ask_whole, catch_up, opened_ahead
from agent.memory.given import SPARE, is_given
from agent.vault.write.survey import dirty

_PIECES = 8


@click.command(short_help="Show what a model would be given for a task.")
@click.argument("task")
@click.option("-n", "--limit", default=_PIECES, show_default=True, help="How many passages.")
@click.pass_obj
def command(output: Output, task: str, limit: int) -> None:
    """Show the passages that belong to TASK, with receipts: path, lines, commit, score and why.

    The best of all notes but transcripts, the archive and what steers; `context --explain` shows which of them a run
    would begin with, and what room they take.
    """
    if not task.strip():
        raise UserError("the task is empty", hint='vault-agent recall "tea for Anna"')
    app = build(output.vault())
    index, notes = opened_ahead(app, task)
    with closing(index):
        late = catch_up(app, index, notes)
        ask = partial(index.search, task, limit * SPARE, passages=True, explain=True)
        answer, late = ask_whole(app, index, ask, late)
    hits = tuple(hit for hit in answer.hits if is_given(hit))[:limit]
    answer = replace(answer, hits=hits, degraded="; ".join(filter(None, [answer.degraded, late])) or None)
    edited = {item.path for item in dirty(app.vault.git, app.vault.place)}
    pieces = [_piece(app, hit, edited) for hit in answer.hits]
    document = {"task": task, "mode": answer.mode, "degraded": answer.degraded, "pieces": pieces}
    output.emit(document, lambda: _said(answer, pieces))


def _piece(app: App, hit: Hit, edited: Collection[str]) -> dict[str, object]:
    return {
        "path": hit.path,
        "title": hit.title,
        "lines": list(hit.lines),
        "commit": None if hit.path in edited else _commit(app, hit.path),
        "score": hit.score,
        "why": [{"leg": leg.name, "rank": leg.rank, "score": leg.score, "share": leg.share} for leg in hit.why],
        "headings": list(hit.headings),
        "text": hit.passage,
    }


def _commit(app: App, path: str) -> str | None:
    """The commit that last changed the note; None where no commit has the note's lines as they are."""
    command = ["log", "-1", "--format=%H", "HEAD", "--", app.vault.place.prefix + path]
    return app.vault.git.run(*command, ok=(0, 128)).decode().strip() or None


def _said(answer: Answer, pieces: list[dict[str, object]]) -> str:
    lines: list[str] = []
    for hit, piece in zip(answer.hits, pieces, strict=True):
        commit = str(piece["commit"] or "not committed")[:12]
        best = ", ".join(f"{leg.name} {leg.share:.2f}" for leg in hit.why[:3])
        lines += [f"## {hit.title}  ({hit.path}:{hit.lines[0]}-{hit.lines[1]} @ {commit})", hit.passage.strip()]
        lines += [f"   score {hit.score:.2f}: {best}", ""]
    lines += [] if pieces else ["nothing to recall"]
    lines += [f"degraded: {answer.degraded}"] if answer.degraded else []
    return "\n".join(lines)
