"""The program on a terminal of its own, with somebody who types and reads."""

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import pyte
from pyte.screens import Char
from wcwidth import wcwidth

from agent.clock import SystemClock
from tests.stories.agents import command, environment

PATIENCE = 120.0
_SCROLLED = 10_000


@dataclass
class Terminal:
    """A running program on a terminal of `columns` and `rows`; `raw` is all that it has sent."""

    process: subprocess.Popen[bytes]
    screen: int
    columns: int
    rows: int
    raw: bytes = b""
    read_to: int = 0
    page: pyte.HistoryScreen = field(init=False)
    stream: pyte.ByteStream = field(init=False)
    _above: list[str] = field(default_factory=list)
    _shown: dict[int, str] = field(default_factory=dict)
    _drawn_to: int = -1

    def __post_init__(self) -> None:
        self.page = pyte.HistoryScreen(self.columns, self.rows, history=_SCROLLED)
        self.stream = pyte.ByteStream(self.page)

    @property
    def lines(self) -> list[str]:
        """What stands on the screen, and what has scrolled out of it, line by line; drawn anew where it has changed."""
        if self._drawn_to != len(self.raw):
            if len(self._above) > len(self.page.history.top):
                self._above.clear()
            self._above += [_text(line, self.columns) for line in islice(self.page.history.top, len(self._above), None)]
            for row in self.page.dirty:
                self._shown[row] = _text(self.page.buffer[row], self.columns)
            self.page.dirty.clear()
            self._drawn_to = len(self.raw)
        found = [*self._above, *(self._shown.get(row, "") for row in range(self.rows))]
        last = len(self._above) + self.page.cursor.y
        found[last] = found[last].ljust(self.page.cursor.x)
        return found

    @property
    def seen(self) -> str:
        """The same as one text that ends at the cursor, or where the last line with text does."""
        lines = self.lines
        end = max([len(self.page.history.top) + self.page.cursor.y, *(n for n, line in enumerate(lines) if line)])
        return "\n".join(lines[: end + 1])

    def type(self, text: str) -> None:
        """Type something; `\\n` is Enter, `\\x03` Ctrl-C, `\\x04` Ctrl-D."""
        os.write(self.screen, text.encode())

    def sees(self, text: str) -> str:
        """Wait until the text stands there, after what was waited for last; what stands there up to its end."""
        came = self._wait_for(text, self._since)
        came = came[: came.index(text) + len(text)]
        self.read_to = min(self.read_to, len(self.seen)) + len(came)
        return came

    def shows(self, text: str) -> None:
        """Wait until the text stands anywhere: for what is redrawn in place, and gone later."""
        self._wait_for(text, lambda: self.seen)

    def _wait_for(self, text: str, look: Callable[[], str]) -> str:
        clock = SystemClock()
        deadline = clock.monotonic() + PATIENCE
        while text not in (came := look()):
            assert clock.monotonic() < deadline, f"{text!r} does not come: {self.seen!r}"
            assert self._more(0.1) or self.process.poll() is None, f"it ended without {text!r}: {self.seen!r}"
            while self._more(0.0):  # to the end of a frame: half of one is nothing that a person sees
                pass
        return came

    def _since(self) -> str:
        """What stands after what was waited for last; what was redrawn since may be shorter."""
        seen = self.seen
        return seen[min(self.read_to, len(seen)) :]

    def close(self) -> None:
        """Close the window: the program's terminal is gone."""
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, self.screen)
        os.close(nothing)

    def ends(self) -> int:
        """Wait until the program has ended; its exit code."""
        clock = SystemClock()
        deadline = clock.monotonic() + PATIENCE
        while self.process.poll() is None:
            assert clock.monotonic() < deadline, f"it does not end: {self.seen!r}"
            self._more(0.1)
        while self._more(0.0):
            pass
        return self.process.returncode

    def _more(self, seconds: float) -> bool:
        readable, _, _ = select.select([self.screen], [], [], seconds)
        if not readable:
            return False
        try:
            piece = os.read(self.screen, 65536)
        except OSError:  # the other end is closed
            return False
        self.raw += piece
        self.stream.feed(piece)
        return bool(piece)


def _text(line: Mapping[int, Char], columns: int) -> str:
    """The text of a line of the screen; the cell behind a wide character has none."""
    found, column = list[str](), 0
    end = min(columns, max(line, default=-1) + 1)
    while column < end:
        char = line[column].data
        found.append(char)
        column += 2 if char and wcwidth(char[0]) == 2 else 1
    return "".join(found).rstrip()


@contextmanager
def terminal(root: Path, own: Mapping[str, str], *words: str, columns: int = 200, rows: int = 50) -> Iterator[Terminal]:
    """The program on a terminal, killed at the end of the block if it still lives."""
    screen, inside = pty.openpty()
    fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    env = {**environment(own), "TERM": own.get("TERM", "xterm")}
    process = subprocess.Popen(
        command(root, *words), env=env, stdin=inside, stdout=inside, stderr=inside, start_new_session=True, cwd=root,
        preexec_fn=take_terminal,
    )  # fmt: skip
    os.close(inside)
    try:
        yield Terminal(process, screen, columns, rows)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        os.close(screen)


def take_terminal() -> None:
    """Make the terminal that of the new session, so that Ctrl-C reaches the program, also if the tests run in the
    background of a shell that has it ignored."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.default_int_handler)
