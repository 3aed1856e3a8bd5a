"""Questions at the terminal. Before each, the terminal's state is reset and earlier typing is dropped."""

import sys
import termios
from contextlib import suppress

import click

from agent.interfaces.cli.printing import one_line, reset, show


def keyboard(prompt: str) -> str:
    """A line that the person types after the prompt is shown; raises `EOFError` at the end of input."""
    reset()
    _forget_typed()
    shown = one_line(prompt)
    if not sys.stderr.isatty():  # Python writes a prompt to standard error unless line editing is on
        show(shown, end="")
        shown = ""
    return input(shown)


def confirm(question: str, *, default: bool = False, abort: bool = False, error: bool = False) -> bool:
    """Ask on standard output or standard error; returns True for yes. With `abort`, a no raises `click.Abort`."""
    reset(error=error)
    _forget_typed()
    return click.confirm(one_line(question), default=default, abort=abort, err=error)


def _forget_typed() -> None:
    with suppress(OSError, ValueError, termios.error):
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
