"""The buttons of our notices on the desktop: what the person presses there is a reply.

Over D-Bus only. One connection listens for as long as the channel lives, since a press is told once, to who listens.
"""

from collections import deque
from contextlib import suppress
from importlib import import_module
from typing import Any

from agent.attention.channels.channel import Incoming, Received
from agent.attention.channels.desktop import NAME, OURS, PATH, connect, library
from agent.attention.channels.waiting import awaited
from agent.clock import Clock
from agent.errors import Retryable
from agent.llm.messages import Cancelled

WAIT = 25.0
"""The longest wait for a press, in seconds."""


class DesktopIn:
    """The way in; its only sender is who sits at the desktop."""

    name = "desktop"
    owner = "desktop"

    def __init__(self, clock: Clock, bus: str = "", wait: float = WAIT) -> None:
        self._clock, self._bus, self._wait = clock, bus, wait
        self._connection: Any = None
        self._pressed: deque[Any] = deque()
        self._listening: Any = None

    def receive(self, position: str, cancelled: Cancelled) -> Received:
        """The presses since the last call; there is no position, as the desktop does not keep them."""
        pressed = awaited(self._next, cancelled, self.close)
        return Received(tuple(pressed), "")

    def reread(self, data: bytes) -> Incoming | None:
        """None: who sits at the desktop sends nothing that cannot be read."""
        return None

    def close(self) -> None:
        """Stop listening; the next call begins anew."""
        connection, self._connection, self._listening = self._connection, None, None
        if connection is not None:
            with suppress(OSError):
                connection.sock.shutdown(2)
            connection.close()

    def _next(self) -> list[Incoming]:
        try:
            if self._connection is None:
                self._listen()
            connection = self._connection
            with suppress(TimeoutError):
                first = connection.recv_until_filtered(self._pressed, timeout=self._wait)
                self._pressed.appendleft(first)
        except (OSError, EOFError) as error:
            self.close()
            raise Retryable("the desktop does not answer", delay=60.0, hint="it is asked again later") from error
        found = [each.body for each in self._pressed]
        self._pressed.clear()
        return [self.pressed(*body) for body in found if len(body) == 2 and str(body[1]).startswith(OURS)]

    def _listen(self) -> None:
        jeepney = library()
        bus = import_module("jeepney.bus_messages")
        connection = self._connection = connect(self._bus)
        rule = jeepney.MatchRule(type="signal", sender=NAME, interface=NAME, member="ActionInvoked", path=PATH)
        connection.send_and_get_reply(bus.message_bus.AddMatch(rule))
        # On the wire a signal has its sender's unique name; the bus has checked that it is the server's.
        arrived = jeepney.MatchRule(type="signal", interface=NAME, member="ActionInvoked", path=PATH)
        self._listening = connection.filter(arrived, queue=self._pressed)
        self._listening.__enter__()

    def pressed(self, number: int, button: str) -> Incoming:
        """The reply that a press of this button below the notice with this number stands for."""
        text = button.removeprefix(OURS)
        return Incoming(f"{number}:{text}", self.owner, self.name, text, self._clock.now(), answers=str(number))
