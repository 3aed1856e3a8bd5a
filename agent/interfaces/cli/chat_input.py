"""The lines of a chat: from a terminal, with history, or from a pipe; on a terminal also during a run.

A line typed during a run goes to the run's mailbox; a slash command waits until the end of the run. A pipe is read one
line at a time, between runs, so the order of messages does not depend on speed.
"""

import os
import select
import sys
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from agent.llm.messages import User
from agent.loop.mailbox import Mailbox

KEPT = 1_000
"""Lines kept in the history."""
_CHUNK = 65_536


@dataclass(slots=True)
class ChatInput:
    """Standard input, line by line. The file `history` keeps the lines of a terminal; a pipe has no history."""

    terminal: bool
    history: Path
    _waiting: deque[str] = field(default_factory=deque)

    def open(self) -> None:
        """Load the history and enable line editing."""
        if self.terminal:
            with suppress(ImportError, OSError):  # some Pythons have no line editing; the chat works without it
                import readline

                readline.set_history_length(KEPT)
                readline.read_history_file(self.history)

    def line(self, prompt: str) -> str:
        """The next line; raises `EOFError` at the end, `KeyboardInterrupt` on Ctrl-C."""
        if self._waiting:
            return self._waiting.popleft()
        if not self.terminal:
            raw = sys.stdin.buffer.readline()
            if not raw:
                raise EOFError
            return raw.decode("utf-8", "replace").rstrip("\r\n")
        text = input(prompt)
        self._keep()
        return text

    def later(self, text: str) -> None:
        """Append a line that was typed too early to the waiting lines."""
        self._waiting.append(text)

    @contextmanager
    def listening(self, mailbox: Mailbox) -> Iterator[None]:
        """Send lines typed meanwhile to `mailbox`; lines that the run has not used become the next lines."""
        if not self.terminal:
            yield
            return
        wake, woken = os.pipe()
        thread = threading.Thread(target=self._listen, args=(mailbox, wake), name="vault-agent-keys", daemon=True)
        thread.start()
        try:
            yield
        finally:
            os.close(woken)
            thread.join()
            os.close(wake)
            while (left := mailbox.first()) is not None:
                self.later(left.text)

    def _listen(self, mailbox: Mailbox, wake: int) -> None:
        descriptor = sys.stdin.fileno()
        begun = b""
        while True:
            readable, _, _ = select.select([descriptor, wake], [], [])
            if wake in readable:
                break
            chunk = os.read(descriptor, _CHUNK)
            if not chunk:  # Ctrl-D ends this reading, not the run
                break
            *lines, begun = (begun + chunk).split(b"\n")
            for raw in lines:
                text = raw.decode("utf-8", "replace").strip()
                if text.startswith("/"):
                    self.later(text)
                elif text:
                    mailbox.put(User(text))
        if begun.strip():
            self.later(begun.decode("utf-8", "replace").strip())

    def _keep(self) -> None:
        with suppress(ImportError, OSError):
            import readline

            self.history.touch(mode=0o600)
            readline.write_history_file(self.history)
