"""What is said of a command line that click refuses: one line, and a hint with the help of the command meant. Options
and paths that are given with an empty value are refused, whatever the command.
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from agent.interfaces.cli.language import listed, said
from agent.interfaces.cli.output import PROGRAM

_TOO_MANY = ("Got unexpected extra argument ({args})", "Got unexpected extra arguments ({args})")
"""What click says of words that belong together and have no quotes."""
_LINES = re.compile(r"\s*\n\s*")
"""The line ends in a message of click's."""


def in_one_line(error: click.UsageError) -> str:
    """What click says, without line ends."""
    return _LINES.sub(" ", error.format_message())


def context_of(program: click.Group, args: Sequence[str]) -> click.Context:
    """The context of the command that these words name, for an error before it has one of its own."""
    found = click.Context(program, info_name=PROGRAM)
    for word in args:
        command = found.command.get_command(found, word) if isinstance(found.command, click.Group) else None
        found = found if command is None else click.Context(command, found, word)
    return found


def usage_hint(error: click.UsageError) -> str:
    """A hint with the command's help, and with quotes if there were too many words."""
    where = f"{error.ctx.command_path if error.ctx else PROGRAM} --help"
    takes = error.ctx is not None and any(isinstance(each, click.Argument) for each in error.ctx.command.params)
    many = takes and error.message.startswith(tuple(said(each).partition("{")[0] for each in _TOO_MANY))
    if many:
        return said("put words that belong together in quotes; {help}", help=where)
    if takes and isinstance(error, click.NoSuchOption) and not error.option_name.startswith("--"):
        return said("put -- before words that begin with a dash; {help}", help=where)
    return where


def near(word: str, known: Sequence[str]) -> str:
    """A sentence with the known words that look like this one; empty without any."""
    from difflib import get_close_matches

    matches = get_close_matches(word, known, n=3, cutoff=0.6)
    return said(" Did you mean: {names}?", names=listed(matches)) if matches else ""


class NamedPath(click.Path):
    """The type of a path that need not exist; an empty one is refused."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(
        self, value: str | os.PathLike[str], param: click.Parameter | None, ctx: click.Context | None
    ) -> str | bytes | os.PathLike[str]:
        """The path; raises `BadParameter` for an empty one."""
        if not os.fspath(value).strip():
            self.fail(said("it is empty"), param, ctx)
        return super().convert(value, param, ctx)


def refuse_empty(option: click.Option) -> None:
    """Let the option raise `UsageError` where one of its values on the command line is empty."""
    then = option.callback

    def check(ctx: click.Context, parameter: click.Parameter, value: Any) -> Any:
        values = value if isinstance(value, tuple) else (value,)
        is_empty = any(isinstance(each, str) and not each.strip() for each in values)
        if is_empty and ctx.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE:
            name = max(parameter.opts, key=len)
            raise click.UsageError(said("{option} was given without a value", option=name), ctx)
        return value if then is None else then(ctx, parameter, value)

    option.callback = check
