"""Loads commands from the table when they run, each with the options that all commands share; a command that has moved
below another one is loaded there in the same way.
"""

from collections.abc import Callable, Sequence
from functools import update_wrapper
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from agent.errors import UserError
from agent.interfaces.cli.click_texts import NamedPath, in_language, refuse_empty
from agent.interfaces.cli.commands import COMMANDS, LazyCommand, below
from agent.interfaces.cli.language import tr
from agent.interfaces.cli.output import Output, exit_codes


class HomeGroup(click.Group):
    """A group with commands that have moved below it; they are loaded when they run."""

    moved: dict[str, LazyCommand]

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*super().list_commands(ctx), *self.moved]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        lazy = self.moved.get(cmd_name)
        return super().get_command(ctx, cmd_name) if lazy is None else (share(_imported(cmd_name, lazy)))


class HomeCommand(HomeGroup):
    """A command with arguments of its own, unless its first word names a command that has moved below it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if self._names_moved(args):
            return super().parse_args(ctx, args)
        ctx.allow_interspersed_args, ctx.allow_extra_args = True, False
        return click.Command.parse_args(self, ctx, args)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """All parameters, but without arguments where a command below is meant."""
        found = super().get_params(ctx)
        return found if ctx.allow_interspersed_args else [each for each in found if isinstance(each, click.Option)]

    def _names_moved(self, args: Sequence[str]) -> bool:
        words = iter(args)
        for word in words:
            if word == "--vault":
                next(words, None)
            elif not word.startswith("-"):
                return word in self.moved
        return False


def load_command(name: str) -> click.Command:
    """The imported command, with the shared options, the closing lines of its help, and what has moved below it; raises
    `UserError`."""
    command, moved = _imported(name, COMMANDS[name]), below(name)
    return share(_home(command, moved) if moved else command)


def _imported(name: str, lazy: LazyCommand) -> click.Command:
    """The command as its module has it; raises `UserError` where there is no such module."""
    module = f"{__package__}{lazy.module}" if lazy.module.startswith(".") else lazy.module
    try:
        command = getattr(import_module(module), lazy.name)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        raise UserError(
            "this version has no command {name}", hint="vault-agent --help lists the commands", name=name
        ) from error
    if not isinstance(command, click.Command):
        raise TypeError(f"{module}.{lazy.name} is not a click command")
    return command


def _home(own: click.Command, moved: dict[str, LazyCommand]) -> click.Command:
    """The command with those that have moved below it."""
    is_group = isinstance(own, click.Group)
    home = (HomeGroup if is_group else HomeCommand)(
        own.name,
        commands=own.commands if isinstance(own, click.Group) else None,
        invoke_without_command=own.invoke_without_command if isinstance(own, click.Group) else True,
        params=own.params,
        callback=own.callback if is_group else _unless_below(own.callback),
        help=own.help,
        short_help=own.short_help,
        epilog=own.epilog,
    )
    home.moved = moved
    return home


def _unless_below(callback: Callable[..., Any] | None) -> Callable[..., Any] | None:
    """The callback of a command, which does nothing where a command below it runs."""
    if callback is None:
        return None
    own = callback

    def begin(*args: Any, **options: Any) -> Any:
        return None if click.get_current_context().invoked_subcommand else own(*args, **options)

    return update_wrapper(begin, own)


def share(command: click.Command) -> click.Command:
    """A copy of the command with `--json` and `--vault` also after its name, with exit codes at the end of its help,
    and with its help in the language of the terminal."""
    shared = in_language(command, epilog=exit_codes())
    for parameter in shared.params:
        if isinstance(parameter, click.Option):
            refuse_empty(parameter)
    have = {option for parameter in shared.params for option in parameter.opts}
    shared.params += [option for option in shared_options(None) if not have & set(option.opts)]
    if isinstance(shared, click.Group):
        shared.commands = {name: share(child) for name, child in shared.commands.items()}
    return shared


def shared_options(variable: str | None) -> list[click.Option]:
    """`--vault`, which may also be given in an environment variable, and `--json`."""
    vault = click.Option(
        ["--vault"],
        type=NamedPath(),
        metavar="PATH",
        envvar=variable,
        show_envvar=variable is not None,
        is_eager=True,
        expose_value=False,
        callback=_set_vault,
        help=tr("The vault; else the nearest one upwards from here."),
    )
    as_json = click.Option(
        ["--json"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_set_json,
        help=tr("Print one JSON document."),
    )
    return [vault, as_json]


def _set_json(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value:
        ctx.obj = Output(True, ctx.obj.named)


def _set_vault(ctx: click.Context, parameter: click.Parameter, value: Path | None) -> None:
    if value is not None:
        ctx.obj = Output(ctx.obj.json, value)
