"""A small IMAP server on loopback: the commands that reading a mailbox takes, as RFC 3501 has them, and faults."""

import re
import socket
import socketserver
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Trouble: TypeAlias = Literal["cut", "refused", "silent", "garbage"]
"""What happens to one look: the connection ends in the middle, the mailbox is not opened, nothing is said, or what is
said is no IMAP."""

PASSWORD = "hush-hush-imap-1234567"


@dataclass
class Mailbox:
    """The mails by number, and what clients did."""

    port: int = 0
    validity: int = 7
    password: str = PASSWORD
    mails: dict[int, bytes] = field(default_factory=dict)
    troubles: deque[Trouble] = field(default_factory=deque)
    commands: list[str] = field(default_factory=list)
    closing: threading.Event = field(default_factory=threading.Event)

    def put(self, mail: bytes) -> int:
        """A new mail; returns its number."""
        number = max(self.mails, default=100) + 1
        self.mails[number] = mail
        return number


@contextmanager
def mailbox() -> Iterator[Mailbox]:
    """A server that is gone, with its threads, when this is left."""
    box = Mailbox()

    class Session(_Session):
        state = box

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True

    server = Server(("127.0.0.1", 0), Session)
    box.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield box
    finally:
        box.closing.set()
        server.shutdown()
        thread.join(5)
        server.server_close()


class _Session(socketserver.StreamRequestHandler):
    """One connection."""

    state: Mailbox

    def handle(self) -> None:
        trouble = self.state.troubles.popleft() if self.state.troubles else None
        with suppress(OSError, ValueError):
            if trouble == "garbage":
                self.wfile.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                return
            self._say("* OK ready")
            while line := self.rfile.readline().decode().strip():
                tag, command, *rest = line.split(" ", 2)
                self.state.commands.append(f"{command} {rest[0] if rest else ''}".strip())
                if not self._answer(tag, command.upper(), rest[0] if rest else "", trouble):
                    return

    def _answer(self, tag: str, command: str, rest: str, trouble: Trouble | None) -> bool:
        match command:
            case "CAPABILITY":
                self._say("* CAPABILITY IMAP4rev1")
            case "LOGIN":
                if rest.split(" ", 1)[1] != f'"{self.state.password}"':
                    self._say(f"{tag} NO [AUTHENTICATIONFAILED] not {self.state.password}")
                    return True
            case "EXAMINE" | "SELECT" if trouble == "refused":
                self._say(f"{tag} NO no such mailbox")
                return True
            case "EXAMINE" | "SELECT":
                self._say(f"* {len(self.state.mails)} EXISTS")
                self._say(f"* OK [UIDVALIDITY {self.state.validity}] valid")
                self._say(f"* OK [UIDNEXT {max(self.state.mails, default=100) + 1}] next")
            case "UID" if trouble == "silent":
                self.state.closing.wait(30)
                return False
            case "UID":
                self._uid(rest, trouble)
                if trouble == "cut":
                    return False
            case "LOGOUT":
                self._say("* BYE")
                self._say(f"{tag} OK done")
                return False
        self._say(f"{tag} OK done")
        return True

    def _uid(self, rest: str, trouble: Trouble | None) -> None:
        if rest.startswith("SEARCH"):
            first = int(re.findall(r"\d+", rest)[0])
            last = max(self.state.mails, default=0)
            found = [number for number in self.state.mails if number >= first or number == last]
            self._say(f"* SEARCH {' '.join(map(str, found))}".rstrip())
            return
        number = int(rest.split(" ")[1])
        data = self.state.mails[number]
        most = re.search(r"<0\.(\d+)>", rest)
        data = data[: int(most[1])] if most else data
        head = f'* 1 FETCH (UID {number} INTERNALDATE "23-Nov-2026 10:00:00 +0000" BODY[]<0> {{{len(data)}}}\r\n'
        self.wfile.write(head.encode() + (data[: len(data) // 2] if trouble == "cut" else data + b")\r\n"))
        if trouble == "cut":
            self.connection.shutdown(socket.SHUT_RDWR)

    def _say(self, line: str) -> None:
        self.wfile.write(line.encode() + b"\r\n")
