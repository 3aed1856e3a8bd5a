"""The program on a terminal of its own, with somebody who types and reads."""

import os
import pty
import re
import select
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from agent.clock import SystemClock
from tests.stories.agents import command, environment

PATIENCE = 30.0
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")


@dataclass
class Terminal:
    """A running program; `seen` is what it has shown so far, without colours."""

    process: subprocess.Popen[bytes]
    screen: int
    raw: bytes = b""
    read_to: int = 0

    @property
    def seen(self) -> str:
        return _ESCAPES.sub("", self.raw.decode("utf-8", "replace"))

    def type(self, text: str) -> None:
        """Type something; `\\n` is Enter, `\\x03` Ctrl-C, `\\x04` Ctrl-D."""
        os.write(self.screen, text.encode())

    def sees(self, text: str) -> str:
        """Wait until the text has appeared, after what was waited for last; what came up to its end."""
        clock = SystemClock()
        deadline = clock.monotonic() + PATIENCE
        while text not in self.seen[self.read_to :]:
            assert clock.monotonic() < deadline, f"{text!r} does not come: {self.seen!r}"
            assert self._more(0.1) or self.process.poll() is None, f"it ended without {text!r}: {self.seen!r}"
        start = self.read_to
        self.read_to = self.seen.index(text, start) + len(text)
        return self.seen[start : self.read_to]

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
        return bool(piece)


@contextmanager
def terminal(root: Path, own: Mapping[str, str], *words: str) -> Iterator[Terminal]:
    """The program on a terminal, killed at the end of the block if it still lives."""
    screen, inside = pty.openpty()
    env = {**environment(own), "TERM": "xterm", "COLUMNS": "200", "LINES": "50"}
    process = subprocess.Popen(
        command(root, *words), env=env, stdin=inside, stdout=inside, stderr=inside, start_new_session=True, cwd=root,
        preexec_fn=_controlling,
    )  # fmt: skip
    os.close(inside)
    try:
        yield Terminal(process, screen)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        os.close(screen)


def _controlling() -> None:
    """Make the terminal that of the new session, so that Ctrl-C reaches the program."""
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
