"""What the person presses below a notice of the desktop comes in as a reply, once."""

import threading
from collections.abc import Iterator

import pytest
from jeepney import DBusAddress, new_signal  # type: ignore[import-untyped]  # it has no types
from jeepney.bus_messages import message_bus  # type: ignore[import-untyped]
from jeepney.io.blocking import open_dbus_connection  # type: ignore[import-untyped]

from agent.attention.channels.desktop import NAME, PATH
from agent.attention.channels.desktop_in import DesktopIn
from agent.errors import Interrupted, Retryable
from agent.llm.messages import never
from tests.attention.rigs.desktop import session_bus
from tests.fakes import FakeClock


@pytest.fixture
def bus() -> Iterator[str]:
    with session_bus() as address:
        yield address


def press(bus: str, button: str, *, as_server: bool = True) -> None:
    """The server says that a button of notice 3 was pressed; or another program says so."""
    with open_dbus_connection(bus=bus) as connection:
        if as_server:
            connection.send_and_get_reply(message_bus.RequestName(NAME))
        connection.send(new_signal(DBusAddress(PATH, interface=NAME), "ActionInvoked", "us", (3, button)))
        connection.send_and_get_reply(message_bus.GetId())


def test_a_press_is_a_reply(bus: str) -> None:
    channel = DesktopIn(FakeClock(), bus, wait=0.2)
    assert not channel.receive("", never).messages
    press(bus, "vault-agent:yes 7K2")
    [message] = channel.receive("", never).messages
    assert (message.sender, message.text, message.answers) == (channel.owner, "yes 7K2", "3")
    assert not channel.receive("", never).messages
    channel.close()


def test_buttons_of_other_programs_and_other_senders_are_none(bus: str) -> None:
    channel = DesktopIn(FakeClock(), bus, wait=0.2)
    channel.receive("", never)
    press(bus, "default")
    press(bus, "vault-agent:yes 7K2", as_server=False)
    assert not channel.receive("", never).messages
    channel.close()


def test_a_wait_ends_when_it_is_cancelled(bus: str) -> None:
    channel, stop = DesktopIn(FakeClock(), bus, wait=20), threading.Event()
    threading.Timer(0.2, stop.set).start()
    with pytest.raises(Interrupted):
        channel.receive("", stop.is_set)


def test_a_desktop_that_has_gone_is_looked_for_again() -> None:
    with session_bus() as address:
        channel = DesktopIn(FakeClock(), address, wait=0.2)
        channel.receive("", never)
    with pytest.raises(Retryable):
        channel.receive("", never)
