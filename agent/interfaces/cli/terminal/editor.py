"""The editing of a message on a terminal: history, several lines, pasted blocks, and keys typed during a run.

The door to `prompt_toolkit`. A pasted block is one message: terminals mark where it begins and ends. During a run the
screen is drawn by `live`, so `TypedAhead` only collects keys; the run's own Ctrl-C stays a signal.
"""

import asyncio
import codecs
import os
import re
import select
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app, run_in_terminal
from prompt_toolkit.completion import WordCompleter
from prompt_toolkit.history import FileHistory, History
from prompt_toolkit.input.vt100_parser import Vt100Parser
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.key_binding.key_processor import KeyPress
from prompt_toolkit.keys import Keys
from prompt_toolkit.output import create_output
from prompt_toolkit.output.vt100 import Vt100_Output

from agent.config.masking import printable
from agent.config.private import FILE, make_folder, touch, write
from agent.errors import UserError
from agent.interfaces.cli.printing import reset
from agent.interfaces.cli.prompt import silent_keys

KEPT = 1_000
"""Messages that the history keeps at least."""
_CHUNK = 65_536
_LOOK = 1.0
"""Seconds between two looks for news while a prompt waits."""


class LineEditor:
    """Edits one message at a time. `history` is a private file, `words` are completed with Tab at the beginning."""

    def __init__(self, history: Path, words: Sequence[str]) -> None:
        output = create_output(sys.stdout)
        if isinstance(output, Vt100_Output):
            output.enable_cpr = False  # asking a slow terminal where its cursor is leaves the answer in the text
        self._session: PromptSession[str] = PromptSession(
            history=open_history(history),
            completer=WordCompleter(list(words), pattern=re.compile(r"^/\w*")),
            complete_while_typing=False,
            enable_suspend=True,
            key_bindings=_keys(),
            prompt_continuation="  ",
            reserve_space_for_menu=0,
            output=output,
        )

        self._begun = ""

    def line(self, prompt: str, tell: Callable[[], Callable[[], object] | None] | None = None) -> str:
        """The message that the person ends with Enter, which may have several lines; it begins with what was typed but
        not sent during a run. `tell` is asked every second whether there is news, and returns what prints it: that is
        called above the prompt.

        Raises `EOFError` for Ctrl-D and `KeyboardInterrupt` for Ctrl-C without a text.
        """
        reset()
        begun, self._begun = self._begun, ""
        try:
            return self._session.prompt(prompt, default=begun, pre_run=partial(_begin_telling, tell) if tell else None)
        except asyncio.CancelledError:  # a Ctrl-C that came before the prompt took the keys
            raise KeyboardInterrupt from None

    @contextmanager
    def typed_meanwhile(self, sent: Callable[[str], object], seen: Callable[[str], object]) -> Iterator[None]:
        """Until the end of the block, pass each typed message to `sent`, and the unfinished one to `seen`.

        The terminal shows no keys itself meanwhile; Ctrl-C remains a signal.
        """
        typed = TypedAhead()
        wake, woken = os.pipe()
        with silent_keys(by_key=True):
            work = (typed, sent, seen, wake)
            thread = threading.Thread(target=_listen, args=work, name="vault-agent-keys", daemon=True)
            thread.start()
            try:
                yield
            finally:
                os.close(woken)
                thread.join()
                os.close(wake)
                self._begun = typed.text


def _begin_telling(tell: Callable[[], Callable[[], object] | None]) -> None:
    """Look for news while this prompt waits."""

    async def look() -> None:
        while True:
            await asyncio.sleep(_LOOK)
            if show := tell():
                await run_in_terminal(show)

    get_app().create_background_task(look())


class TypedAhead:
    """Turns what a person types during a run into messages; `text` is what is not sent yet."""

    def __init__(self) -> None:
        self.text = ""
        self._sent: list[str] = []
        self._escaped = False
        self._parser = Vt100Parser(self._press)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def feed(self, data: bytes) -> list[str]:
        """The messages that these bytes end."""
        self._sent = []
        self._parser.feed(self._decoder.decode(data))
        return self._sent

    def _press(self, press: KeyPress) -> None:
        key, self._escaped, escaped = press.key, press.key is Keys.Escape, self._escaped
        match key:
            case Keys.BracketedPaste:
                self.text += press.data.replace("\r\n", "\n").replace("\r", "\n")
            case Keys.ControlM | Keys.ControlJ if escaped:
                self.text += "\n"
            case Keys.ControlM | Keys.ControlJ:
                if self.text.strip():
                    self._sent.append(self.text.strip())
                self.text = ""
            case Keys.ControlH:
                self.text = self.text[:-1]
            case Keys.ControlW:
                self.text = self.text.rstrip().rpartition(" ")[0]
            case Keys.ControlU:
                self.text = ""
            case str() if not isinstance(key, Keys) and not escaped:
                self.text += key


def _listen(typed: TypedAhead, sent: Callable[[str], object], seen: Callable[[str], object], wake: int) -> None:
    descriptor = sys.stdin.fileno()
    while True:
        readable, _, _ = select.select([descriptor, wake], [], [])
        chunk = os.read(descriptor, _CHUNK) if descriptor in readable and wake not in readable else b""
        if not chunk:
            break
        for message in typed.feed(chunk):
            sent(message)
        seen(typed.text)


def open_history(path: Path) -> History:
    """The history in this file, created if missing."""
    return _PrivateHistory(path)


class _PrivateHistory(FileHistory):
    """The newest messages in a private file, without known secrets; one that cannot be written keeps nothing."""

    def __init__(self, path: Path) -> None:
        super().__init__(str(path))
        with suppress(OSError, UserError):
            make_folder(path.parent)
            touch(path)
            path.chmod(FILE)
            self._trim(path)

    def load_history_strings(self) -> Iterable[str]:
        try:
            return list(super().load_history_strings())
        except OSError:
            return []

    def store_string(self, string: str) -> None:
        with suppress(OSError):
            super().store_string(printable(string))

    def _trim(self, path: Path) -> None:
        """Keep the newest messages of a file that has grown to twice as many."""
        newest_first = list(self.load_history_strings())
        if len(newest_first) > 2 * KEPT:
            write(path, b"")
            for message in reversed(newest_first[:KEPT]):
                self.store_string(message)


def _keys() -> KeyBindings:
    keys = KeyBindings()

    @keys.add("escape", "enter")
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    @keys.add("c-c")
    def _(event: KeyPressEvent) -> None:
        if event.current_buffer.text:
            event.current_buffer.reset()
        else:
            event.app.exit(exception=KeyboardInterrupt)

    return keys
