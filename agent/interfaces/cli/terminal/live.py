"""Drawing on a terminal with rich: the live view of a run, and bars of progress."""

import os
import sys
from collections.abc import Callable
from typing import IO, cast

from rich.cells import cell_len, set_cell_size
from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.segment import Segment
from rich.spinner import Spinner
from rich.style import Style
from rich.text import Text

from agent.dataclass import dataclass
from agent.interfaces.cli.printing import TerminalFile, colour, one_line
from agent.interfaces.cli.screen import Status
from agent.interfaces.cli.terminal.markdown import THEME, MarkdownBlocks, Row, markdown_rows

_FRAMES = 10
"""Frames per second: a spinner that moves, at about 1 % of a core."""
_TAIL = 4_000
"""The characters of an unfinished block that are drawn: more than a screen has, and quick to render."""
_DIM = Style(dim=True)
_SIZES = ("COLUMNS", "LINES")
"""Variables that rich would believe more than the terminal, though they may be of an older window."""
_LINE_END = " / "
"""Stands for a line end in the one line that shows what is being typed."""


class LiveView:
    """Text that arrives in pieces, remarks of the program, and the lines of `status` below them."""

    def __init__(self, status: Callable[[], Status]) -> None:
        self._status = status
        plain = colour() is False
        self._console = Console(
            file=cast(IO[str], TerminalFile()),
            theme=THEME,
            force_terminal=True,
            color_system=None if plain else "auto",
            highlight=False,
            markup=False,
            emoji=False,
            _environ={name: value for name, value in os.environ.items() if name not in _SIZES},
        )
        self._spinner = Spinner("dots" if self._console.encoding.startswith("utf") else "line")
        self._blocks = MarkdownBlocks()
        self._live: Live | None = None
        self._drawn: tuple[tuple[str, int], list[Row]] = (("", 0), [])
        self._last = "remark"
        """The kind of the last rows, text or remark; at the beginning those are of the person or of the program."""

    def start(self) -> None:
        """Begin to draw the status."""
        self._live = Live(
            console=self._console,
            get_renderable=self._renderable,
            refresh_per_second=_FRAMES,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=sys.stderr.isatty(),
            vertical_overflow="crop",
        )
        self._live.start(refresh=True)

    def stop(self) -> None:
        """Print what is left of the text, and remove the status."""
        self.end_text()
        live, self._live, self._last = self._live, None, "remark"
        if live is not None:
            live.stop()

    def show_text(self, piece: str) -> None:
        """Show the next piece of the model's text."""
        for block in self._blocks.feed(piece):
            self._print_text(block)

    def end_text(self) -> None:
        """Show the text so far as a whole."""
        self._print_text(self._blocks.end())

    def remark(self, line: str) -> None:
        """Show a remark of the program, after the text so far."""
        self.end_text()
        self._print([[Segment(_start_of(one_line(line), self._console.width), _DIM)]], "remark")

    def _print_text(self, text: str) -> None:
        rows = markdown_rows(text, self._console) if text.strip() else []
        if rows:
            self._print(rows, "text")

    def _print(self, rows: list[Row], kind: str) -> None:
        self._console.print(_Rows([*self._gap(kind), *rows]))
        self._last = kind

    def _gap(self, kind: str) -> list[Row]:
        """A blank row between two blocks of text, and between text and remarks."""
        return [[]] if "text" in (self._last, kind) else []

    def _renderable(self) -> "_Rows":
        width, height = self._console.size
        status = self._status()
        rows = [self._status_row(line, width) for line in status.lines]
        if status.typed:
            typed = one_line(status.typed.replace("\n", _LINE_END))
            rows.append([Segment(_end_of(f"> {typed}", width - 1))])
        room = max(height - len(rows) - 2, 1)
        tail = self._tail_rows(width)
        drawn = [*self._gap("text"), *tail][-room:] if tail else []
        return _Rows([*drawn, *([[]] if drawn and rows else []), *rows])

    def _tail_rows(self, width: int) -> list[Row]:
        tail = self._blocks.rest
        if len(tail) > _TAIL:
            start = tail.find("\n", len(tail) - _TAIL) + 1 or len(tail) - _TAIL
            tail = f"{self._blocks.fence}\n{tail[start:]}" if self._blocks.fence else tail[start:]
        if self._drawn[0] != (tail, width):
            self._drawn = (tail, width), markdown_rows(tail, self._console)
        return self._drawn[1]

    def _status_row(self, line: str, width: int) -> Row:
        frame = str(self._spinner.render(self._console.get_time()))
        return [Segment(f"{frame} "), Segment(_start_of(one_line(line), width - 3), _DIM)]


@dataclass(frozen=True, slots=True)
class _Rows:
    rows: list[Row]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for row in self.rows:
            yield from row
            yield Segment.line()


def _start_of(line: str, width: int) -> str:
    return line if cell_len(line) <= width else set_cell_size(line, max(width - 1, 1)).rstrip() + "…"


def _end_of(line: str, width: int) -> str:
    """The end of a line, which is where the person types."""
    while cell_len(line) > width:
        line = f"…{line[max(len(line) - width, 2) :]}"
    return line


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
