"""`vault-agent program-session`: what the hooks of other programs call, such as Claude Code's; `--help` does not list
it."""

import sys

import click

from agent.interfaces.cli.declare import in_vault
from agent.interfaces.cli.language import tr
from agent.interfaces.cli.output import Output
from agent.interfaces.cli.printing import as_lines
from agent.interfaces.mcp.session_begin import begin_text, hook_output
from agent.interfaces.mcp.session_end import keep_decisions
from agent.interfaces.mcp.session_program import session_program
from agent.json_value import parse_json
from agent.llm.messages import mapping
from agent.workspace.workspace import Workspace

_MOST = 1_000_000


@click.group()
def command() -> None:
    """The commands that hooks of other programs call."""


@command.command()
@click.option("--as", "name", metavar="NAME", required=True, help="The program's name; mcp install gives it one.")
@in_vault
def begin(output: Output, workspace: Workspace, name: str) -> None:
    """Tell a program, at the begin of its session, of the vault's owner and of what is open there."""
    text = begin_text(workspace, session_program(workspace, name))
    output.emit({"text": text}, hook_output(text))


@command.command()
@click.option("--as", "name", metavar="NAME", required=True, help="The program's name; mcp install gives it one.")
@in_vault
def end(output: Output, workspace: Workspace, name: str) -> None:
    """Keep what a program has decided in a session, which its hook tells of on standard input."""
    try:
        event = mapping(parse_json(sys.stdin.read(_MOST)))
    except ValueError:
        event = {}
    entries = keep_decisions(workspace, session_program(workspace, name), event)
    output.emit({"kept": entries}, as_lines(entries) if entries else tr("nothing was decided that is not known"))
