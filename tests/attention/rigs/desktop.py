"""A session's bus (a real dbus-daemon) with a server of notices on it, written with jeepney."""

import subprocess
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from html import unescape
from shutil import which
from typing import Any

import pytest
from jeepney import MessageType, new_error, new_method_return  # type: ignore[import-untyped]  # it has no types
from jeepney.bus_messages import message_bus  # type: ignore[import-untyped]  # it has no types
from jeepney.io.blocking import open_dbus_connection  # type: ignore[import-untyped]  # it has no types

from agent.attention.channels.desktop import NAME, OURS, Desktop
from tests.attention.rigs.rig import Rig, Shown
from tests.attention.servers import Fault
from tests.processes import started


@dataclass
class Notices:
    """What the server shows; it numbers notices from 1."""

    can: list[str] = field(default_factory=lambda: ["body", "actions", "body-markup"])
    shown: list[tuple[Any, ...]] = field(default_factory=list)
    faults: deque[Fault] = field(default_factory=deque)
    calls: int = 0

    def serve(self, bus: str, ready: threading.Event) -> None:
        """Answer until the bus is gone."""
        with suppress(OSError, EOFError), open_dbus_connection(bus=bus) as connection:
            connection.send_and_get_reply(message_bus.RequestName(NAME))
            ready.set()
            while True:
                call = connection.receive()
                if call.header.message_type is MessageType.method_call:
                    reply = self._reply(call)
                    if reply is not None:
                        connection.send(reply)

    def _reply(self, call: Any) -> Any:
        if call.header.fields[3] == "GetCapabilities":
            return new_method_return(call, "as", (self.can,))
        self.calls += 1
        fault = self.faults.popleft() if self.faults else None
        if fault == "silent":
            return None
        if fault == "broken":
            return new_error(call, "org.freedesktop.DBus.Error.NoReply", "s", ("out of order",))
        if fault == "wrong":
            return new_error(call, "org.example.Refused", "s", ("too \x1b[31mlong",))
        self.shown.append(call.body)
        return new_method_return(call, "u", (len(self.shown),))


@dataclass
class DesktopRig:
    channel: Desktop
    notices: Notices
    limit: int = 1_010
    secrets: tuple[str, ...] = ()
    asks_to_wait: bool = False
    tells_a_wrong_key: bool = True
    faults: frozenset[Fault] = frozenset({"silent", "broken", "wrong"})

    def shown(self) -> Sequence[Shown]:
        return [
            Shown(
                f"{title}\n{unescape(body)}",
                tuple(name.removeprefix(OURS) for name in actions[::2]),
            )
            for _, _, _, title, body, actions, _, _ in self.notices.shown
        ]

    def misbehave(self, *faults: Fault) -> None:
        self.notices.faults.extend(faults)

    def change_key(self) -> None:
        raise AssertionError("it has no key")

    def calls(self) -> int:
        return self.notices.calls

    def sent_on(self) -> int:
        return 0


@contextmanager
def session_bus() -> Iterator[str]:
    """The address of a bus of its own."""
    if which("dbus-daemon") is None:
        pytest.skip("dbus-daemon is not installed")
    command = ["dbus-daemon", "--session", "--nofork", "--nopidfile", "--print-address=1"]
    with started(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as daemon:
        assert daemon.stdout is not None
        yield daemon.stdout.readline().strip()


@contextmanager
def desktop_rig() -> Iterator[Rig]:
    notices, ready = Notices(), threading.Event()
    with session_bus() as bus:
        server = threading.Thread(target=notices.serve, args=(bus, ready), daemon=True)
        server.start()
        assert ready.wait(60)
        yield DesktopRig(Desktop("en", bus, timeout=0.5), notices)
    server.join(5)
