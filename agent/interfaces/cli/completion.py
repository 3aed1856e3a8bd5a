"""`vault-agent completion`: a script that makes the shell complete commands, options and settings."""

import click
from click.shell_completion import get_completion_class

from agent.errors import UserError
from agent.interfaces.cli.output import COMPLETE, PROGRAM, Output

_WHERE = {
    "bash": 'eval "$(vault-agent completion bash)"     # in ~/.bashrc',
    "zsh": 'eval "$(vault-agent completion zsh)"       # in ~/.zshrc',
    "fish": "vault-agent completion fish > ~/.config/fish/completions/vault-agent.fish",
}


@click.command(
    help="Print a shell completion script.\n\nTo use it:\n\n\b\n" + "\n".join(f"  {line}" for line in _WHERE.values()),
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    root = ctx.find_root()
    found = get_completion_class(shell)
    if found is None:
        raise UserError("no completion for {shell}", shell=shell)
    script = found(root.command, {}, PROGRAM, COMPLETE).source()
    output = ctx.ensure_object(Output)
    output.emit({"shell": shell, "script": script}, script)
