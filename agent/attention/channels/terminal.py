"""The terminal on which the daemon runs as a channel: a few lines there, for who has it in view."""

import os
import select
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from agent.attention.channels.channel import Message
from agent.attention.channels.wording import whole_of
from agent.config.masking import printable
from agent.dataclass import dataclass
from agent.errors import Permanent, Retryable, os_reason
from agent.llm.messages import Cancelled
from agent.texts import Language

_MOST = 2_000
"""The most characters of a notice: a screen is not pushed away."""
_PATIENCE = 0.3
"""The longest wait in seconds for a terminal that takes nothing, such as one that was stopped with Ctrl-S."""


@dataclass(frozen=True, slots=True)
class Terminal:
    """The channel; `device` is the terminal's, None without one."""

    device: Path | None
    now: Callable[[], datetime]
    language: Language
    name: str = "terminal"

    def send(self, message: Message, cancelled: Cancelled) -> str:
        """Write it; the proof is the terminal's name and the time."""
        if self.device is None:
            raise Permanent("this process has no terminal", hint="start the daemon in a terminal: vault-agent daemon")
        now = self.now()
        content = printable(whole_of(message, self.language, _MOST, replies=False, elsewhere=True))
        first, *more = content.splitlines()
        lines = [f"{now:%H:%M} {first}", *(f"      {line}" for line in more if line.strip())]
        try:
            written = _write(self.device, "\n".join(["", *lines, ""]).encode("utf-8", "replace"))
        except OSError as error:
            raise Permanent(
                "the terminal {device} takes nothing: {reason}", device=self.device, reason=os_reason(error)
            ) from error
        if not written:
            raise Retryable("the terminal {device} is stopped", hint="press Ctrl-Q in it", device=self.device)
        return f"{self.device} {now:%H:%M:%S} {message.id}"


def _write(device: Path, data: bytes) -> bool:
    """Write all of `data`; false if the terminal takes nothing for a while."""
    descriptor = os.open(device, os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)
    try:
        while data and select.select([], [descriptor], [], _PATIENCE)[1]:
            data = data[os.write(descriptor, data) :]
    finally:
        os.close(descriptor)
    return not data


def own_terminal() -> Path | None:
    """The terminal of this process, None if it writes into a file or nowhere."""
    try:
        return Path(os.ttyname(1))
    except (AttributeError, OSError):  # Windows has none of these
        return None
