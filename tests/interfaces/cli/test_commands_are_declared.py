"""A command is given its vault, and a group without a word is the command that it names."""

from pathlib import Path

import click

from agent.interfaces.cli.declare import group, in_vault
from agent.interfaces.cli.output import Output
from agent.workspace.workspace import Workspace


@group("show")
def command() -> None:
    """A group."""


@command.command()
def other() -> None:
    """Do nothing."""


@command.command()
@click.option("--often", default=2)
@in_vault
def show(output: Output, workspace: Workspace, often: int) -> None:
    """Show where the vault is."""
    output.emit({"at": str(workspace.vault.place.root), "often": often}, "")


def invoked(capsys: object, *words: str) -> str:
    command.main(list(words), standalone_mode=False, obj=Output(json=True))
    out: str = capsys.readouterr().out  # type: ignore[attr-defined]
    return out


def test_a_group_is_its_default_with_the_default_s_own_options(root: Path, capsys: object) -> None:
    assert invoked(capsys) == invoked(capsys, "show")
    assert f'"at": "{root}", "often": 2' in invoked(capsys)
    assert '"often": 5' in invoked(capsys, "show", "--often", "5")
    assert invoked(capsys, "other") == ""


def test_the_help_is_the_function_s_own() -> None:
    assert (command.help, command.commands["show"].help) == ("A group.", "Show where the vault is.")
