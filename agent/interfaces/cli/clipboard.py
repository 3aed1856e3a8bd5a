"""What is in the clipboard, by the program of this desktop that shows it."""

import shutil
import subprocess

from agent.errors import UserError

_PROGRAMS = (
    ("wl-paste", "--no-newline"),
    ("xclip", "-selection", "clipboard", "-out"),
    ("xsel", "--clipboard", "--output"),
    ("pbpaste",),
    ("powershell.exe", "-NoProfile", "-Command", "Get-Clipboard"),
)
_SECONDS = 10.0
_MOST = 8 << 20
"""Bytes of a clipboard that are read."""


def clipboard_text() -> str:
    """The text in the clipboard. Raises `UserError` where no program is there, or none of them has a text."""
    found = [each for each in _PROGRAMS if shutil.which(each[0])]
    if not found:
        raise UserError(
            "no program here shows the clipboard", hint="install wl-clipboard or xclip, or pipe the text in"
        )
    for each in found:
        try:
            ran = subprocess.run(each, capture_output=True, stdin=subprocess.DEVNULL, timeout=_SECONDS, check=False)
        except (OSError, subprocess.TimeoutExpired):
            continue
        if ran.returncode == 0 and ran.stdout.strip():
            return ran.stdout[:_MOST].decode("utf-8", "replace")
    raise UserError("there is no text in the clipboard", hint="copy it again")
