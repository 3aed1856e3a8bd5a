"""A small IMAP server on loopback: the commands that reading a mailbox takes, as RFC 3501 and 2177 have them, over TLS
if it is wanted, and faults."""

import re
import socket
import socketserver
import ssl
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email import message_from_bytes
from email.message import Message
from typing import Literal, TypeAlias

Trouble: TypeAlias = Literal[
    "cut",
    "refused",
    "silent",
    "garbage",
    "no",
    "bad",
    "unavailable",
    "too short",
    "too long",
    "twice",
    "other",
    "slow",
    "bye",
    "down",
]
"""What happens to one connection. `cut`: it ends in the middle of a mail; `bye`: before the login; `down`:
before a word. `refused`: the mailbox is not opened; `no`, `bad`: a command for mails is not carried out; `unavailable`:
nor is the login, for now. `silent`: nothing is said to such a command. `garbage`: what is said is no IMAP. `too short`,
`too long`: the bytes of a mail are counted wrong. `twice`: each number is said twice. `other`: another mail comes than
was asked for. `slow`: each answer takes a moment."""

_REFUSALS: dict[tuple[str, Trouble | None], str] = {
    ("LOGIN", "unavailable"): "NO [UNAVAILABLE] come again later",
    ("EXAMINE", "refused"): "NO no such mailbox",
    ("SELECT", "refused"): "NO no such mailbox",
    ("UID", "no"): "NO not now",
    ("UID", "bad"): "BAD not now",
}
PASSWORD = "hush-hush-imap-1234567"


def _part(mail: bytes, asked: str) -> bytes:
    """The section of a mail that is asked for, as it is written there; all of it without a number."""
    found = re.search(r"BODY\.PEEK\[([\d.]+)\]", asked)
    if found is None:
        return mail
    part: Message = message_from_bytes(mail)
    for number in found[1].split("."):
        members = part.get_payload()
        part = members[int(number) - 1] if isinstance(members, list) else part  # type: ignore[assignment]
    return str(part.get_payload()).encode("ascii", "surrogateescape")


@dataclass
class Mailbox:
    """The mails by number, and what clients did. `at`: when mails come that are put in. `idle`: it tells of new mail.
    `starttls`: it can be encrypted; `greeting` is the first thing that it says."""

    port: int = 0
    validity: int = 7
    password: str = PASSWORD
    following: int = 101
    mails: dict[int, bytes] = field(default_factory=dict)
    times: dict[int, datetime] = field(default_factory=dict)
    at: datetime = datetime(2026, 11, 23, 10, tzinfo=UTC)
    idle: bool = False
    starttls: ssl.SSLContext | None = None
    greeting: str = "* OK ready"
    troubles: deque[Trouble] = field(default_factory=deque)
    commands: list[str] = field(default_factory=list)
    closing: threading.Event = field(default_factory=threading.Event)
    new: threading.Condition = field(default_factory=threading.Condition)
    tells: bool = True
    """False: it says that it tells of new mail, and does not."""
    refused: set[int] = field(default_factory=set)
    """The mails that the server does not give."""
    leaving: bool = False
    """True: who waits for new mail is told that the server ends."""

    def put(self, mail: bytes) -> int:
        """A new mail; returns its number."""
        with self.new:
            number, self.following = self.following, self.following + 1
            self.mails[number], self.times[number] = mail, self.at
            self.new.notify_all()
        return number

    def remove(self, number: int) -> None:
        """Delete a mail; its number is not used again."""
        with self.new:
            del self.mails[number], self.times[number]

    def hear(self, command: str) -> None:
        """A client has said this."""
        with self.new:
            self.commands.append(command)
            self.new.notify_all()

    def until(self, command: str, times: int = 1) -> None:
        """Wait until clients have sent this command so many times."""
        with self.new:
            assert self.new.wait_for(lambda: self.commands.count(command) >= times, 10), self.commands

    def say_bye(self) -> None:
        """End the connections that wait for new mail."""
        with self.new:
            self.leaving = True
            self.new.notify_all()

    def number_anew(self) -> None:
        """Give all mails other numbers, as after the server was set up anew."""
        with self.new:
            self.validity += 1
            numbers = {old: 500 + place for place, old in enumerate(sorted(self.mails))}
            self.following = 500 + len(numbers)
            self.mails = {numbers[old]: mail for old, mail in self.mails.items()}
            self.times = {numbers[old]: at for old, at in self.times.items()}


@contextmanager
def mailbox(*, tls: ssl.SSLContext | None = None, host: str = "127.0.0.1") -> Iterator[Mailbox]:
    """A server that is gone, with its threads, when this is left; with `tls` it encrypts from the first byte."""
    box = Mailbox()

    class Session(_Session):
        state = box
        encryption = tls

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True
        allow_reuse_address = True

    server = Server((host, 0), Session)
    box.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield box
    finally:
        box.closing.set()
        with box.new:
            box.new.notify_all()
        server.shutdown()
        thread.join(5)
        server.server_close()


class _Session(socketserver.StreamRequestHandler):
    """One connection."""

    disable_nagle_algorithm = True
    state: Mailbox
    encryption: ssl.SSLContext | None
    _told = 0
    """The number of mails that the client knows of."""

    def handle(self) -> None:
        trouble = self.state.troubles.popleft() if self.state.troubles else None
        with suppress(OSError, ValueError):
            if self.encryption is not None:
                self._encrypt(self.encryption)
            if trouble == "down":
                return
            if trouble == "garbage":
                self.wfile.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                return
            self._say(self.state.greeting)
            while line := self.rfile.readline().decode().strip():
                tag, command, *rest = line.split(" ", 2)
                self.state.hear(f"{command} {rest[0] if rest else ''}".strip())
                if trouble == "slow":
                    self.state.closing.wait(0.02)
                if not self._answer(tag, command.upper(), rest[0] if rest else "", trouble):
                    return

    def finish(self) -> None:
        with suppress(OSError):
            super().finish()
        with suppress(OSError):
            self.connection.close()

    def _encrypt(self, context: ssl.SSLContext) -> None:
        self.connection = context.wrap_socket(self.connection, server_side=True)
        self.rfile, self.wfile = self.connection.makefile("rb"), self.connection.makefile("wb", 0)

    def _answer(self, tag: str, command: str, rest: str, trouble: Trouble | None) -> bool:
        if trouble == "bye" and command == "LOGIN":
            self._say("* BYE the server is going down")
            return False
        if trouble == "silent" and command == "UID":
            self.state.closing.wait(30)
            return False
        refusal = "NO [SERVERBUG] that mail is damaged" if self._is_refused(command, rest) else None
        if (refusal := refusal or _REFUSALS.get((command, trouble))) is not None:
            self._say(f"{tag} {refusal}")
            return True
        return self._carried_out(tag, command, rest, trouble)

    def _carried_out(self, tag: str, command: str, rest: str, trouble: Trouble | None) -> bool:
        match command:
            case "CAPABILITY":
                more = (" IDLE" if self.state.idle else "") + (" STARTTLS" if self.state.starttls else "")
                self._say("* CAPABILITY IMAP4rev1" + more)
            case "STARTTLS" if self.state.starttls:
                self._say(f"{tag} OK begin")
                self._encrypt(self.state.starttls)
                return True
            case "LOGIN":
                if rest.split(" ", 1)[1] != f'"{self.state.password}"':
                    self._say(f"{tag} NO [AUTHENTICATIONFAILED] not {self.state.password}")
                    return True
            case "EXAMINE" | "SELECT":
                self._say_number()
                self._say(f"* OK [UIDVALIDITY {self.state.validity}] valid")
                self._say(f"* OK [UIDNEXT {self.state.following}] next")
            case "UID":
                self._uid(rest, trouble)
                if trouble == "cut":
                    return False
            case "IDLE" if self.state.idle:
                return self._idle(tag)
            case "LOGOUT":
                self._say("* BYE")
                self._say(f"{tag} OK done")
                return False
        self._say(f"{tag} OK done")
        return True

    def _is_refused(self, command: str, rest: str) -> bool:
        found = re.match(r"UID FETCH (\d+)", f"{command} {rest}")
        return found is not None and int(found[1]) in self.state.refused

    def _idle(self, tag: str) -> bool:
        box, known = self.state, self._told
        self._say("+ idling")
        ended = threading.Event()

        def tell() -> None:
            with suppress(OSError, ValueError), box.new:
                box.new.wait_for(
                    lambda: len(box.mails) != known or box.leaving or ended.is_set() or box.closing.is_set()
                )
                if box.leaving:
                    box.leaving = False
                    self._say("* BYE the server is going down")
                    self.connection.shutdown(socket.SHUT_RDWR)
                elif len(box.mails) != known and box.tells:
                    self._say_number()

        thread = threading.Thread(target=tell, daemon=True)
        thread.start()
        line = self.rfile.readline().strip()
        ended.set()
        with box.new:
            box.new.notify_all()
        thread.join(5)
        self.state.hear(line.decode())
        if line == b"DONE":
            self._say(f"{tag} OK idled")
        return line == b"DONE"

    def _uid(self, rest: str, trouble: Trouble | None) -> None:
        mails = dict(self.state.mails)
        if rest.startswith("SEARCH"):
            found = self._searched(rest)
            found = sorted(found * 2) if trouble == "twice" else found
            self._say(f"* SEARCH {' '.join(map(str, found))}".rstrip())
            return
        number = int(rest.split(" ")[1])
        if number not in mails:
            return
        if trouble == "other" and len(mails) > 1:
            number = next(each for each in mails if each != number)
        when = self.state.times[number].strftime("%d-%b-%Y %H:%M:%S +0000")
        head = f'* 1 FETCH (UID {number} INTERNALDATE "{when}"'
        if "BODY" not in rest:
            self._say(head + ")")
            return
        data = _part(mails[number], rest)
        most = re.search(r"<0\.(\d+)>", rest)
        data = data[: int(most[1])] if most else data
        counted = len(data) + {"too short": -3, "too long": 1}.get(trouble or "", 0)
        self.wfile.write(f"{head} BODY[]<0> {{{counted}}}\r\n".encode())
        self.wfile.write(data[: len(data) // 2] if trouble == "cut" else data + b")\r\n")
        if trouble == "twice":
            self._say(f"* 1 FETCH (FLAGS (\\Recent) UID {number})")
        if trouble == "cut":
            self.connection.shutdown(socket.SHUT_RDWR)

    def _searched(self, rest: str) -> list[int]:
        since = re.search(r"SINCE (\S+)", rest)
        if since:
            day = datetime.strptime(since[1], "%d-%b-%Y").replace(tzinfo=UTC)
            return [number for number, at in self.state.times.items() if at >= day]
        first, last = int(re.findall(r"\d+", rest)[0]), max(self.state.mails, default=0)
        return [number for number in self.state.mails if number >= first or number == last]

    def _say_number(self) -> None:
        self._told = len(self.state.mails)
        self._say(f"* {self._told} EXISTS")

    def _say(self, line: str) -> None:
        self.wfile.write(line.encode() + b"\r\n")
