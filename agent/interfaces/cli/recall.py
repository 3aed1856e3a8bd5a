"""`vault-agent recall`: the passages that a model could get for a task, each with its receipt."""

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

import click

from agent.errors import UserError
from agent.interfaces.cli.declare import words_argument
from agent.interfaces.cli.guest import asking, guest_options
from agent.interfaces.cli.host import index_for, using, workspace_for
from agent.interfaces.cli.language import listed, spoken, tr
from agent.interfaces.cli.output import Output
from agent.interfaces.cli.progress_bar import indexing
from agent.lazy import later
from agent.memory.recall.authorship import Asker
from agent.runs.recall_source import PIECES, RecallPreview, closest, passages_for_run, preview_recall
from agent.texts import text
from agent.workspace.catch_up import catch_up, search_whole

if TYPE_CHECKING:
    from agent.deeds.search import recall_view
else:  # only for --json
    recall_view = later("agent.deeds.search", "recall_view")


@click.command()
@words_argument("task")
@click.option("-n", "--limit", type=click.IntRange(1), help=f"The most passages (with --all: {PIECES}).")
@click.option("--all", "whole", is_flag=True, help="Show what comes closest in all notes, given or not.")
@click.option("--explain", is_flag=True, help="Show all that a model would be given first, and the budget of tokens.")
@guest_options
@click.pass_obj
def command(
    output: Output, task: str, limit: int | None, whole: bool, explain: bool, name: str, group: str, channel: str
) -> None:
    """Show what a run would be given for TASK, with receipts: path, lines, commit, score and reasons.

    These are memories and passages of other notes, if they are likely to help; with --all the best passages of all
    notes except transcripts, the archive and notes with instructions for the agent. With --explain, the whole first
    request of a conversation is shown part by part.
    """
    if not task.strip():
        raise UserError("the task is empty", hint='vault-agent recall "tea for Anna"')
    who = asking(name, group, channel)
    if explain:
        if limit or whole:
            raise UserError("--explain shows all that is given", hint="leave out -n and --all")
        import_module("agent.interfaces.cli.context").show_context(output, task, who)
        return
    if whole and name:
        raise UserError("--all shows the owner's notes, which a guest does not see", hint="leave out --all or --as")
    asker = Asker(who.speaker.sender, who.chat, who.role == "owner")
    workspace = workspace_for(output)
    index, notes = index_for(workspace)
    with using(index):
        late = catch_up(workspace, index, notes, show=partial(indexing, output))
        best = partial(closest, workspace, index, task, limit or PIECES)
        look = best if whole else partial(passages_for_run, workspace, index, asker, task, limit)
        found = preview_recall(workspace, partial(search_whole, workspace, index, look, late))
    output.emit(lambda: recall_view(found, task), lambda: _format(found))


def _format(found: RecallPreview) -> str:
    answer, lines = found.answer, list[str]()
    for hit, oid in zip(answer.hits, found.commits, strict=True):
        commit = oid[:12] if oid else tr("not committed")
        best = listed(f"{text(f'search_signals.{leg.name}', spoken())} {leg.share:.2f}" for leg in hit.why[:3])
        lines += [f"## {hit.title}  ({hit.path}:{hit.lines[0]}-{hit.lines[1]} @ {commit})", hit.passage.strip()]
        lines += [tr("   score {score:.2f}: {best}", score=hit.score, best=best), ""]
    lines += [] if answer.hits else [tr("nothing is given for it; --all shows what comes closest")]
    lines += [tr("degraded: {reason}", reason=tr(answer.degraded))] if answer.degraded else []
    return "\n".join(lines)
