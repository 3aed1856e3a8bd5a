"""`vault-agent serve browsers`: lists the browsers and apps that are signed in, and signs them out."""

import click

from agent.app.open import open_workspace
from agent.errors import UserError
from agent.interfaces.cli.language import counted, said
from agent.interfaces.cli.output import Output
from agent.interfaces.cli.printing import as_lines
from agent.interfaces.cli.time_format import format_ago, format_time
from agent.interfaces.http.door.browsers import Browser, BrowserInfo
from agent.interfaces.http.door.token import browsers_of
from agent.workspace.workspace import Workspace


@click.group(invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """List the browsers and apps that are signed in: which, since when, at which port, last seen.

    A browser stays signed in for 30 days, at the port where it has opened its link; an app that was paired, such as
    Obsidian, until it was not used for 30 days.
    """
    if ctx.invoked_subcommand is None:
        output: Output = ctx.obj
        workspace = open_workspace(output.vault())
        found = browsers_of(workspace).all()
        output.emit({"browsers": [BrowserInfo.of(each) for each in found]}, lambda: _table(workspace, found))


@command.command()
@click.argument("ids", metavar="[ID]...", nargs=-1)
@click.option("--all", "everyone", is_flag=True, help="Sign all of them out.")
@click.pass_obj
def end(output: Output, ids: tuple[str, ...], everyone: bool) -> None:
    """Sign browsers out, at once: their open pages end, too."""
    if bool(ids) == everyone:
        raise UserError("which browser? name its ID, or --all", hint="vault-agent serve browsers lists them")
    browsers = browsers_of(open_workspace(output.vault()))
    ended = [each.id for each in browsers.all()] if everyone else list(dict.fromkeys(ids))
    browsers.end(ended)
    done = counted(len(ended), "1 browser is signed out", "{count} browsers are signed out")
    output.emit({"ended": ended}, done)


def _table(workspace: Workspace, browsers: tuple[Browser, ...]) -> str:
    if not browsers:
        return said("no browser is signed in")
    now = workspace.clock.now()
    rows = [
        said(
            "{id}  {name}, an app, since {since}, seen {seen}"
            if each.is_app
            else "{id}  {name}, port {port}, since {since}, seen {seen}",
            id=each.id,
            name=each.name or said("another browser"),
            port=each.port,
            since=format_time(each.since, now),
            seen=format_ago(each.seen, now),
        )
        for each in browsers
    ]
    return as_lines([*rows, said("vault-agent serve browsers end ID signs one out")])
