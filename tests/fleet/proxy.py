"""A way to the database's server that can be cut, for one machine."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

SOCKET = ".s.PGSQL.5432"


@dataclass
class Proxy:
    """Passes bytes on between a socket in `folder` and the server's."""

    folder: Path
    server: Path
    is_cut: bool = False
    _listening: socket.socket = field(default_factory=lambda: socket.socket(socket.AF_UNIX))
    _open: list[socket.socket] = field(default_factory=list)

    def start(self) -> None:
        self.folder.mkdir()
        self._listening.bind(str(self.folder / SOCKET))
        self._listening.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Cut all connections; new ones end at once."""
        self.is_cut = True
        for each in self._open:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def mend(self) -> None:
        self.is_cut = False

    def close(self) -> None:
        self.cut()
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()

    def _accept(self) -> None:
        while True:
            try:
                asked, _ = self._listening.accept()
            except OSError:
                return
            if self.is_cut:
                asked.close()
                continue
            answering = socket.socket(socket.AF_UNIX)
            answering.connect(str(self.server / SOCKET))
            self._open += [asked, answering]
            for one, other in ((asked, answering), (answering, asked)):
                threading.Thread(target=_pass_on, args=(one, other), daemon=True).start()


def _pass_on(one: socket.socket, other: socket.socket) -> None:
    with suppress(OSError):
        while data := one.recv(65_536):
            other.sendall(data)
    for each in (one, other):
        with suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)
    with suppress(OSError):
        one.close()


@contextmanager
def proxies(folder: Path, server: Path, count: int) -> Iterator[list[Proxy]]:
    """So many ways to the server in `server`."""
    made = [Proxy(folder / f"p{number}", server) for number in range(count)]
    try:
        for each in made:
            each.start()
        yield made
    finally:
        for each in made:
            each.close()
