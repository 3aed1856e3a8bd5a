"""Declares commands: what works in a vault is given it, and a group without a word is one of its commands."""

from collections.abc import Callable
from functools import update_wrapper
from typing import Concatenate, ParamSpec, TypeVar

import click

from agent.app.open import open_workspace
from agent.interfaces.cli.output import Output
from agent.workspace.workspace import Workspace

P = ParamSpec("P")
R = TypeVar("R")


def in_vault(command: Callable[Concatenate[Output, Workspace, P], R]) -> Callable[P, R]:
    """Give a command the output and the vault of this call, before its arguments. Raises what opening it raises."""

    def begin(*args: P.args, **kwargs: P.kwargs) -> R:
        output: Output = click.get_current_context().obj
        return command(output, open_workspace(output.vault()), *args, **kwargs)

    return update_wrapper(begin, command)


def group(default: str) -> Callable[[Callable[[], None]], click.Group]:
    """A group of commands, which without one is its command `default`; the function has its help."""

    def begin() -> None:
        ctx = click.get_current_context()
        if ctx.invoked_subcommand is None and isinstance(ctx.command, click.Group):
            ctx.invoke(ctx.command.commands[default])

    def made(about: Callable[[], None]) -> click.Group:
        return click.group(invoke_without_command=True)(update_wrapper(begin, about))

    return made
