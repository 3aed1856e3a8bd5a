"""Starts the icon of the node host with the desktop: a file of the desktop's own, which can be deleted at any time."""

import os
import sys
from pathlib import Path
from xml.sax.saxutils import escape

from agent.config.private import check_file
from agent.interfaces.node.session import is_mac

_NAME = "vault-agent-node"
_ENTRY = """[Desktop Entry]
Type=Application
Name=vault-agent node host
Exec={command}
X-GNOME-Autostart-enabled=true
"""
_PLIST = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key><string>{name}</string>
  <key>ProgramArguments</key><array>{words}</array>
  <key>RunAtLoad</key><true/>
</dict>
</plist>
"""


def autostart_file() -> Path:
    """The file that starts the icon, where the desktop looks for it."""
    if is_mac():
        return Path.home() / "Library/LaunchAgents" / f"{_NAME}.plist"
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "autostart" / f"{_NAME}.desktop"


def is_on() -> bool:
    """True if the icon starts with the desktop."""
    return autostart_file().is_file()


def switch(on: bool) -> None:
    """Have the icon started with the desktop, or not any more."""
    file = autostart_file()
    if not on:
        file.unlink(missing_ok=True)
        return
    check_file(file)
    words = [sys.executable, "-m", "agent", "node", "--tray"]
    file.parent.mkdir(parents=True, exist_ok=True)
    if is_mac():
        file.write_text(_PLIST.format(name=_NAME, words="".join(f"<string>{escape(each)}</string>" for each in words)))
    else:
        file.write_text(_ENTRY.format(command=" ".join(map(_quoted, words))))


def _quoted(word: str) -> str:
    """A word as the rules of desktop entries want it: in quotes, with a few signs escaped."""
    for sign in '\\"`$':
        word = word.replace(sign, f"\\{sign}")
    return '"' + word.replace("%", "%%") + '"'
