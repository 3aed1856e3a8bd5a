"""Words that need no quotes on the command line: what is said, asked or searched for."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def words_argument(name: str, *, required: bool = True, metavar: str | None = None) -> Callable[[F], F]:
    """An argument of any number of words, which the command gets as one text; None if there are none."""
    return click.argument(name, nargs=-1, required=required, metavar=metavar, callback=_joined)


def _joined(ctx: click.Context, parameter: click.Parameter, words: tuple[str, ...]) -> str | None:
    return " ".join(words) if words else None
