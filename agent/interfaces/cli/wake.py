"""`vault-agent wake`: the daemon's agent wakes up now, and does what waits for that."""

import click

from agent.app.open import open_workspace
from agent.background.presence_files import give_order
from agent.errors import UserError
from agent.interfaces.cli.language import said
from agent.interfaces.cli.output import Output
from agent.interfaces.cli.words import words_argument
from agent.workspace.daemon_lock import is_watched
from agent.workspace.workspace import Workspace


@click.command(short_help="Wake the agent: its tasks begin now.")
@words_argument("reason", required=False)
@click.pass_obj
def command(output: Output, reason: str | None) -> None:
    """Wake the agent of this vault's daemon; REASON is shown by `vault-agent status`.

    Awake, it does the tasks that wait, and sleeps again after a few minutes without work.
    """
    workspace = open_workspace(output.vault())
    check_daemon(workspace)
    words = reason or said("you woke it")
    give_order(workspace.vault, "wake", words)
    output.emit({"order": "wake", "reason": words}, said("the daemon wakes up within two seconds"))


def check_daemon(workspace: Workspace) -> None:
    """Raise `UserError` if no daemon runs that could obey."""
    if not is_watched(workspace):
        raise UserError("no daemon runs here", hint="vault-agent daemon starts one")
