"""The help of commands, and click's own sentences, in the language of the terminal.

click asks gettext for its sentences, module by module; it is given our catalogue, in which they stand by their English
like our own. What another version of click says otherwise is English.
"""

import re
from copy import copy
from importlib import import_module
from typing import TypeVar

import click

from agent.interfaces.cli.help_layout import lay_out_help
from agent.interfaces.cli.language import said

C = TypeVar("C", bound=click.Command)

_MODULES = ("_termui_impl", "core", "decorators", "exceptions", "formatting", "parser", "termui", "types")

_NUMBERED = re.compile(r"^(\s*(?:\d+\s+)?)(.*)$", re.MULTILINE)


def speak_for_click() -> None:
    """Let click say its own sentences in the language of the terminal, and lay out its help."""
    lay_out_help()
    for name in _MODULES:
        module = import_module(f"click.{name}")
        for function, ours in (("_", said), ("ngettext", _one_or_more)):
            if hasattr(module, function):
                setattr(module, function, ours)


def in_language(command: C, *, epilog: str) -> C:
    """A copy of a command, with its help and that of its options in the language of the terminal; its last lines are
    `epilog` unless it has its own."""
    spoken = copy(command)
    spoken.help = _help(command.help)
    spoken.short_help = _help(command.short_help)
    spoken.epilog = _help(command.epilog or epilog)
    spoken.params = [copy(parameter) for parameter in command.params]
    for parameter in spoken.params:
        if isinstance(parameter, click.Option):
            parameter.help = _help(parameter.help)
    return spoken


def _help(english: str | None) -> str | None:
    """The help in the language of the terminal; each paragraph is a sentence of the catalogue."""
    if english is None:
        return None
    return "\n\n".join(map(_paragraph, english.split("\n\n")))


def _paragraph(english: str) -> str:
    """A paragraph in the language of the terminal: one sentence, or below `\\b` lines that may begin with a number."""
    if not english.startswith("\b"):
        return said(" ".join(english.split()))
    return "\n".join(number + said(line) for number, line in _NUMBERED.findall(english))


def _one_or_more(one: str, more: str, number: int) -> str:
    return said(one if number == 1 else more)
