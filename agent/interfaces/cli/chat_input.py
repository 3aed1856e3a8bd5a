"""The messages of a chat: from a terminal, with editing and history, or from a pipe; on a terminal also during a run.

A message typed during a run goes to the run's mailbox; a slash command waits until the end of the run. A pipe is read
one line at a time, between runs, so the order of messages does not depend on speed. Editing is left to
`terminal.editor`.
"""

import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, cast

from agent.dataclass import dataclass
from agent.llm.messages import User
from agent.loop.mailbox import Mailbox

if TYPE_CHECKING:
    from agent.interfaces.cli.terminal.editor import LineEditor


@dataclass(slots=True)
class ChatInput:
    """Standard input, message by message. The file `history` keeps those of a terminal; a pipe has no history.

    `commands` are the slash commands, for completion.
    """

    terminal: bool
    history: Path
    commands: Sequence[str] = ()
    _waiting: deque[str] = field(default_factory=deque)
    _editor: "LineEditor | None" = None

    def open(self) -> None:
        """Load the history and enable editing."""
        if self.terminal:
            module = import_module("agent.interfaces.cli.terminal.editor")  # prompt_toolkit is slow to load
            self._editor = cast("LineEditor", module.LineEditor(self.history, self.commands))

    def line(self, prompt: str, tell: Callable[[], Callable[[], object] | None] | None = None) -> str:
        """The next message; on a terminal, `tell` is asked meanwhile whether there is news, and returns what prints it.
        Raises `EOFError` at the end, `KeyboardInterrupt` on Ctrl-C."""
        if self._waiting:
            return self._waiting.popleft()
        if self._editor is None:
            raw = sys.stdin.buffer.readline()
            if not raw:
                raise EOFError
            return raw.decode("utf-8", "replace").rstrip("\r\n")
        return self._editor.line(prompt, tell)

    @contextmanager
    def listening(
        self, mailbox: Mailbox, seen: Callable[[str], object], sent: Callable[[str], object]
    ) -> Iterator[None]:
        """Send messages typed meanwhile to `mailbox` and to `sent`, and the one that is being typed to `seen`.

        Messages that the run has not used become the next ones, and an unfinished one the beginning of the next.
        """
        if self._editor is None:
            yield
            return

        def take(text: str) -> None:
            if text.startswith("/"):
                self._waiting.append(text)
            else:
                mailbox.put(User(text))
            sent(text)

        try:
            with self._editor.typed_meanwhile(take, seen):
                yield
        finally:
            seen("")
            while (left := mailbox.first()) is not None:
                self._waiting.append(left.text)
