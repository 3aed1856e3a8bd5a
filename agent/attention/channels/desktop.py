"""Notices of the desktop: over D-Bus on Linux and BSD, by `osascript` on macOS.

On D-Bus an error is an ordinary reply, so each is checked. The server says what it can show: buttons, or styled text,
in which ours is escaped. The proof is the number that it gave the notice.
"""

import os
import subprocess
from contextlib import suppress
from html import escape as escape_markup
from importlib import import_module
from typing import Any

from agent.attention.channels.channel import Message
from agent.attention.channels.waiting import awaited
from agent.attention.channels.wording import body_of, title_of
from agent.config.program_parts import command_to_add
from agent.dataclass import dataclass
from agent.errors import AgentError, Permanent, Retryable, UserError
from agent.llm.failures import clean_message
from agent.llm.messages import Cancelled
from agent.platform.here import platform
from agent.texts import Language

OURS = "vault-agent:"
"""The beginning of the name of each of our buttons."""
NAME, PATH = "org.freedesktop.Notifications", "/org/freedesktop/Notifications"
_MOST = 800
"""The most characters of a text: a notice of the desktop has a few lines."""
_TIMEOUT = 5.0
_UNTIL_CLOSED = 0
_BY_SERVER = -1
_SCRIPT = (
    *("-e", "on run argv"),
    *("-e", "display notification (item -1 of argv) with title (item -2 of argv)"),
    *("-e", "end run"),
)
"""The script that shows a notice. Its texts are arguments and never part of it, so that nothing in them is run."""


@dataclass(frozen=True, slots=True)
class Desktop:
    """The channel; `bus` is the address of the session's bus, empty for that of this process."""

    language: Language
    bus: str = ""
    timeout: float = _TIMEOUT
    name: str = "desktop"

    def send(self, message: Message, cancelled: Cancelled) -> str:
        """Show it; one with choices stays until the person closes it."""
        if not platform().has_desktop_bus:
            return self._by_script(message)
        visit = _Visit(self)
        return awaited(lambda: visit.notify(message), cancelled, visit.hang_up)

    def _by_script(self, message: Message) -> str:
        body = body_of(message, self.language, _MOST, replies=False, elsewhere=True)
        try:
            done = subprocess.run(
                ["osascript", *_SCRIPT, "--", title_of(message), body],
                capture_output=True,
                timeout=self.timeout,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise Retryable("osascript does not answer", hint="the message is sent again later") from error
        if done.returncode:
            raise Permanent(
                "osascript shows nothing: {why}",
                hint="are notices of osascript allowed in the settings of the system?",
                why=clean_message(done.stderr.decode("utf-8", "replace"), ""),
            )
        return f"osascript {message.id}"


class _Visit:
    """One connection to the bus."""

    def __init__(self, channel: Desktop) -> None:
        self._channel = channel
        self._connection: Any = None

    def hang_up(self) -> None:
        """Close the connection, which ends the wait for a reply."""
        if self._connection is not None:
            with suppress(OSError):
                self._connection.sock.shutdown(2)

    def notify(self, message: Message) -> str:
        """Show it; raises `Retryable`, `Permanent` and `UserError`."""
        try:
            self._connection = connect(self._channel.bus)
            can = self._ask("GetCapabilities", None, ())[0]
            return str(self._ask("Notify", "susssasa{sv}i", self._notice(message, can))[0])
        except (OSError, EOFError) as error:
            raise Retryable("the desktop does not answer", hint="the message is sent again later") from error
        finally:
            if self._connection is not None:
                self._connection.close()

    def _notice(self, message: Message, can: list[str]) -> tuple[object, ...]:
        buttons = "actions" in can
        body = body_of(message, self._channel.language, _MOST, replies=False, elsewhere=not buttons)
        body = escape_markup(body, quote=False) if "body-markup" in can else body
        actions = [part for choice in message.choices for part in (f"{OURS}{choice.reply}", choice.label)]
        lasts = _UNTIL_CLOSED if message.choices else _BY_SERVER
        return ("vault-agent", 0, "", title_of(message), body, actions if buttons else [], {}, lasts)

    def _ask(self, method: str, signature: str | None, body: tuple[object, ...]) -> tuple[Any, ...]:
        jeepney = library()
        place = jeepney.DBusAddress(PATH, bus_name=NAME, interface=NAME)
        call = jeepney.new_method_call(place, method, signature, body)
        reply = self._connection.send_and_get_reply(call, timeout=self._channel.timeout)
        if reply.header.message_type is jeepney.MessageType.error:
            raise _refusal(reply)
        return tuple(reply.body)


def library() -> Any:
    """The library for D-Bus; raises `UserError` without it."""
    try:
        return import_module("jeepney")
    except ImportError as error:
        raise UserError(
            "notices of the desktop need the library jeepney",
            hint="install it: {command}",
            command=command_to_add("desktop"),
        ) from error


def connect(bus: str) -> Any:
    """A connection to the session's bus; raises `Permanent` without one, `UserError` without the library."""
    library()
    address = bus or os.environ.get("DBUS_SESSION_BUS_ADDRESS", "")
    if not address:
        raise Permanent(
            "there is no desktop here: the variable DBUS_SESSION_BUS_ADDRESS is not set",
            hint="start the daemon within the session of the desktop",
        )
    return import_module("jeepney.io.blocking").open_dbus_connection(bus=address)


def _refusal(reply: Any) -> AgentError:
    """The error for a reply that is one."""
    fields = import_module("jeepney").HeaderFields
    kind = str(reply.header.fields.get(fields.error_name, ""))
    first = reply.body[0] if reply.body else kind
    why = clean_message(str(first), "")
    if kind.endswith((".ServiceUnknown", ".NameHasNoOwner")):
        return Permanent(
            "nothing shows notices on this desktop", hint="start a program for them, such as dunst or mako", why=why
        )
    if kind.endswith((".NoReply", ".Timeout", ".LimitsExceeded", ".Disconnected")):
        return Retryable("the desktop does not answer", hint="the message is sent again later")
    hint = "vault-agent channels test desktop tries it"
    return Permanent("the desktop refuses the notice: {why}", hint=hint, why=why)
