"""The vault's daemon behind its Unix socket: where that is, and questions of another process."""

import json
import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from http.client import HTTPConnection, HTTPException
from pathlib import Path

import agent
from agent.platform.here import platform
from agent.workspace.workspace import Workspace

SOCKET_NAME, TOKEN_NAME = "daemon.sock", "http/token"
"""The socket and the token of a daemon, in the vault's private folder."""
SOCKET_HOST = "vault-agent"
"""The `Host` of requests on the socket."""
LONGEST_NAME = 100
"""The longest name in bytes that every system takes for a socket."""


class DaemonSilent(Exception):
    """No daemon answers, or it does not take the question."""


def program_identity() -> str:
    """What differs when another version of the program is installed, or the same one elsewhere."""
    place = Path(agent.__file__)
    return f"{place.parent} {place.stat().st_mtime_ns}"


def socket_path(workspace: Workspace) -> Path:
    """The socket of the vault's daemon, in the vault's private folder."""
    return workspace.vault.private_folder / SOCKET_NAME


@contextmanager
def bindable(path: Path) -> Iterator[str]:
    """The name of a socket for `bind` and `connect`: a long one goes another way round."""
    if len(os.fsencode(path)) < LONGEST_NAME:
        yield str(path)
        return
    with platform().socket_name(str(path.parent), path.name) as name:
        yield name


class DaemonConnection(HTTPConnection):
    """A connection to the daemon of a vault; `seconds` is the longest wait for a piece of an answer, None for any."""

    def __init__(self, workspace: Workspace, seconds: float | None) -> None:
        super().__init__(SOCKET_HOST)
        self._path, self._seconds = socket_path(workspace), seconds

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self._seconds)
        with bindable(self._path) as name:
            self.sock.connect(name)


def ask_daemon(workspace: Workspace, path: str, question: Mapping[str, object], seconds: float) -> bytes:
    """The daemon's answer to a question; raises `DaemonSilent` if none comes in so many seconds."""
    try:
        token = (workspace.vault.private_folder / TOKEN_NAME).read_text("ascii").strip()
        with closing(DaemonConnection(workspace, seconds)) as connection:
            headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
            connection.request("POST", path, json.dumps(question).encode(), headers)
            response = connection.getresponse()
            if response.status != 200:
                raise DaemonSilent("the daemon does not take the question")
            return response.read()
    except (OSError, ValueError, HTTPException) as error:
        raise DaemonSilent("no daemon answers") from error
