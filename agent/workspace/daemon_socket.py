"""Questions of another process to the vault's daemon, through its Unix socket."""

import json
import os
import socket
from collections.abc import Mapping
from contextlib import closing
from http.client import HTTPConnection, HTTPException
from pathlib import Path

import agent
from agent.workspace.workspace import Workspace

SOCKET_NAME, TOKEN_NAME = "daemon.sock", "http/token"
"""The socket and the token of a daemon, in the vault's private folder."""
SOCKET_HOST = "vault-agent"
"""The `Host` of requests on the socket."""
LONGEST_NAME = 100
"""The longest name in bytes that every system takes for a socket."""


class DaemonSilent(Exception):
    """No daemon answers, or it does not take the question."""


def program_version() -> str:
    """What differs when another version of the program is installed, or the same one elsewhere."""
    place = Path(agent.__file__)
    return f"{place.parent} {place.stat().st_mtime_ns}"


def ask_daemon(workspace: Workspace, path: str, question: Mapping[str, object], seconds: float) -> bytes:
    """The daemon's answer to a question; raises `DaemonSilent` if none comes in so many seconds."""
    folder = workspace.vault.private_folder
    try:
        token = (folder / TOKEN_NAME).read_text("ascii").strip()
        with closing(_Connection(folder / SOCKET_NAME, seconds)) as connection:
            headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
            connection.request("POST", path, json.dumps(question).encode(), headers)
            response = connection.getresponse()
            if response.status != 200:
                raise DaemonSilent("the daemon does not take the question")
            return response.read()
    except (OSError, ValueError, HTTPException) as error:
        raise DaemonSilent("no daemon answers") from error


class _Connection(HTTPConnection):
    def __init__(self, place: Path, seconds: float) -> None:
        super().__init__(SOCKET_HOST)
        self._place, self._seconds = place, seconds

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self._seconds)
        if len(os.fsencode(self._place)) < LONGEST_NAME:
            self.sock.connect(str(self._place))
            return
        folder = os.open(self._place.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            self.sock.connect(f"/proc/self/fd/{folder}/{self._place.name}")
        finally:
            os.close(folder)
