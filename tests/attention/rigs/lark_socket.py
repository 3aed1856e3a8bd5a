"""The long connections of a local Lark: what people write and press goes out over one of them until it is answered."""

import json
import logging
import random
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Literal, TypeAlias
from urllib.parse import parse_qs, urlsplit

from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.sync.server import Server, ServerConnection, serve

from agent.attention.channels.lark_frames import DATA, Frame, frame_bytes, parse_frame

OWNER, STRANGER = "ou_7d8a6e6df7621556ce0d21922b676706", "ou_stranger"
BOT = "ou_bot"
CHAT, GROUP = "oc_owner", "oc_group"
SERVICE = 42
TICKET = "hush-ticket"
"""What the address of a connection holds as its key."""
DATE = 1_795_000_000_000
AGAIN = 0.3
"""Seconds after which an event is sent again that was not answered; the real service waits three."""

SocketFault: TypeAlias = Literal[
    "cut", "cut in parts", "answer lost", "not heard", "twice", "garbage", "half", "text", "big", "unknown", "parts"
]
"""What happens when the next event is to be sent.

`cut`: the connection ends instead. `cut in parts`: it ends after the first part. `answer lost`: it ends before the
answer is read. `not heard`: the answer is not read. `twice`: the event comes twice. `garbage`, `half`, `text`, `big`,
`unknown`: something else comes before it: no frame, half a frame, a text, a frame that is too large, a frame of an
unknown kind. `parts`: it comes in parts, the last one first.
"""
FAULTS: tuple[SocketFault, ...] = (
    "cut",
    "cut in parts",
    "answer lost",
    "not heard",
    "twice",
    "garbage",
    "half",
    "text",
    "big",
    "unknown",
    "parts",
)


@dataclass
class _Pending:
    payload: bytes
    sent_at: float = 0.0


@dataclass
class LarkSocket:
    """The server: `answered` has the ids of the events that were answered, in order, `seen` all frames of clients."""

    port: int = 0
    again: float = AGAIN
    faults: deque[SocketFault] = field(default_factory=deque)
    refusals: deque[dict[str, str]] = field(default_factory=deque)
    """Headers with which the next connections are refused."""

    answered: list[str] = field(default_factory=list)
    seen: list[Frame] = field(default_factory=list)
    connections: int = 0
    config: dict[str, int] = field(
        default_factory=lambda: {
            "ReconnectCount": -1,
            "ReconnectInterval": 0,
            "ReconnectNonce": 0,
            "PingInterval": 120,
        }
    )
    _pending: dict[str, _Pending] = field(default_factory=dict)
    _open: list[ServerConnection] = field(default_factory=list)
    _number: int = 0
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _over: threading.Event = field(default_factory=threading.Event)
    _dice: random.Random = field(default_factory=lambda: random.Random("lark 17"))

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self.port}/ws?device_id=1&service_id={SERVICE}&ticket={TICKET}"

    @property
    def waiting(self) -> int:
        """How many events are not answered."""
        with self._lock:
            return len(self._pending)

    @property
    def open(self) -> int:
        """How many connections are open."""
        with self._lock:
            return len(self._open)

    def write(self, words: str, sender: str = OWNER, chat: str = "", **more: object) -> str:
        """Somebody writes to the bot, or in a group; returns the id of the message."""
        content = {"message_type": "text", "content": json.dumps({"text": words})}
        return self.arrive(sender, chat, **{**content, **more})

    def arrive(self, sender: str, chat: str, **message: object) -> str:
        """A message of any kind."""
        with self._lock:
            self._number += 1
            id = f"om_in{self._number}"
        event = {
            "sender": {"sender_id": {"open_id": sender}, "sender_type": "user"},
            "message": {
                "message_id": id,
                "create_time": str(DATE),
                "chat_id": chat or (CHAT if sender == OWNER else f"oc_{sender}"),
                "chat_type": "group" if chat == GROUP else "p2p",
                **message,
            },
        }
        self._arrive("im.message.receive_v1", event)
        return id

    def press(self, reply: str, below: str, sender: str = OWNER) -> None:
        """Somebody presses the button with this reply on a card."""
        event = {
            "operator": {"open_id": sender},
            "action": {"tag": "button", "value": {"reply": reply}},
            "context": {"open_message_id": below, "open_chat_id": CHAT},
        }
        self._arrive("card.action.trigger", event)

    def lose_all(self) -> None:
        """All connections end."""
        with self._lock:
            for each in self._open:
                _cut(each)

    def _arrive(self, kind: str, event: dict[str, object]) -> None:
        with self._lock:
            self._number += 1
            id = f"event{self._number}"
            header = {"event_id": id, "event_type": kind, "create_time": f"{DATE}000", "app_id": "cli_a1b2c3"}
            document = {"schema": "2.0", "header": header, "event": event}
            self._pending[id] = _Pending(json.dumps(document).encode())

    def serve_connection(self, connection: ServerConnection) -> None:
        """Read what one client sends, until it is gone."""
        with self._lock:
            self._open.append(connection)
            self.connections += 1
        try:
            for data in connection:
                frame = parse_frame(data if isinstance(data, bytes) else b"")
                self.seen.append(frame)
                if frame.header("type") == "ping":
                    self._pong(connection)
                elif frame.method == DATA:
                    self._take(frame)
        except ConnectionClosed:
            pass
        finally:
            with self._lock:
                self._open.remove(connection)

    def check_ticket(self, connection: ServerConnection, request: Request) -> Response | None:
        """Refuse what has no ticket, or what is to be refused."""
        ticket = parse_qs(urlsplit(request.path).query).get("ticket")
        if self.refusals:
            response = connection.respond(500, "")
            for name, value in self.refusals.popleft().items():
                response.headers[name] = value
            return response
        return None if ticket == [TICKET] else connection.respond(403, "")

    def send_all(self) -> None:
        """Send what waits, again and again, until it is answered."""
        while not self._over.wait(0.005):
            with self._lock:
                now = time.monotonic()
                due = [id for id, each in self._pending.items() if now - each.sent_at >= self.again]
                for id in due:
                    if self._open and id in self._pending:
                        self._pending[id].sent_at = now
                        self._send(id, self._dice.choice(self._open))

    def stop(self) -> None:
        self._over.set()

    def _pong(self, connection: ServerConnection) -> None:
        payload = json.dumps(self.config).encode()
        pong = Frame(service=SERVICE, headers=(("type", "pong"),), payload=payload)
        with suppress(ConnectionClosed):
            connection.send(frame_bytes(pong))

    def _take(self, frame: Frame) -> None:
        assert json.loads(frame.payload)["code"] == 200
        assert frame.header("biz_rt").isdigit() and frame.service == SERVICE
        id = frame.header("message_id")
        with self._lock:
            if self._pending.pop(id, None) is not None:
                self.answered.append(id)

    def _send(self, id: str, connection: ServerConnection) -> None:
        fault = self.faults.popleft() if self.faults else None
        payload = self._pending[id].payload
        whole = [frame_bytes(_frame(id, payload))]
        third = len(payload) // 3
        pieces = (payload[:third], payload[third : 2 * third], payload[2 * third :])
        parts = [frame_bytes(_frame(id, piece, 3, place)) for place, piece in enumerate(pieces)]
        before: dict[SocketFault, bytes | str] = {
            "garbage": b"\x07\xff\xff\xff\xff",
            "half": whole[0][: len(whole[0]) // 2],
            "text": "hello",
            "big": b"\x42" * 2_000_000,
            "unknown": frame_bytes(Frame(method=DATA, headers=(("type", "weather"),), payload=b"{")),
        }
        with suppress(ConnectionClosed, OSError):
            match fault:
                case "cut":
                    _cut(connection)
                    return
                case "cut in parts":
                    connection.send(parts[0])
                    _cut(connection)
                    return
                case "parts":
                    whole = parts[::-1]
                case "twice":
                    whole *= 2
            if fault in before:
                connection.send(before[fault])
            for each in whole:
                connection.send(each)
            if fault == "answer lost":
                _cut(connection)
            if fault == "not heard":
                self._pending[f"{id} again"] = _Pending(payload, self._pending.pop(id).sent_at)


def _cut(connection: ServerConnection) -> None:
    with suppress(OSError):
        connection.socket.shutdown(2)


def _frame(id: str, payload: bytes, total: int = 1, place: int = 0) -> Frame:
    headers = {"type": "event", "message_id": id, "trace_id": "t", "sum": str(total), "seq": str(place)}
    return Frame(7, 9, SERVICE, DATA, tuple(headers.items()), "", "", payload, "log")


@contextmanager
def lark_socket() -> Iterator[LarkSocket]:
    """A server on loopback; it is gone, with its threads, when this is left."""
    lark = LarkSocket()
    quiet = logging.Logger("lark", logging.CRITICAL + 1)
    with serve(lark.serve_connection, "127.0.0.1", 0, process_request=lark.check_ticket, logger=quiet) as server:
        lark.port = _port(server)
        threads = [threading.Thread(target=each, daemon=True) for each in (server.serve_forever, lark.send_all)]
        for each in threads:
            each.start()
        try:
            yield lark
        finally:
            lark.stop()
            lark.lose_all()
            server.shutdown()
            for each in threads:
                each.join(5)


def _port(server: Server) -> int:
    port = server.socket.getsockname()[1]
    assert isinstance(port, int)
    return port
