"""`vault-agent daemon wake | sleep`: the daemon's agent wakes up now and does what waits for that, or sleeps until
something is due."""

import click

from agent.background.presence_files import give_order
from agent.errors import UserError
from agent.interfaces.cli.declare import in_vault, words_argument
from agent.interfaces.cli.language import said
from agent.interfaces.cli.output import Output
from agent.workspace.workspace import Workspace, is_watched


@click.command()
@words_argument("reason", required=False)
@in_vault
def wake(output: Output, workspace: Workspace, reason: str | None) -> None:
    """Wake the agent of this vault's daemon; REASON is shown by `vault-agent status`.

    Awake, it does the tasks that wait, and sleeps again after a few minutes without work.
    """
    _check_daemon(workspace)
    words = reason or said("you woke it")
    give_order(workspace.vault, "wake", words)
    output.emit({"order": "wake", "reason": words}, said("the daemon wakes up within two seconds"))


@click.command()
@in_vault
def sleep(output: Output, workspace: Workspace) -> None:
    """Let the agent of this vault's daemon sleep, after the work that goes on. The next due job wakes it."""
    _check_daemon(workspace)
    give_order(workspace.vault, "sleep", said("you sent it to sleep"))
    output.emit({"order": "sleep"}, said("the daemon sleeps once its work has ended"))


def _check_daemon(workspace: Workspace) -> None:
    """Raise `UserError` if no daemon runs that could obey."""
    if not is_watched(workspace):
        raise UserError("no daemon runs here", hint="vault-agent daemon starts one")
