"""`vault-agent sleep`: the daemon's agent sleeps until something is due."""

import click

from agent.app.open import open_workspace
from agent.background.presence_files import give_order
from agent.interfaces.cli.language import said
from agent.interfaces.cli.output import Output
from agent.interfaces.cli.wake import check_daemon


@click.command(short_help="Let the agent sleep until something is due.")
@click.pass_obj
def command(output: Output) -> None:
    """Let the agent of this vault's daemon sleep, after the work that goes on. The next due job wakes it."""
    workspace = open_workspace(output.vault())
    check_daemon(workspace)
    give_order(workspace.vault, "sleep", said("you sent it to sleep"))
    output.emit({"order": "sleep"}, said("the daemon sleeps once its work has ended"))
