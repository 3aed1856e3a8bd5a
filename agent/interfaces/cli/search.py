"""`vault-agent search`: find notes by words and by meaning, now or in the past."""

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import quote

import click

from agent.app.ahead import Ahead, contents_ahead
from agent.app.alone import last_word
from agent.app.build import App, build
from agent.errors import LockHeld, UserError
from agent.escape import escape_line
from agent.index.hit import Answer, Hit
from agent.interfaces.cli.output import Output, say, to_json
from agent.interfaces.cli.printing import show
from agent.interfaces.cli.times import moment
from agent.vault.history.commits import commits, is_commit_id, resolve

if TYPE_CHECKING:
    from agent.app.library import Library

Found = TypeVar("Found")
_GOES_TO_A_LINE = {"vi", "vim", "nvim", "nano", "emacs", "emacsclient"}
_CATCH_UP = 200
"""Changed notes that a search takes in by itself when no daemon does; with more it says so and goes on."""


@click.command(short_help="Find notes by words and by meaning.")
@click.argument("query", required=False)
@click.option("-n", "--limit", default=10, show_default=True, help="How many hits.")
@click.option("--passages", is_flag=True, help="One hit per passage instead of one per note.")
@click.option("--explain", is_flag=True, help="Show every signal's rank, score and share.")
@click.option("--as-of", "as_of", metavar="COMMIT|DATE", help="Search the notes as they were then.")
@click.option("--queries", type=click.Path(path_type=Path, exists=True), help="A file with one query a line.")
@click.option("--open", "opened", type=int, metavar="N", help="Open the N-th hit in $EDITOR, or in Obsidian.")
@click.pass_obj
def command(
    output: Output,
    query: str | None,
    limit: int,
    passages: bool,
    explain: bool,
    as_of: str | None,
    queries: Path | None,
    opened: int | None,
) -> None:
    """Search for QUERY. Filters in it: path: tag: type: scope: after: before: and any header key, as key:value."""
    if (query is None) == (queries is None):
        raise UserError("give one QUERY, or --queries FILE", hint='vault-agent search "green tea"')
    app = build(output.vault())
    if as_of:
        index, notes = _past(app, as_of), None
    else:
        index, notes = opened_ahead(app, query or "")
    with closing(index):
        late = catch_up(app, index, notes, in_past=as_of is not None)
        if queries is not None:
            for line in _lines(queries):
                say_line(_document(*_timed(index, line, limit, passages, explain), late))
            return
        ask = partial(_timed, index, query or "", limit, passages, explain)
        (answer, took), late = ask_whole(app, index, ask, late, in_past=as_of is not None)
    if opened is not None:
        _open(app, answer, opened)
    output.emit(_document(answer, took, late), lambda: _said(answer, took, late))


def opened_ahead(app: App, text: str) -> "tuple[Library, Ahead[dict[str, str]] | None]":
    """The index with all that a search for `text` loads, and what the notes say, which git is asked meanwhile."""
    notes = contents_ahead(app)
    index = _library(app, None)
    index.warm(text)
    return index, notes


def _library(app: App, commit: str | None) -> "Library":
    """The index over the notes as they are, or as they were; its modules take longer to load than git to answer."""
    module = import_module("agent.app.library")
    found: Library = module.library(app) if commit is None else module.library_at(app, commit)
    return found


def say_line(document: dict[str, object]) -> None:
    """One answer of many, as a line of JSON."""
    show(to_json({"ok": True, **document}))


def _lines(path: Path) -> Iterator[str]:
    text = path.read_text("utf-8", "replace")
    return (line.strip() for line in text.splitlines() if line.strip())


def _timed(index: "Library", query: str, limit: int, passages: bool, explain: bool) -> tuple[Answer, float]:
    started = time.perf_counter()
    answer = index.search(query, limit, passages=passages, explain=explain)
    return answer, (time.perf_counter() - started) * 1000


def catch_up(
    app: App, index: "Library", notes: Ahead[dict[str, str]] | None = None, *, in_past: bool = False
) -> str | None:
    """Bring the index up to date where no daemon does it; returns why it is behind, if it stays so.

    `notes` is what they say, where that was asked for already.
    """
    daemon = None if in_past else last_word(app)
    if daemon is not None:
        return _waits(daemon)
    known = index.known()
    listed = index.listed() if notes is None else notes.result()
    behind = len({path for path, _ in listed.items() ^ known.items()})
    if not behind and not index.is_broken():
        return None
    if known and behind > _CATCH_UP and not in_past:
        return f"{behind} changes are not indexed yet: vault-agent reindex, or start the daemon"
    if behind > _CATCH_UP and sys.stderr.isatty():
        say(f"indexing {len(listed)} notes …")
    index.updater.patience = 0.0  # a search never waits for the writer
    try:
        index.refresh()
    except LockHeld:
        return "the index is being brought up to date by another process"
    return None


def ask_whole(
    app: App, index: "Library", ask: Callable[[], Found], late: str | None, *, in_past: bool = False
) -> tuple[Found, str | None]:
    """What `ask` finds, and why the index is behind, if it is; where it met damage, once more when that is mended."""
    found = ask()
    if not index.is_broken() or (not in_past and last_word(app) is not None):
        return found, late
    met = index.files.why_broken()
    late = catch_up(app, index, in_past=in_past)
    return ask(), late or f"it is whole again after damage ({met})"


def _waits(daemon: Mapping[str, object]) -> str | None:
    """What the daemon has not taken in yet, in its own words."""
    if daemon.get("starting"):
        return "the daemon has just started: what changed while it was away may be missing"
    if daemon.get("index"):
        return f"the daemon cannot update the index: {daemon['index']}"
    return f"changes that the daemon has yet to take in: {daemon['waiting']}" if daemon.get("waiting") else None


def _past(app: App, when: str) -> "Library":
    """The index of the vault as it was at a commit, or at the end of a day or moment."""
    try:
        until = moment(when, app.clock.now(), end=True)
    except UserError:
        until = None
    if until is None or is_commit_id(when):
        return _library(app, resolve(app.vault.git, when))
    found = commits(app.vault, until=until, limit=1)
    if not found:
        raise UserError(f"there is no commit before {when}", hint="vault-agent log -n 0 lists them all")
    return _library(app, found[0].id)


def _document(answer: Answer, took: float, late: str | None) -> dict[str, object]:
    return {
        "query": answer.query,
        "mode": "hybrid" if answer.mode == "hybrid" else "keyword",
        "degraded": "; ".join(filter(None, [answer.degraded, late])) or None,
        "engine": answer.engine,
        "took_ms": round(took, 1),
        "hits": [_hit(hit) for hit in answer.hits],
    }


def _hit(hit: Hit) -> dict[str, object]:
    return {
        "path": hit.path,
        "title": hit.title,
        "id": hit.id,
        "score": hit.score,
        "lines": list(hit.lines),
        "passage": hit.passage,
        "headings": list(hit.headings),
        "why": [{"leg": leg.name, "rank": leg.rank, "score": leg.score, "share": leg.share} for leg in hit.why],
    }


def _said(answer: Answer, took: float, late: str | None) -> str:
    lines: list[str] = []
    for number, hit in enumerate(answer.hits, 1):
        where = f"{hit.path}:{hit.lines[0]}"
        lines.append(f"{number:2} {escape_line(hit.title)}  {escape_line(where)}  {hit.score:.2f}")
        lines += [f"   {line}" for line in hit.passage.strip().splitlines()[:3]]
        lines += [
            f"     {leg.name:12} rank {leg.rank:3} score {leg.score:8.3f} share {leg.share:.3f}" for leg in hit.why
        ]
    lines += [] if answer.hits else ["nothing found"]
    reason = "; ".join(filter(None, [answer.degraded, late]))
    lines += [f"degraded: {reason}"] if reason else []
    return "\n".join([*lines, f"{answer.mode}, {answer.engine}, {took:.0f} ms"])


def _open(app: App, answer: Answer, number: int) -> None:
    """Open a hit where the person edits: $EDITOR at the line, else Obsidian."""
    if not 1 <= number <= len(answer.hits):
        raise UserError(f"there is no hit {number}; there are {len(answer.hits)}")
    hit = answer.hits[number - 1]
    path = app.vault.place.root / hit.path
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if editor:
        words = shlex.split(editor)
        at = [f"+{hit.lines[0]}"] if Path(words[0]).name in _GOES_TO_A_LINE else []
        subprocess.run([*words, *at, str(path)], check=False)
        return
    click.launch(f"obsidian://open?path={quote(str(path))}")
