"""Questions at the terminal. Before each, the terminal's state is reset and earlier typing is dropped.

And the keys that a person types while nothing is asked: they are kept off the screen.
"""

import sys
import termios
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

import click

from agent.errors import UserError
from agent.interfaces.cli.language import tr
from agent.interfaces.cli.output import Output
from agent.interfaces.cli.printing import mark_pastes, one_line, reset, show, show_framed
from agent.texts import Sentence


def keyboard(prompt: str) -> str:
    """A line that the person types after the prompt is shown; raises `EOFError` at the end of input."""
    reset()
    _forget_typed()
    prompt_line = one_line(prompt)
    if not sys.stderr.isatty():  # Python writes a prompt to standard error unless line editing is on
        show(prompt_line, end="")
        prompt_line = ""
    return input(prompt_line)


def confirm(question: str, *, default: bool = False, abort: bool = False, error: bool = False) -> bool:
    """Ask on standard output or standard error; returns True for yes. With `abort`, a no raises `click.Abort`."""
    reset(error=error)
    _forget_typed()
    return click.confirm(one_line(question), default=default, abort=abort, err=error)


def agree(output: Output, lines: Sequence[str], question: str, refusal: Sentence) -> None:
    """Show on standard error what would happen, and ask; raises `click.Abort` at a no.

    Raises `UserError` with the refusal where nobody can be asked: as JSON, which shows nothing, or without a terminal.
    """
    if not output.json:
        show_framed(lines, error=True)
    if output.json or not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UserError(refusal, hint="look at it with --dry-run, then repeat it with --yes")
    confirm(tr(question), abort=True, error=True)


def hidden(question: str) -> str:
    """What the person types or pastes after the question, which is not shown; empty for nothing."""
    reset(error=True)
    _forget_typed()
    return str(click.prompt(one_line(question), hide_input=True, err=True, default="", show_default=False))


@contextmanager
def silent_keys(*, by_key: bool = False) -> Iterator[None]:
    """Until the end of the block the terminal shows no typed keys; with `by_key` they are read one by one, pasted
    blocks marked."""
    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    silent = termios.tcgetattr(descriptor)
    silent[3] &= ~(termios.ECHO | (termios.ICANON if by_key else 0))
    termios.tcsetattr(descriptor, termios.TCSADRAIN, silent)
    if by_key:
        mark_pastes(True)
    try:
        yield
    finally:
        if by_key:
            mark_pastes(False)
        with suppress(termios.error):  # it is closed
            termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


def _forget_typed() -> None:
    with suppress(OSError, ValueError, termios.error):
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
