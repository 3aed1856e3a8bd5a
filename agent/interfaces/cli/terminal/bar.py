"""A progress bar on standard output, drawn by rich and removed at its end."""

import os
import sys
from typing import IO, cast

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

from agent.interfaces.cli.printing import TerminalFile, colour, one_line

_SIZES = ("COLUMNS", "LINES")
"""Variables that rich would believe more than the terminal, though they may be of an older window."""


class _Rate(ProgressColumn):
    """How many are done in a second; nothing before that is known."""

    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:,.0f}/s" if task.speed else "", style="progress.data.speed")


class Bar:
    """One bar with the words beside it; it appears with the first step."""

    def __init__(self, words: str) -> None:
        console = Console(
            file=cast(IO[str], TerminalFile()),
            force_terminal=True,
            color_system=None if colour() is False else "auto",
            markup=False,
            emoji=False,
            highlight=False,
            _environ={name: value for name, value in os.environ.items() if name not in _SIZES},
        )
        columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), _Rate(),
                   TimeRemainingColumn(compact=True))  # fmt: skip
        # What is told meanwhile on the same terminal stands above the bar, on lines of its own.
        self._progress = Progress(*columns, console=console, transient=True, redirect_stdout=False,
                                  redirect_stderr=sys.stderr.isatty())  # fmt: skip
        self._task = self._progress.add_task(one_line(words), total=None)
        self._is_shown = False

    def move(self, done: int, of: int) -> None:
        """Show that so many of all are done."""
        if not self._is_shown:
            self._is_shown = True
            self._progress.start()
        self._progress.update(self._task, completed=done, total=of)

    def stop(self) -> None:
        """Remove the bar."""
        if self._is_shown:
            self._progress.stop()
