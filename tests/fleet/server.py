"""The server of a fleet, in its namespace: git over HTTP, and a way to a database's socket, on one address.

python -m tests.fleet.server ADDRESS FOLDER SOCKET
"""

import socket
import sys
import threading
from contextlib import suppress
from pathlib import Path

from tests.trust.git_server import GitServer, listening

GIT, DATABASE = 8418, 5432
"""The ports."""


def pass_on(one: socket.socket, other: socket.socket) -> None:
    """Pass bytes on until one side has ended."""
    with suppress(OSError):
        while data := one.recv(65_536):
            other.sendall(data)
    for each in (one, other):
        with suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)


def serve_database(address: str, path: str) -> None:
    """Connect whoever comes with the database."""
    door = socket.create_server((address, DATABASE))
    while True:
        asked, _ = door.accept()
        answering = socket.socket(socket.AF_UNIX)
        answering.connect(path)
        for one, other in ((asked, answering), (answering, asked)):
            threading.Thread(target=pass_on, args=(one, other), daemon=True).start()


if __name__ == "__main__":
    place, folder, path = sys.argv[1:]
    threading.Thread(target=serve_database, args=(place, path), daemon=True).start()
    listening(GitServer(Path(folder)), (place, GIT)).serve_forever()
