"""`vault-agent search`: finds notes by words and by meaning, now or in the past."""

import os
import shlex
import subprocess
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import click

from agent.errors import UserError
from agent.escape import escape_line
from agent.index.analysis import query_terms, terms
from agent.index.query import Hit, SearchResult
from agent.interfaces.cli.declare import words_argument
from agent.interfaces.cli.host import index_for, using, workspace_for
from agent.interfaces.cli.language import spoken, tr
from agent.interfaces.cli.output import Output, to_json
from agent.interfaces.cli.printing import columns, padded, show
from agent.interfaces.cli.progress_bar import indexing
from agent.lazy import later
from agent.memory.recall.authorship import is_agents
from agent.runs.find_notes import commit_at, find_notes, words_of_near_hits
from agent.texts import Sentence, text
from agent.workspace.catch_up import catch_up, open_past, search_whole
from agent.workspace.workspace import Workspace

if TYPE_CHECKING:
    from agent.deeds.search import findings
else:  # only for --json
    findings = later("agent.deeds.search", "findings")

_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
_SHOWN = 3
"""Lines of a passage that are shown."""
_COMMENT = "%% vault-agent:"
_GOES_TO_A_LINE = {"vi", "vim", "nvim", "nano", "emacs", "emacsclient"}


@click.command()
@words_argument("query", required=False)
@click.option("-n", "--limit", type=click.IntRange(1), default=10, show_default=True, help="How many hits.")
@click.option("--passages", is_flag=True, help="One hit per passage instead of one per note.")
@click.option("--all", "whole", is_flag=True, help="Also the agent's own notes, after yours.")
@click.option("--explain", is_flag=True, help="Show every signal's rank, score and share.")
@click.option("--as-of", "as_of", metavar="COMMIT|DATE", help="Search the notes as they were then.")
@click.option("--queries", type=_FILE, help="A file with one query a line.")
@click.option("--open", "opened", type=int, metavar="N", help="Open the N-th hit in $EDITOR, or in Obsidian.")
@click.pass_obj
def command(
    output: Output,
    query: str | None,
    limit: int,
    passages: bool,
    whole: bool,
    explain: bool,
    as_of: str | None,
    queries: Path | None,
    opened: int | None,
) -> None:
    """Search for QUERY in your notes and in what you told.

    Filters in it: path: tag: type: scope: after: before: and any header key, as key:value; kind:agent finds the agent's
    own notes."""
    if (query is None) == (queries is None):
        raise UserError("give one QUERY, or --queries FILE", hint='vault-agent search "green tea"')
    if query is not None and not query.strip():
        raise UserError("the query is empty", hint='vault-agent search "green tea"')
    workspace = workspace_for(output)
    if as_of:
        index, notes = open_past(workspace, commit_at(workspace, as_of)), None
    else:
        index, notes = index_for(workspace)
    wanted = partial(find_notes, index, passages=passages, explain=explain, whole=whole, in_past=as_of is not None)
    with using(index):
        late = catch_up(workspace, index, notes, in_past=as_of is not None, show=partial(indexing, output))
        if queries is not None:
            for line in _lines(queries):
                found = wanted(line, limit)
                show(to_json({"ok": True, **findings(*found, late).document()}))
            return
        ask = partial(wanted, query or "", limit)
        (answer, took), late = search_whole(workspace, index, ask, late, in_past=as_of is not None)
        near = words_of_near_hits(index, answer, late, in_past=as_of is not None)
    if opened is not None:
        _open(workspace, answer, opened)
    output.emit(lambda: findings(answer, took, late), lambda: _format(workspace, answer, took, late, near))


def _lines(path: Path) -> Iterator[str]:
    text = path.read_text("utf-8", "replace")
    return (line.strip() for line in text.splitlines() if line.strip())


def _format(workspace: Workspace, answer: SearchResult, took: float, late: str | None, near: Sentence | None) -> str:
    lines = [tr(near)] if near is not None else []
    for number, hit in enumerate(answer.hits, 1):
        is_own = is_agents(hit, workspace.vault.home)
        own = "  " + tr("(the agent's own)") if is_own else ""
        lines.append(f"{number:2} {escape_line(hit.title)}  {escape_line(hit.place)}  {hit.score:.2f}{own}")
        lines += [f"   {line}" for line in _telling(_readable(hit.passage), answer.text)]
        lines += _reasons(hit)
    lines += [] if answer.hits else [tr("nothing found; --all looks in the agent's own notes, too")]
    reason = tr("; ").join(tr(each) for each in (answer.degraded, late) if each)
    lines += [tr("degraded: {reason}", reason=reason)] if reason else []
    return "\n".join(
        [
            *lines,
            tr("{mode}, {engine}, {took:.0f} ms", mode=tr(answer.mode), engine=answer.engine, took=took),
        ]
    )


def _reasons(hit: Hit) -> Iterator[str]:
    names = [text(f"search_signals.{leg.name}", spoken()) for leg in hit.why]
    width = max(map(columns, names), default=0)
    for name, leg in zip(names, hit.why, strict=True):
        yield tr(
            "     {name} rank {rank:3} score {score:8.3f} share {share:.3f}",
            name=padded(name, width),
            rank=leg.rank,
            score=leg.score,
            share=leg.share,
        )


def _readable(passage: str) -> list[str]:
    """The lines for a person: neither blank, nor a comment of this program."""
    return [line for line in passage.splitlines() if line.strip() and not line.lstrip(" \t>").startswith(_COMMENT)]


def _telling(rows: Sequence[str], asked: str) -> Sequence[str]:
    """Three of these lines: the first ones, or those around the line with most words of what is asked, if that comes
    later."""
    sought = frozenset(query_terms(asked))
    best = max(range(len(rows)), key=lambda at: len(sought.intersection(terms(rows[at]))), default=0)
    first = best - 1 if best >= _SHOWN else 0
    return rows[first : first + _SHOWN]


def _open(workspace: Workspace, answer: SearchResult, number: int) -> None:
    """Open a hit in the person's editor: $EDITOR at the line, else Obsidian."""
    if not 1 <= number <= len(answer.hits):
        raise UserError(
            "there is no hit {number}; there are {hits}",
            hint="-n NUMBER shows more of them",
            number=number,
            hits=len(answer.hits),
        )
    hit = answer.hits[number - 1]
    path = workspace.vault.place.root / hit.path
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if editor:
        words = shlex.split(editor)
        at = [f"+{hit.lines[0]}"] if hit.is_of_note and Path(words[0]).name in _GOES_TO_A_LINE else []
        subprocess.run([*words, *at, str(path)], check=False)
        return
    click.launch(f"obsidian://open?path={quote(str(path))}")
