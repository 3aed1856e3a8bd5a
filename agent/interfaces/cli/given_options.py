"""Options and paths that are given with an empty value are refused, whatever the command.

They mostly come from an empty variable of a script, and would count as not given: `--as "$WHO"` would speak for the
owner, `undo --since 1d --actor "$WHO"` would take back what everybody did, and `--vault "$NOTES"` or `init "$NOTES"`
would mean the working folder.
"""

import os
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from agent.interfaces.cli.language import said


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
