"""The help of commands, click's own sentences, and what is said of a command line that click refuses, in the language
of the terminal.

click asks gettext for its sentences, module by module; it is given our catalogue, in which they stand by their English
like our own. What another version of click says otherwise is English.

Help on the screen: the commands in their groups, and lines of Chinese, which break between characters and are as wide
as the terminal shows them.

click counts characters and breaks at spaces, so a Chinese paragraph would be one line of twice the width. Each wide
character gets a filler while click wraps, and is a word of its own together with the punctuation that belongs to it.

Options and paths that are given with an empty value are refused, whatever the command.
"""

import os
import re
import textwrap
from collections.abc import Iterable, Sequence
from copy import copy
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

import click
from click import _textwrap, formatting
from click.core import ParameterSource

from agent.interfaces.cli.commands import COMMANDS, HEADINGS
from agent.interfaces.cli.language import listed, spoken, tr
from agent.interfaces.cli.output import PROGRAM
from agent.interfaces.cli.printing import columns, size

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
    many = takes and error.message.startswith(tuple(tr(each).partition("{")[0] for each in _TOO_MANY))
    if many:
        return tr("put words that belong together in quotes; {help}", help=where)
    if takes and isinstance(error, click.NoSuchOption) and not error.option_name.startswith("--"):
        return tr("put -- before words that begin with a dash; {help}", help=where)
    return where


def near(word: str, known: Sequence[str]) -> str:
    """A sentence with the known words that look like this one; empty without any."""
    from difflib import get_close_matches

    matches = get_close_matches(word, known, n=3, cutoff=0.6)
    return tr(" Did you mean: {names}?", names=listed(matches)) if matches else ""


class NamedPath(click.Path):
    """The type of a path that need not exist; an empty one is refused."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(
        self, value: str | os.PathLike[str], param: click.Parameter | None, ctx: click.Context | None
    ) -> str | bytes | os.PathLike[str]:
        """The path; raises `BadParameter` for an empty one."""
        if not os.fspath(value).strip():
            self.fail(tr("it is empty"), param, ctx)
        return super().convert(value, param, ctx)


def refuse_empty(option: click.Option) -> None:
    """Let the option raise `UsageError` where one of its values on the command line is empty."""
    then = option.callback

    def check(ctx: click.Context, parameter: click.Parameter, value: Any) -> Any:
        values = value if isinstance(value, tuple) else (value,)
        is_empty = any(isinstance(each, str) and not each.strip() for each in values)
        if is_empty and ctx.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE:
            name = max(parameter.opts, key=len)
            raise click.UsageError(tr("{option} was given without a value", option=name), ctx)
        return value if then is None else then(ctx, parameter, value)

    option.callback = check


_WIDEST, _NARROWEST = 80, 30
_FILLER = "\ue000"
_OPENING, _CLOSING = "（《「『【“‘", "，。、；：！？）》」』】”’…"
_WORD = re.compile(
    rf"(?:[{_OPENING}]{_FILLER})*(?:[^{_FILLER}]{_FILLER}|(?:[^{_FILLER}](?!{_FILLER}))+)(?:[{_CLOSING}]{_FILLER})*"
)
_ENTRY = re.compile(r"^( *\d+ {2,})(.+)$", re.MULTILINE)
_WRAP = formatting.wrap_text


class HelpFormatter(click.HelpFormatter):
    """click's, with headings that end in the language's colon, and as narrow as the terminal: click's own is never
    narrower than 50 columns."""

    def __init__(self, indent_increment: int = 2, width: int | None = None, max_width: int | None = None) -> None:
        room = min(size()[0], max_width or _WIDEST) - 2
        super().__init__(indent_increment, width or max(room, _NARROWEST))

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        super().write_dl(rows, min(col_max, self.width * 2 // 5), col_spacing)

    def write_heading(self, heading: str) -> None:
        self.write(f"{'':>{self.current_indent}}{tr('{title}:', title=heading)}\n")


class _Wrapper(_textwrap.TextWrapper):
    """Breaks lines between wide characters, too."""

    def _split(self, text: str) -> list[str]:
        return [word for chunk in textwrap.TextWrapper._split(self, text) for word in _WORD.findall(chunk)]


def wrap_text(text: str, width: int = _WIDEST, initial_indent: str = "", *args: Any, **options: Any) -> str:
    """click's `wrap_text` by columns, also of the numbered lines that click leaves as they are."""
    if spoken() == "en":
        return _WRAP(_hung(text, width - len(initial_indent)), width, initial_indent, *args, **options)
    filled = "".join(char + _FILLER if columns(char) == 2 else char for char in text)
    plain, _textwrap.TextWrapper = _textwrap.TextWrapper, _Wrapper  # type: ignore[misc]
    try:
        hung = _hung(filled, width - len(initial_indent))
        return _WRAP(hung, width, initial_indent, *args, **options).replace(_FILLER, "")
    finally:
        _textwrap.TextWrapper = plain  # type: ignore[misc]


def _hung(text: str, width: int) -> str:
    """The text with each numbered line so wide at most, what follows of it below its words."""
    return _ENTRY.sub(lambda line: _WRAP(line[2], width, line[1], " " * len(line[1])), text)


def lay_out_help() -> None:
    """Let click write its help so."""
    formatting.wrap_text = wrap_text
    click.Context.formatter_class = HelpFormatter


def write_groups(formatter: click.HelpFormatter) -> None:
    """Write the commands that are often typed, a section for each group, with one column for all their names."""
    _write_groups(formatter, max(len(name) for name, lazy in COMMANDS.items() if lazy.group))


def write_all(formatter: click.HelpFormatter) -> None:
    """Write all commands: the groups, what is rarely typed, and the old names with what they are called now."""
    width = max(map(len, COMMANDS))
    _write_groups(formatter, width)
    others = [(name, lazy) for name, lazy in COMMANDS.items() if lazy.group is None]
    rare = [(name, tr(lazy.help)) for name, lazy in others if not lazy.now]
    _write_section(formatter, tr("Rarely typed"), rare, width)
    old = [(name, f"vault-agent {lazy.now}") for name, lazy in others if lazy.now]
    _write_section(formatter, tr("Old names, which go on working"), old, width)


def _write_groups(formatter: click.HelpFormatter, width: int) -> None:
    for group, heading in HEADINGS.items():
        rows = [(name, tr(lazy.help)) for name, lazy in COMMANDS.items() if lazy.group == group]
        _write_section(formatter, tr(heading), rows, width)


def _write_section(formatter: click.HelpFormatter, heading: str, rows: list[tuple[str, str]], width: int) -> None:
    with formatter.section(heading):
        formatter.write_dl([(f"{name:<{width}}", words) for name, words in rows])


C = TypeVar("C", bound=click.Command)

_MODULES = ("_termui_impl", "core", "decorators", "exceptions", "formatting", "parser", "termui", "types")

_NUMBERED = re.compile(r"^(\s*(?:\d+\s+)?)(.*)$", re.MULTILINE)


def speak_for_click() -> None:
    """Let click say its own sentences in the language of the terminal, and lay out its help."""
    lay_out_help()
    for name in _MODULES:
        module = import_module(f"click.{name}")
        for function, ours in (("_", tr), ("ngettext", _one_or_more)):
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
        return tr(" ".join(english.split()))
    return "\n".join(number + tr(line) for number, line in _NUMBERED.findall(english))


def _one_or_more(one: str, more: str, number: int) -> str:
    return tr(one if number == 1 else more)
