"""What the person answers by e-mail, read by IMAP; nothing there is changed, not even what counts as read.

Anybody can write any sender into a mail. So a mail counts as the owner's only if it also names one of our own mails in
its References, with the token that only their owner has (`mail_token`). Every other mail is a guest's.
"""

import imaplib
import re
import socket
import ssl
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default

from agent.attention.channels.channel import Incoming, Received
from agent.attention.channels.http import untrusted
from agent.attention.channels.mail import TIMEOUT, is_this_machine
from agent.attention.channels.mail_text import written_text
from agent.attention.channels.mail_token import ReplyToken
from agent.attention.channels.waiting import awaited
from agent.clock import Clock
from agent.config.mail_settings import MailSettings
from agent.errors import AgentError, Permanent, Retryable, UserError
from agent.llm.failures import clean_message
from agent.llm.provider import Cancelled
from agent.llm.retry import pause

WAIT = 30.0
"""The seconds between two looks into an empty mailbox."""
_TLS_PORT = 993
_MOST_AT_ONCE = 20
_MOST_BYTES = 400_000
"""The bytes that are read of one mail: its text stands before what is attached."""
_POSITION = re.compile(r"(\d+):(\d+)", re.ASCII)


@dataclass(frozen=True, slots=True)
class MailIn:
    """The way in; `wait`: seconds after a look at which nothing was new."""

    settings: MailSettings
    password: str
    token: ReplyToken
    clock: Clock
    timeout: float = TIMEOUT
    wait: float = WAIT
    name: str = "mail"

    @property
    def owner(self) -> str:
        """The person's address, which a sender is only with a proof."""
        return self.settings.to.lower()

    @property
    def place(self) -> str:
        """The server for messages."""
        return f"{self.settings.imap_host}:{self.settings.imap_port or _TLS_PORT}"

    def receive(self, position: str, cancelled: Cancelled) -> Received:
        """The mails since a position, which is the mailbox's validity and the last number there."""
        visit = _Visit(self)
        received = awaited(lambda: visit.look(position), cancelled, visit.hang_up)
        if not received.messages and received.position == position:
            pause(self.wait, self.clock, cancelled)
        return received

    def close(self) -> None:
        """Nothing: each look has a connection of its own."""


class _Visit:
    """One look into the mailbox."""

    def __init__(self, channel: MailIn) -> None:
        self._channel = channel
        self._imap: imaplib.IMAP4 | None = None

    def hang_up(self) -> None:
        """Shut the connection, which wakes the thread that reads from it."""
        if self._imap is not None:
            with suppress(OSError):
                socket.socket.shutdown(self._imap.socket(), socket.SHUT_RDWR)

    def look(self, position: str) -> Received:
        """What is new; raises `Retryable`, `Permanent` and `UserError`."""
        channel = self._channel
        try:
            self._imap = imap = _connect(channel)
            self._log_in(imap)
            return self._look(imap, position)
        except ssl.SSLCertVerificationError as error:
            raise untrusted(channel.place, error.verify_message) from None
        except (imaplib.IMAP4.abort, OSError) as error:
            raise Retryable(
                "{place} cannot be reached: {why}",
                delay=60.0,
                hint="check channels.mail.imap_host and channels.mail.imap_port, and your network",
                place=channel.place,
                why=self._clean(str(error)),
            ) from None
        except imaplib.IMAP4.error as error:
            raise self._not_read(str(error)) from None
        finally:
            if self._imap is not None:
                with suppress(OSError, imaplib.IMAP4.error):
                    self._imap.logout()
                with suppress(OSError):
                    self._imap.shutdown()

    def _log_in(self, imap: imaplib.IMAP4) -> None:
        channel = self._channel
        try:
            imap.login(channel.settings.user or channel.settings.to, channel.password)
        except imaplib.IMAP4.abort:
            raise
        except (imaplib.IMAP4.error, UnicodeEncodeError) as error:
            raise UserError(
                "{place} refuses the login: {why}",
                hint="check channels.mail.user and channels.mail.password; "
                "many services want a password for one program",
                place=channel.place,
                why=self._clean(str(error)),
            ) from None

    def _look(self, imap: imaplib.IMAP4, position: str) -> Received:
        kind, answer = imap.select("INBOX", readonly=True)
        if kind != "OK":
            raise self._not_read(_words(answer))
        validity, following = _number(imap.response("UIDVALIDITY")[1]), _number(imap.response("UIDNEXT")[1])
        found = _POSITION.fullmatch(position)
        if found is None or int(found[1]) != validity:  # the first look, or the server has numbered everything anew
            return Received((), f"{validity}:{max(following - 1, 0)}")
        last = int(found[2])
        kind, answer = imap.uid("SEARCH", f"UID {last + 1}:*")
        if kind != "OK":
            raise self._not_read(_words(answer))
        numbers = sorted(number for each in (answer[0] or b"").split() if (number := int(each)) > last)
        taken = numbers[:_MOST_AT_ONCE]
        messages = tuple(message for number in taken for message in self._fetched(imap, validity, number))
        return Received(messages, f"{validity}:{taken[-1] if taken else last}")

    def _fetched(self, imap: imaplib.IMAP4, validity: int, number: int) -> Iterator[Incoming]:
        kind, answer = imap.uid("FETCH", str(number), f"(INTERNALDATE BODY.PEEK[]<0.{_MOST_BYTES}>)")
        if kind != "OK":
            raise self._not_read(_words(answer))
        for each in answer:
            if isinstance(each, tuple) and len(each) == 2:
                data = message_from_bytes(each[1], policy=default)
                assert isinstance(data, EmailMessage)
                incoming = incoming_mail(data, self._channel, f"{validity}:{number}", self._at(each[0]))
                if incoming is not None:
                    yield incoming

    def _at(self, head: bytes) -> datetime:
        when = imaplib.Internaldate2tuple(head)
        return datetime(*when[:6]).astimezone() if when else self._channel.clock.now()

    def _not_read(self, words: str) -> AgentError:
        return Permanent(
            "{place} does not show the mailbox: {why}",
            hint="check channels.mail.imap_host: the mailbox that is read is INBOX",
            place=self._channel.place,
            why=self._clean(words),
        )

    def _clean(self, words: str) -> str:
        return clean_message(words, self._channel.password)


def incoming_mail(mail: EmailMessage, channel: MailIn, number: str, at: datetime) -> Incoming | None:
    """A mail as a message; None for what a machine has sent, or nobody. Its text is empty if it has none."""
    senders = _addresses(mail, "From")
    if len(senders) != 1 or _is_automatic(mail):
        return None
    proof = channel.token.proved(f"{_header(mail, 'References')} {_header(mail, 'In-Reply-To')}")
    is_owner = senders[0] == channel.owner and bool(proof)
    sender = senders[0] if is_owner else f"unproved:{senders[0]}"
    readers = {*_addresses(mail, "To"), *_addresses(mail, "Cc")} - {channel.settings.sender.lower(), channel.owner}
    return Incoming(number, sender, senders[0], written_text(mail), at, group=bool(readers), answers=proof)


def _is_automatic(mail: EmailMessage) -> bool:
    """True for the answers of machines, such as that somebody is away: to answer them would never end."""
    kind = _header(mail, "Auto-Submitted").lower()
    bulk = _header(mail, "Precedence").lower() in ("bulk", "junk", "list", "auto_reply")
    return bulk or (bool(kind) and kind != "no") or "X-Autoreply" in mail or "X-Auto-Response-Suppress" in mail


def _header(mail: EmailMessage, name: str) -> str:
    try:
        return str(mail.get(name, "")).strip()
    except (ValueError, IndexError, AttributeError, LookupError):  # the standard library stumbles over some headers
        return ""


def _addresses(mail: EmailMessage, name: str) -> list[str]:
    """The addresses of a header in small letters."""
    try:
        return [each.addr_spec.lower() for header in mail.get_all(name, ()) for each in header.addresses]
    except (ValueError, IndexError, AttributeError, LookupError):
        return []


def _connect(channel: MailIn) -> imaplib.IMAP4:
    host, port = channel.settings.imap_host, channel.settings.imap_port or _TLS_PORT
    if port != _TLS_PORT and is_this_machine(host):
        return imaplib.IMAP4(host, port, timeout=channel.timeout)
    return imaplib.IMAP4_SSL(host, port, ssl_context=ssl.create_default_context(), timeout=channel.timeout)


def _number(answer: list[bytes | None] | None) -> int:
    found = answer[-1] if answer else None
    return int(found) if found and found.isdigit() else 0


def _words(answer: Sequence[object]) -> str:
    first = answer[0] if answer else b""
    return first.decode("utf-8", "replace") if isinstance(first, bytes) else ""
