"""`vault-agent acp`: the agent in an editor that speaks the Agent Client Protocol."""

import os
import stat
import sys
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, TextIO

import click

from agent.config.program_parts import command_to_add
from agent.errors import UserError
from agent.interfaces.cli.declare import in_vault
from agent.interfaces.cli.output import Output
from agent.workspace.process_memory import look_while_staying
from agent.workspace.workspace import Workspace

if TYPE_CHECKING:
    from agent.interfaces.acp.door import SlashCommand
    from agent.interfaces.acp.talks import OpenTalk, OpenTalks
    from agent.interfaces.cli.chat_commands import ChatState


@click.command()
@in_vault
def command(output: Output, workspace: Workspace) -> None:
    """Serve the agent to an editor such as Zed, a JetBrains IDE or Neovim, by the Agent Client Protocol. The editor
    starts this by itself.

    Conversations are sessions of the vault, as those of the other doors are, and what needs your yes is asked for in
    the editor. The slash commands of `chat` work there, too.
    """
    if find_spec("acp") is None:
        raise UserError(
            "the library of the Agent Client Protocol is not installed",
            hint="install it: {command}",
            command=command_to_add("acp"),
        )
    if not (_is_connection(sys.stdin) and _is_connection(sys.stdout)):
        raise UserError("an editor starts this by itself, through pipes", hint="vault-agent help editors says how")
    serving = import_module("agent.interfaces.acp.door")  # half a second, and no other command needs it
    look_while_staying()
    serving.serve(workspace, _slash_commands)
    sys.stdout = sys.stderr  # the connection has closed its stream


def _is_connection(stream: TextIO) -> bool:
    """True for a pipe or a socket; a terminal or a file is none."""
    try:
        mode = os.fstat(stream.fileno()).st_mode
    except (OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def _slash_commands() -> "dict[str, SlashCommand]":
    """The commands of `chat`, for the conversations of an editor."""
    commands = import_module("agent.interfaces.cli.chat_commands")  # with all that they do
    states: dict[str, ChatState] = {}

    def made(name: str) -> "SlashCommand":
        def carry_out(runs: "OpenTalks", conversation: "OpenTalk", rest: str) -> str:
            state = states.setdefault(conversation.id, commands.ChatState(runs.workspace, runs.runs))
            state.session = conversation.path
            text: str = commands.COMMANDS[name](state, rest)
            return text

        return carry_out

    return {name: made(name) for name in commands.COMMANDS}
