"""The library Apprise, for the services that have no channel of their own here; an extra, loaded when it is used.

It proves nothing but that it had no error: after an error the service may have taken the message all the same. A call
cannot be cut short, so each has a thread that is left behind when the wait for it ends.
"""

import logging
import threading
from importlib import import_module
from typing import Protocol, cast

from agent.attention.channels.channel import Message
from agent.attention.channels.wording import body_of, title_of
from agent.config.program_parts import command_to_add
from agent.dataclass import dataclass
from agent.errors import ConfigError, Interrupted, PerhapsDone, UserError
from agent.llm.messages import Cancelled
from agent.texts import Language

LONGEST = 60.0
"""The longest time of one delivery in seconds."""
_POLL = 0.1
_SETTING = "channels.apprise.url"


class Notifier(Protocol):
    """The part of `apprise.Apprise` that is used."""

    def add(self, servers: str) -> bool: ...

    def notify(self, body: str, title: str = "", *, body_format: str | None = None) -> object: ...


@dataclass(frozen=True, slots=True)
class Apprise:
    """The channel of one address."""

    url: str
    language: Language
    name: str = "apprise"

    def send(self, message: Message, cancelled: Cancelled) -> str:
        """Hand it to the library; the proof is that it had no error."""
        notifier = load_notifier()
        if not notifier.add(self.url):
            raise ConfigError(
                "{setting} is not an address that Apprise knows",
                hint="https://appriseit.com/services/ lists them",
                setting=_SETTING,
            )
        title, body = title_of(message), body_of(message, self.language, replies=False, elsewhere=True)
        done: list[bool] = []
        over = threading.Event()

        def deliver() -> None:
            try:
                done.append(bool(notifier.notify(body or title, title if body else "", body_format="text")))
            finally:
                over.set()

        threading.Thread(target=deliver, name="apprise", daemon=True).start()
        waited = 0.0
        while not over.wait(_POLL):
            waited += _POLL
            if cancelled():
                raise Interrupted("the wait for {place} was cancelled", place="Apprise")
            if waited >= LONGEST:
                raise PerhapsDone("Apprise is silent for {seconds:g} s", hint="try again later", seconds=LONGEST)
        if done != [True]:
            raise PerhapsDone("Apprise could not deliver the message", delay=60.0, hint="check channels.apprise.url")
        return f"apprise {message.id}"


def load_notifier() -> Notifier:
    """A new notifier of the library; raises `UserError` if it is not installed."""
    try:
        library = import_module("apprise")
    except ImportError as error:
        raise UserError(
            "the channel apprise needs the library of this name",
            hint="install it: {command}",
            command=command_to_add("apprise"),
        ) from error
    for name in ("apprise", "urllib3"):  # they would log addresses, which hold keys
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return cast(Notifier, library.Apprise())
