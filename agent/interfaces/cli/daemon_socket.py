"""Requests of the command line to the vault's daemon, through its Unix socket."""

import http.client
import socket
from collections.abc import Iterator, Mapping
from contextlib import closing
from urllib.parse import urlencode

from agent.errors import Permanent
from agent.interfaces.cli.run_messages import parse_stream
from agent.interfaces.http.door.socket_file import bindable, socket_path
from agent.interfaces.http.door.token import load_token
from agent.json_value import parse_json
from agent.workspace.daemon_socket import SOCKET_HOST
from agent.workspace.workspace import Workspace


class _Connection(http.client.HTTPConnection):
    def __init__(self, workspace: Workspace, timeout: float | None) -> None:
        super().__init__(SOCKET_HOST)
        self._path, self._wait = socket_path(workspace), timeout

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self._wait)
        with bindable(self._path) as name:
            self.sock.connect(name)


def stream_from_daemon(
    workspace: Workspace, path: str, params: Mapping[str, str | int]
) -> Iterator[tuple[str, Mapping[str, object]]]:
    """The events of a stream with their data, until it ends; leaving it early closes the connection.

    Raises `OSError` if the daemon does not answer, `Permanent` with the daemon's words for a problem.
    """
    with closing(_Connection(workspace, None)) as connection:
        headers = {"Authorization": f"Bearer {load_token(workspace)}"}
        connection.request("POST", f"{path}?{urlencode(params)}", headers=headers)
        response = connection.getresponse()
        if response.status != http.HTTPStatus.OK:
            problem = parse_json(response.read())
            raise Permanent(problem["detail"], hint=problem.get("hint", ""))
        yield from parse_stream(response)
