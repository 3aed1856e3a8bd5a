"""`vault-agent index` updates the search index, or rebuilds it; `records` shows what this machine remembers about the
vault, table by table.
"""

from collections.abc import Sequence
from contextlib import closing

import click

from agent.app.open import open_workspace
from agent.index.update import IndexReport
from agent.interfaces.cli.declare import in_vault
from agent.interfaces.cli.language import tr
from agent.interfaces.cli.output import Output, fields
from agent.interfaces.cli.printing import as_lines
from agent.interfaces.cli.progress_bar import progress_bar
from agent.json_value import parse_json
from agent.workspace import index_status
from agent.workspace.attachments import AttachmentChanges, list_attachments, update_attachments
from agent.workspace.search_index import open_index
from agent.workspace.workspace import Workspace

_SHOWN = 10


@click.command()
@click.option("--all", "anew", is_flag=True, help="Throw the index away and build it from the notes.")
@click.pass_obj
def command(output: Output, anew: bool) -> None:
    """Update the index to the current notes, and files such as PDFs. It is a cache: deleting it costs only time."""
    workspace = open_workspace(output.vault())
    with closing(open_index(workspace)) as index:
        if anew:
            index.files.ask_for_rebuild("asked for")
        with progress_bar(output, tr("notes")) as index.updater.progress:
            report = index.refresh(verify=True)
        with progress_bar(output, tr("files")) as bar:
            attached = update_attachments(index, list_attachments(workspace), progress=bar)
        unread = index_status.incomplete_attachments(index.files)
    document = fields(report, "indexed forgotten", attachments=attached.indexed, moved=len(report.moved))
    for name, rows in (("skipped", report.skipped), ("failed", report.failed), ("unread", unread)):
        document[name] = [{"path": path, "reason": reason} for path, reason in rows]
    embedder = index.chosen.embedder.name if index.chosen.embedder else None
    document |= {"rebuilt": report.rebuilt or None, "embedder": embedder, "degraded": index.chosen.notice or None}
    document |= {"engine": index.engine}
    output.emit(document, lambda: _format(report, attached, unread))
    if index.chosen.notice and not output.json:
        output.warn(index.chosen.notice)


def _format(report: IndexReport, attached: AttachmentChanges, unread: Sequence[tuple[str, str]]) -> str:
    lines = [tr("built anew: {rebuilt}", rebuilt=report.rebuilt)] if report.rebuilt else []
    lines.append(
        tr(
            "{indexed} notes indexed, {dropped} dropped, {moved} moved",
            indexed=report.indexed,
            dropped=report.forgotten,
            moved=len(report.moved),
        )
    )
    if attached.indexed or attached.forgotten:
        read, dropped = attached.indexed, attached.forgotten
        lines.append(tr("{read} files read, {dropped} dropped", read=read, dropped=dropped))
    lines += [
        tr("not read, or not whole: {path}: {reason}", path=path, reason=reason) for path, reason in unread[:_SHOWN]
    ]
    lines += [
        tr("not indexed: {path}: {reason}", path=path, reason=reason)
        for path, reason in (*report.failed, *report.skipped)[:_SHOWN]
    ]
    return as_lines(lines)


@click.command()
@in_vault
def records(output: Output, workspace: Workspace) -> None:
    """Show all that this machine remembers about the vault, outside its notes."""
    tables: dict[str, dict[str, object]] = {}
    lines: list[str] = []
    for name, key, value in workspace.vault.records.rows("SELECT name, key, value FROM record ORDER BY name, key"):
        text = workspace.vault.masked(str(value))
        try:
            tables.setdefault(str(name), {})[str(key)] = parse_json(text)
        except ValueError:
            tables.setdefault(str(name), {})[str(key)] = text
        lines.append(f"{name} {key}: {text}")
    output.emit({"tables": tables}, "\n".join(lines))
