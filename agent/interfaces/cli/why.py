"""`vault-agent why`: explains what became of a notice."""

import click

from agent.interfaces.cli.notices import show_notice
from agent.interfaces.cli.output import Output


@click.command(short_help="Explain why a notice was sent, held or dropped.")
@click.argument("name", metavar="NOTICE")
@click.pass_obj
def command(output: Output, name: str) -> None:
    """Explain what was decided about NOTICE (its id or the end of it), by which rule, and how it was delivered."""
    show_notice(output, name, is_whole=False)
