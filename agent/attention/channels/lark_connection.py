"""The long connection to Lark: a WebSocket with frames, over which events come in and are answered.

The only door to the library `websockets`, an extra, which is loaded when it is used. Its address holds a key of one
use, so that nothing of it is logged or said.
"""

import json
import logging
import random
import ssl
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING

from agent.attention.channels.lark_frames import CONTROL, DATA, Frame, frame_bytes, parse_frame
from agent.attention.channels.waiting import awaited
from agent.clock import Clock
from agent.dataclass import dataclass
from agent.llm.messages import Cancelled, JsonObject, mapping, number, parsed

if TYPE_CHECKING:
    from websockets.sync.client import ClientConnection

MOST_BYTES = 1024 * 1024
"""The most bytes of one frame, and of an event that comes in parts."""
_LOOK = 0.2
"""Seconds between two looks at whether to stop."""
_MOST_AT_ONCE, _MOST_PARTS, _MOST_UNFINISHED = 100, 100, 16
_PING_EVERY = 120.0
"""Seconds between two pings, unless the service says another number; not more often than `_PING_LEAST`."""
_PING_LEAST = 5.0
_QUIET = logging.Logger("long connection", logging.CRITICAL + 1)
"""The library's own logger would write down the address."""


class ConnectionLost(Exception):
    """The connection has ended, or what came in is not of this protocol."""


class ConnectionRefused(Exception):
    """The service does not open the connection; `headers` say why, with names in small letters."""

    def __init__(self, status: int, headers: Mapping[str, str]) -> None:
        super().__init__(status)
        self.status, self.headers = status, headers


@dataclass(frozen=True, slots=True)
class ConnectionPace:
    """The pace that the service asks of its clients, in seconds: `ping` between two pings; before a new connection, at
    most `nonce`, by chance, after one that was lost, and `interval` after one that the service did not open.

    It also says how many tries a client has, which is not followed: a daemon comes back whenever it can.
    """

    ping: float = _PING_EVERY
    nonce: float = 0.0
    interval: float = 0.0

    def after_loss(self) -> float:
        """A pause by chance, so that not all clients come back at once."""
        return self.nonce * random.random()


def pace_of(config: JsonObject) -> ConnectionPace:
    """The pace in a `ClientConfig`."""
    ping = float(number(config.get("PingInterval"))) or _PING_EVERY
    nonce, interval = number(config.get("ReconnectNonce")), number(config.get("ReconnectInterval"))
    return ConnectionPace(max(ping, _PING_LEAST), min(float(nonce), 600.0), min(float(interval), 600.0))


@dataclass(frozen=True, slots=True)
class Event:
    """An event that has come in whole: its JSON, and the frame that is sent back as the answer."""

    payload: bytes
    frame: Frame
    at: float


class LongConnection:
    """One open connection. One thread at a time reads from it; `close` may come from any."""

    def __init__(self, socket: "ClientConnection", service: int, pace: ConnectionPace, clock: Clock) -> None:
        self._socket, self._service, self._clock = socket, service, clock
        self.pace = pace
        self._ping_at = clock.monotonic()
        self._parts: dict[str, dict[int, bytes]] = {}

    def events(self, wait: float, cancelled: Cancelled) -> list[Event]:
        """The events that come in: waits so many seconds for a first event, and takes all that are there by then.

        Raises `ConnectionLost`. Returns early, perhaps with nothing, when `cancelled` is true.
        """
        until, found = self._clock.monotonic() + wait, list[Event]()
        while not cancelled() and len(found) < _MOST_AT_ONCE:
            now = self._clock.monotonic()
            if now >= self._ping_at:
                self._ping_at = now + self.pace.ping
                self._send(Frame(service=self._service, headers=(("type", "ping"),)))
            left = 0.0 if found else min(_LOOK, until - now)
            data = self._receive(max(left, 0.0))
            if data is None and (found or now >= until):
                break
            event = self._take(data) if data is not None else None
            if event is not None:
                found.append(event)
        return found

    def confirm(self, events: list[Event]) -> None:
        """Answer the events, so that the service does not send them again; raises `ConnectionLost`."""
        for each in events:
            passed = str(int((self._clock.monotonic() - each.at) * 1_000))
            headers = (*each.frame.headers, ("biz_rt", passed))
            self._send(replace(each.frame, headers=headers, payload=json.dumps({"code": 200}).encode()))

    def close(self) -> None:
        """End the connection at once."""
        with suppress(OSError):
            self._socket.socket.shutdown(2)

    def _take(self, data: bytes) -> Event | None:
        """The event that a frame completes; None for a part of one, and for a frame that is none."""
        try:
            frame = parse_frame(data)
        except ValueError as error:
            raise ConnectionLost("a frame that is none") from error
        if frame.method == CONTROL and frame.header("type") == "pong" and frame.payload:
            with suppress(ValueError):
                self.pace = pace_of(mapping(parsed(frame.payload)))
        if frame.method != DATA or frame.header("type") not in ("event", "card"):
            return None
        payload = self._whole(frame)
        return Event(payload, frame, self._clock.monotonic()) if payload is not None else None

    def _whole(self, frame: Frame) -> bytes | None:
        """The JSON of an event once all of its parts are there, whatever their order."""
        total, place, id = frame.number("sum"), frame.number("seq"), frame.header("message_id")
        if total <= 1:
            return frame.payload
        parts = self._parts.pop(id, {}) | {place: frame.payload}
        if total > _MOST_PARTS or place >= total or sum(map(len, parts.values())) > MOST_BYTES:
            raise ConnectionLost("an event of too many parts")
        if len(parts) == total:
            return b"".join(parts[each] for each in range(total))
        self._parts[id] = parts
        while len(self._parts) > _MOST_UNFINISHED:
            del self._parts[next(iter(self._parts))]
        return None

    def _receive(self, wait: float) -> bytes | None:
        """The next message, None if there is none within so many seconds."""
        try:
            found = self._socket.recv(timeout=wait)
        except TimeoutError:
            return None
        except _failures() as error:
            raise ConnectionLost("the connection was closed") from error
        return found if isinstance(found, bytes) else b""

    def _send(self, frame: Frame) -> None:
        try:
            self._socket.send(frame_bytes(frame))
        except _failures() as error:
            raise ConnectionLost("the connection was closed") from error


def is_installed() -> bool:
    """True if the library is there, without which nothing comes in."""
    return find_spec("websockets") is not None


def connect(url: str, timeout: float, cancelled: Cancelled) -> "ClientConnection":
    """A connection to the address; raises `ConnectionRefused`, `ConnectionLost`, `ssl.SSLCertVerificationError`, and
    `Interrupted` soon after `cancelled` is true."""
    from websockets.exceptions import InvalidStatus
    from websockets.sync.client import connect as open_socket

    is_abandoned = False

    def open_it() -> "ClientConnection":
        socket = open_socket(
            url,
            open_timeout=timeout,
            close_timeout=1.0,
            compression=None,
            proxy=None,
            max_size=MOST_BYTES,
            user_agent_header="vault-agent",
            logger=_QUIET,
        ).__enter__()  # newer versions want that; leaving the context would only close it
        if is_abandoned:
            socket.close()
        return socket

    def give_up() -> None:
        nonlocal is_abandoned
        is_abandoned = True

    try:
        return awaited(open_it, cancelled, give_up)
    except InvalidStatus as error:
        headers = {name.lower(): value for name, value in error.response.headers.raw_items()}
        raise ConnectionRefused(error.response.status_code, headers) from None
    except ssl.SSLCertVerificationError:
        raise
    except ValueError as error:
        raise ConnectionLost("no address of a connection") from error
    except _failures() as error:
        raise ConnectionLost("no connection") from error


def _failures() -> tuple[type[Exception], ...]:
    """The errors of the library for a connection that fails."""
    from websockets.exceptions import WebSocketException

    return (WebSocketException, OSError, EOFError)
