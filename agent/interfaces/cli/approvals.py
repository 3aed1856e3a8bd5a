"""`vault-agent approvals`: lists the tool calls that need an approval, and approves or rejects them."""

from collections.abc import Callable

import click

from agent.app.open import open_workspace
from agent.interfaces.cli.decide import approval_text
from agent.interfaces.cli.lookup import find_by_id, short_id
from agent.interfaces.cli.output import Output
from agent.interfaces.cli.printing import as_lines
from agent.interfaces.cli.resume import emit_decision
from agent.runs.decisions import approvals
from agent.tools.approval_records import ApprovalRecord
from agent.workspace.workspace import Workspace

_EXPLAINED = "Go on with the run here when no daemon does."


@click.group(short_help="List what waits for your yes, and decide.", invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """List the calls that wait for your approval. ID is an approval's id, its last characters, or its note.

    A yes is valid once, for exactly the call shown. You can also tick the box in the note; a running daemon then
    resumes the run.
    """
    if ctx.invoked_subcommand is None:
        _list(ctx.obj)


def _list(output: Output) -> None:
    workspace = open_workspace(output.vault())
    waiting = approvals(workspace).pending()
    lines = [f"{short_id(each)}  {each.created:%Y-%m-%d %H:%M}  {each.tool}  {each.path}" for each in waiting]
    lines += ["", "vault-agent approvals show ID, yes ID, no ID"] if waiting else []
    output.emit({"approvals": [_document(each) for each in waiting]}, as_lines(lines) or "nothing waits for your yes")


@command.command()
@click.argument("name", metavar="ID")
@click.pass_obj
def show(output: Output, name: str) -> None:
    """Show a call in full, with the changes that it would make."""
    workspace = open_workspace(output.vault())
    asked = _find(workspace, name)
    text = approval_text(asked, workspace.vault.read(asked.path) or b"", workspace.settings.vault.language)
    output.emit({**_document(asked), "text": text}, f"{text}\n{asked.status}")


def _deciding(yes: bool) -> Callable[..., None]:
    def decide(output: Output, name: str, reason: str, go: bool) -> None:
        workspace = open_workspace(output.vault())
        asked = approvals(workspace).decide(_find(workspace, name).id, yes, reason)
        note = f"{asked.status}: {asked.tool}, in {asked.path}"
        emit_decision(workspace, output, asked.path, _document(asked), note, resume_here=go)

    return decide


for _word, _yes, _help in (("yes", True, "Allow a call, once."), ("no", False, "Refuse a call.")):
    _decide = click.pass_obj(_deciding(_yes))
    _decide = click.option("--go-on", "go", is_flag=True, help=_EXPLAINED)(_decide)
    _decide = click.option("--reason", default="", metavar="TEXT", help="Why; the agent is told.")(_decide)
    command.command(_word, help=_help)(click.argument("name", metavar="ID")(_decide))


def _find(workspace: Workspace, name: str) -> ApprovalRecord:
    """The approval with this id, note, or end of an id; raises `UserError` if there is none or more than one."""
    known = approvals(workspace)
    none, hint = "no approval was asked here with the id", "vault-agent approvals lists what waits"
    return known.find(name) or find_by_id(name, known.pending(), "approvals", none, hint)


def _document(asked: ApprovalRecord) -> dict[str, object]:
    return {
        "id": asked.id,
        "path": asked.path,
        "status": asked.status,
        "tool": asked.tool,
        "call": asked.shown,
        "run": asked.run,
        "session": asked.session,
        "created": asked.created.isoformat(),
        "expires": asked.expires.isoformat(),
        "reason": asked.reason or None,
    }
