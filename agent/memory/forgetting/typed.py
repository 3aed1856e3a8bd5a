"""Removes a forgotten text from what the person has typed in chats, which a chat offers again.

The file is that of the line editor: for each message a line with its time, and the lines of the message behind a `+`.
"""

import re
from pathlib import Path

from agent.config.private import replace
from agent.memory.forgetting.said_again import SaidAgain

_MESSAGE = re.compile(r"^(?:\n?# .*\n)?((?:^\+.*\n?)+)", re.MULTILINE)
"""One message: the line with its time, and its own lines."""


def forget_typed(history: Path, said: SaidAgain) -> None:
    """Remove each message that says the text from this file, if it exists."""
    try:
        data = history.read_bytes().decode("utf-8", "replace")
    except (FileNotFoundError, IsADirectoryError):
        return
    left = _MESSAGE.sub(lambda found: "" if said.concerns(_words(found[1])) else found[0], data)
    if left != data:
        replace(history, left)


def _words(lines: str) -> str:
    return "\n".join(line.removeprefix("+") for line in lines.split("\n"))
