"""What is written to the bot of Lark, and the buttons that are pressed there: in by the long connection.

The service gives an address for one connection, and sends an event again that is not answered within three seconds: so
each is answered as soon as it is on disk. A press is not sent again; its person sees that it failed. There is no
position, as Lark keeps what was not answered. Several connections of one app share its events, so there is one only.
"""

import ssl
from dataclasses import replace
from functools import partial
from urllib.parse import parse_qs, urlsplit

from agent.attention.channels.channel import Incoming, Received, SentFile
from agent.attention.channels.http import untrusted
from agent.attention.channels.items import read_items
from agent.attention.channels.lark import Lark
from agent.attention.channels.lark_connection import (
    ConnectionLost,
    ConnectionPace,
    ConnectionRefused,
    Event,
    LongConnection,
    connect,
    pace_of,
)
from agent.attention.channels.lark_events import parse_event, quoted_text
from agent.clock import Clock
from agent.errors import AgentError, Interrupted, Permanent, Retryable, UserError
from agent.llm.messages import Cancelled, mapping, never, number, text
from agent.texts import Sentence

WAIT = 25.0
"""The longest wait for an event, in seconds."""
_BUSY = frozenset({1, 1000040343})
"""The codes for a service that is out of order."""
_TOO_MANY = 1000040350
"""The code for too many connections of one app."""


class LarkIn:
    """The way in; `bot` is its own, as one thread at a time uses it."""

    name = "lark"

    def __init__(self, bot: Lark, clock: Clock, wait: float = WAIT) -> None:
        self._bot, self._clock, self._wait = bot, clock, wait
        self._connection: LongConnection | None = None
        self._pace = ConnectionPace()
        self._own_id = ""
        self._is_closed = False

    @property
    def owner(self) -> str:
        """The person's `open_id`."""
        return self._bot.owner

    def receive(self, position: str, cancelled: Cancelled) -> Received:
        """The messages since the last call. Raises as `Channel.send` does; the next call connects anew."""

        def is_over() -> bool:
            return self._is_closed or cancelled()

        try:
            connection = self._opened(is_over)
            events = connection.events(self._wait, is_over)
            self._pace = connection.pace
            read = read_items(events, lambda each: self._message(each.payload, is_over), lambda each: each.payload)
        except ConnectionLost as error:
            self._drop()
            if is_over():
                raise Interrupted("the call was cancelled") from error
            raise Retryable(
                "the long connection to Lark was lost", delay=self._pace.after_loss(), hint="it is opened again"
            ) from error
        except AgentError:
            self._drop()
            raise
        if is_over():  # the service sends again what was not answered
            self._drop()
            raise Interrupted("the call was cancelled")
        return Received(read.messages, "", partial(self._confirm, connection, events), read.unread)

    def reread(self, data: bytes) -> Incoming | None:
        """The message in an event that could not be read."""
        return self._message(data, never)

    def fetch(self, file: SentFile, most: int, cancelled: Cancelled) -> bytes:
        """The bytes of a file that came with a message."""
        return self._bot.resource(file, most, cancelled)

    def close(self) -> None:
        """End the connection for good."""
        self._is_closed = True
        self._drop()

    def _confirm(self, connection: LongConnection, events: list[Event]) -> None:
        try:
            connection.confirm(events)
        except ConnectionLost:
            self._drop()  # the service sends them again, and they are known then

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _message(self, payload: bytes, cancelled: Cancelled) -> Incoming | None:
        message = parse_event(payload, lambda: self._own(cancelled))
        if message is None or not message.group or message.is_overheard or not message.answers:
            return message
        quoted = quoted_text(self._bot.message(message.answers, cancelled), self._bot.app_id)
        return replace(message, foreign="\n\n".join(filter(None, (message.foreign, quoted))))

    def _own(self, cancelled: Cancelled) -> str:
        """The bot's own `open_id`, asked for once."""
        self._own_id = self._own_id or self._bot.own_id(cancelled)
        return self._own_id

    def _opened(self, cancelled: Cancelled) -> LongConnection:
        """The connection, which is opened if there is none."""
        if self._connection is None:
            url = self._address(cancelled)
            service = parse_qs(urlsplit(url).query).get("service_id", [""])[0]
            try:
                socket = connect(url, self._bot.service.timeout, cancelled)
            except ConnectionRefused as error:
                raise self._refusal(error) from None
            except ssl.SSLCertVerificationError as error:
                raise untrusted(urlsplit(url).netloc, error.verify_message) from None
            number_of = int(service) if service.isascii() and service.isdigit() else 0
            self._connection = LongConnection(socket, number_of, self._pace, self._clock)
        return self._connection

    def _address(self, cancelled: Cancelled) -> str:
        """The address for one connection, with a key; raises what its answer says."""
        document = {"AppID": self._bot.app_id, "AppSecret": self._bot.app_secret}
        answer = self._bot.post("callback/ws/endpoint", document, cancelled)
        reply = answer.document
        if "code" not in reply:
            url = self._bot.base_url
            raise self._bot.service.not_understood(url) if answer.is_success else self._bot.service.refusal(url, answer)
        if reply["code"] != 0 or not answer.is_success:
            code, is_down = number(reply["code"]), answer.status == 429 or answer.status >= 500
            raise self._not_opened(code, text(reply.get("msg")), code in _BUSY or is_down, answer.wait)
        data = mapping(reply.get("data"))
        config = mapping(data.get("ClientConfig"))
        self._pace = pace_of(config) if config else self._pace
        url = text(data.get("URL"))
        schemes = ("wss",) if self._bot.base_url.startswith("https:") else ("wss", "ws")
        if urlsplit(url).scheme not in schemes:
            raise self._bot.service.not_understood(self._bot.base_url)
        return url

    def _refusal(self, refused: ConnectionRefused) -> AgentError:
        """The error for a connection that the service does not open; its reason is in the headers."""
        reason = refused.headers.get("handshake-msg", "")
        codes = [refused.headers.get(name, "") for name in ("handshake-autherrcode", "handshake-status")]
        code = next((int(each) for each in codes if each.isascii() and each.isdigit()), refused.status)
        return self._not_opened(code, reason, code not in (_TOO_MANY, 403), 0.0)

    def _not_opened(self, code: int, reason: str, may_pass: bool, wait: float) -> AgentError:
        words = Sentence("{code} {msg}", code=code, msg=self._bot.service.clean(reason))
        if may_pass:
            delay = max(wait, self._pace.interval)
            return Retryable("Lark is out of order: {words}", delay=delay, hint="try again later", words=words)
        if code == _TOO_MANY:
            hint = "end the other programs that use this app: it has 50 connections at most"
            return Permanent("Lark opens no more connections: {words}", hint=hint, words=words)
        hint = Sentence(
            "check {id} and {secret}, and that the app is one of your own organisation",
            id="channels.lark.app_id",
            secret=self._bot.service.key,
        )
        return UserError("Lark does not open the long connection: {words}", hint=hint, words=words)
