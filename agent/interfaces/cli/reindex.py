"""`vault-agent reindex`: updates the search index, or rebuilds it."""

from contextlib import closing

import click

from agent.app.open import open_workspace
from agent.index.update import IndexReport
from agent.interfaces.cli.language import said
from agent.interfaces.cli.output import Output
from agent.interfaces.cli.printing import as_lines
from agent.interfaces.cli.progress_bar import progress_bar
from agent.workspace.search_index import open_index

_SHOWN = 10


@click.command()
@click.option("--all", "anew", is_flag=True, help="Throw the index away and build it from the notes.")
@click.pass_obj
def command(output: Output, anew: bool) -> None:
    """Update the index to the current notes. It is a cache: deleting it costs only time."""
    with closing(open_index(open_workspace(output.vault()))) as index:
        if anew:
            index.files.ask_for_rebuild("asked for")
        with progress_bar(output, said("notes")) as index.updater.progress:
            report = index.refresh(verify=True)
    document = {
        "indexed": report.indexed,
        "forgotten": report.forgotten,
        "moved": len(report.moved),
        "skipped": [{"path": path, "reason": reason} for path, reason in report.skipped],
        "failed": [{"path": path, "reason": reason} for path, reason in report.failed],
        "rebuilt": report.rebuilt or None,
        "embedder": index.chosen.embedder.name if index.chosen.embedder else None,
        "degraded": index.chosen.notice or None,
        "engine": index.engine,
    }
    output.emit(document, lambda: _format(report))
    if index.chosen.notice and not output.json:
        output.warn(index.chosen.notice)


def _format(report: IndexReport) -> str:
    lines = [said("built anew: {rebuilt}", rebuilt=report.rebuilt)] if report.rebuilt else []
    lines.append(
        said(
            "{indexed} notes indexed, {dropped} dropped, {moved} moved",
            indexed=report.indexed,
            dropped=report.forgotten,
            moved=len(report.moved),
        )
    )
    lines += [
        said("not indexed: {path}: {reason}", path=path, reason=reason)
        for path, reason in (*report.failed, *report.skipped)[:_SHOWN]
    ]
    return as_lines(lines)
