"""Declares commands: what works in a vault is given it, a group without a word is one of its commands, and words that
are said, asked or searched for need no quotes.
"""

from collections.abc import Callable
from functools import update_wrapper
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import click

from agent.interfaces.cli.output import Output
from agent.lazy import later

if TYPE_CHECKING:
    from agent.app.open import open_workspace
    from agent.workspace.workspace import Workspace
else:  # not every command opens the vault
    open_workspace = later("agent.app.open", "open_workspace")

P = ParamSpec("P")
R = TypeVar("R")


def in_vault(command: "Callable[Concatenate[Output, Workspace, P], R]") -> Callable[P, R]:
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


F = TypeVar("F", bound=Callable[..., Any])


def words_argument(name: str, *, required: bool = True, metavar: str | None = None) -> Callable[[F], F]:
    """An argument of any number of words, which the command gets as one text; None if there are none."""
    return click.argument(name, nargs=-1, required=required, metavar=metavar, callback=_joined)


def _joined(ctx: click.Context, parameter: click.Parameter, words: tuple[str, ...]) -> str | None:
    return " ".join(words) if words else None
