"""What the person writes by e-mail, read by IMAP; nothing there is changed, not even what counts as read.

Where the server tells of new mail by itself (IDLE, RFC 2177), it is heard within a second; else the mailbox is looked
at now and then. `mail_reading` says whose a mail is.
"""

import imaplib
import re
import socket
import ssl
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import field
from datetime import UTC, datetime
from functools import partial

from agent.attention.channels.channel import Incoming, Received, SentFile, UnreadItem, too_large
from agent.attention.channels.items import read_items, reason_of
from agent.attention.channels.mail import TIMEOUT
from agent.attention.channels.mail_idle import Idle
from agent.attention.channels.mail_reading import MailReader, nothing_known
from agent.attention.channels.mail_security import (
    encryption_failure,
    imap_port_of,
    imap_security_of,
    no_encryption,
)
from agent.attention.channels.mail_source import file_bytes
from agent.attention.channels.mail_token import ReplyToken
from agent.attention.channels.sent_words import SentWords
from agent.attention.channels.waiting import awaited
from agent.clock import Clock
from agent.config.channel_settings import MailSettings
from agent.dataclass import dataclass
from agent.errors import AgentError, Permanent, Retryable, UserError
from agent.llm.failures import clean_message
from agent.llm.messages import Cancelled
from agent.llm.retry import pause
from agent.texts import Sentence

WAIT = 30.0
"""The seconds between two looks into an empty mailbox whose server does not tell of new mail."""
IDLE = 300.0
"""The seconds for which a server is listened to before it is asked anew: the standard allows 29 minutes, but many
routers forget a silent connection earlier."""
_AGAIN = 5.0
"""The shortest pause in seconds after a failure that may pass."""
_MOST_AT_ONCE = 20
_MOST_BYTES = 400_000
"""The bytes that are read of one mail: its text stands before what is attached."""
_MOST_WHOLE = 40_000_000
"""The bytes of a mail of the owner's that are looked through for the names of its files."""
_POSITION = re.compile(r"(\d+):(\d+)(?::(\d+))?", re.ASCII)
_PASSING = re.compile(r"\[(?:UNAVAILABLE|SERVERBUG|INUSE|LIMIT)\b", re.IGNORECASE)
"""The codes of RFC 5530 for what the server may get over."""
_ITEM = rb'(?:UID \d+|INTERNALDATE "[^"]*"|FLAGS \([^()]*\)|MODSEQ \(\d+\))'
_END = re.compile(rb"(?: " + _ITEM + rb")*\)", re.ASCII)
"""What may follow the bytes of a mail; anything else, and the server has counted them wrong."""
_UID = re.compile(rb"\bUID (\d+)", re.ASCII)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_DAY = 86_400
_LATEST = 4_102_444_800
"""The beginning of the year 2100, in seconds since 1970: no mail came later."""
_MOST_DIGITS = 20
_MOST_LOOKS = 3
"""The looks at which the server may fail to give one mail, before the next ones are read without it."""
_MIXED_UP = Sentence("its answer is not the one to what it was asked")


@dataclass(frozen=True, slots=True)
class MailIn:
    """The way in; `wait`: seconds after a look at which nothing was new; `idle`: seconds for which a server is listened
    to that tells of new mail."""

    settings: MailSettings
    password: str
    token: ReplyToken
    clock: Clock
    timeout: float = TIMEOUT
    wait: float = WAIT
    idle: float = IDLE
    sent: Callable[[str], SentWords] = nothing_known
    name: str = "mail"
    failed: dict[int, int] = field(default_factory=dict)
    """The looks at which the server did not give a mail, by its number."""

    @property
    def owner(self) -> str:
        """The person's address, which a sender is only with a proof."""
        return self.settings.to.lower()

    @property
    def place(self) -> str:
        """The server for messages."""
        return f"{self.settings.imap_host}:{imap_port_of(self.settings)}"

    def receive(self, position: str, cancelled: Cancelled) -> Received:
        """The mails since a position: the mailbox's validity, the last number there, and when that mail came.

        A mailbox that was numbered anew is read from that time on; what was taken in before has the same ids again.
        """
        visit = _Visit(self)
        received = awaited(lambda: visit.look(position), cancelled, visit.hang_up)
        if received.position == position and not visit.listened:
            pause(self.wait, self.clock, cancelled)
        return received

    def reread(self, data: bytes) -> Incoming | None:
        """The message in a mail that could not be read; raises `ValueError` for one that the server did not give."""
        if _POSITION.fullmatch(data.decode("ascii", "replace")):
            raise ValueError("the server did not give this mail: look at it in your mail program")
        return self.reader.read(data, self.clock.now())

    def fetch(self, file: SentFile, most: int, cancelled: Cancelled) -> bytes:
        """The bytes of a file of a mail."""
        visit = _Visit(self)
        return awaited(lambda: visit.fetch(file, most), cancelled, visit.hang_up)

    def close(self) -> None:
        """Nothing: each look has a connection of its own."""

    @property
    def reader(self) -> MailReader:
        """Reads each mail."""
        return MailReader(self.settings, self.token, self.sent)


class _Visit:
    """One connection to the mailbox; `listened`: the server would have told of new mail."""

    def __init__(self, channel: MailIn) -> None:
        self._channel = channel
        self._imap: imaplib.IMAP4 | None = None
        self._reader = channel.reader
        self.listened = False

    def hang_up(self) -> None:
        """Shut the connection, which wakes the thread that reads from it."""
        if self._imap is not None:
            with suppress(OSError):
                socket.socket.shutdown(self._imap.socket(), socket.SHUT_RDWR)

    def look(self, position: str) -> Received:
        """The new mails; raises `Retryable`, `Permanent` and `UserError`."""
        with self._connected() as imap:
            return self._look(imap, position)

    def fetch(self, file: SentFile, most: int) -> bytes:
        """The bytes of a file; raises as `look` does, also for one that is there no more, or is too large."""
        validity, number, section, encoding = file.reference.split(":", 3)
        with self._connected() as imap:
            self._answer(imap.select("INBOX", readonly=True))
            same = _number(imap.response("UIDVALIDITY")[1]) == int(validity)
            packed = most * 7 // 5 + 1_000  # of base64, with its line ends
            sent, _ = self._fetched(imap, int(number), f"BODY.PEEK[{section}]<0.{packed}>") if same else (b"", None)
        if not sent:
            hint = "look for it in your mail program"
            raise UserError("{name} is not in the mailbox any more", hint=hint, name=file.name)
        data = file_bytes(sent, encoding)
        if len(data) > most or len(sent) >= packed:
            raise too_large(file.name, most)
        return data

    @contextmanager
    def _connected(self) -> Iterator[imaplib.IMAP4]:
        """A connection that is signed in, for a block."""
        channel = self._channel
        try:
            self._imap = imap = _connect(channel)
            if imap_security_of(channel.settings) == "starttls":
                self._encrypt(imap)
            self._log_in(imap)
            yield imap
        except ssl.SSLError as error:
            raise encryption_failure(error, channel.place, "channels.mail.imap_host") from None
        except (imaplib.IMAP4.abort, OSError) as error:
            raise self._passing(self._clean(str(error))) from None
        except imaplib.IMAP4.error as error:
            raise self._not_read(str(error)) from None
        finally:
            if self._imap is not None:
                with suppress(OSError, imaplib.IMAP4.error):
                    self._imap.logout()
                with suppress(OSError):
                    self._imap.shutdown()

    def _encrypt(self, imap: imaplib.IMAP4) -> None:
        """Raises `Permanent` if the server does not offer it, or refuses: nothing was said to it then."""
        if "STARTTLS" not in imap.capabilities or imap.state != "NONAUTH":
            raise no_encryption(self._channel.place, "channels.mail.imap_security")
        try:
            imap.starttls(ssl.create_default_context())
        except imaplib.IMAP4.abort:
            raise
        except imaplib.IMAP4.error:
            raise no_encryption(self._channel.place, "channels.mail.imap_security") from None

    def _log_in(self, imap: imaplib.IMAP4) -> None:
        channel = self._channel
        try:
            imap.login(channel.settings.user or channel.settings.to, channel.password)
        except imaplib.IMAP4.abort:
            raise
        except (imaplib.IMAP4.error, UnicodeEncodeError) as error:
            why = self._clean(str(error))
            if _PASSING.search(why):
                raise self._passing(why) from None
            raise UserError(
                "{place} refuses the login: {why}",
                hint="check channels.mail.user and channels.mail.password; "
                "many services want a password for one program",
                place=channel.place,
                why=why,
            ) from None

    def _look(self, imap: imaplib.IMAP4, position: str) -> Received:
        """The new mails; if there are none, and the server announces new mail, those that come in a while."""
        idle = Idle(imap, self._channel.clock, self._channel.idle, self._channel.timeout)
        self._answer(imap.select("INBOX", readonly=True))
        validity, following = _number(imap.response("UIDVALIDITY")[1]), _number(imap.response("UIDNEXT")[1])
        imap.response("EXISTS")  # from now on this tells of new mail
        found = _POSITION.fullmatch(position)
        if found is None:
            return Received((), self._end(imap, validity, following - 1))
        if int(found[1]) != validity and found[3] is None:  # a position without a time, of an earlier version
            return Received((), self._end(imap, validity, following - 1))
        if int(found[1]) != validity:
            return self._numbered_anew(imap, validity, following - 1, int(found[3]))
        while True:
            received = self._since(imap, validity, int(found[2]), int(found[3] or 0))
            if received.position != position or not idle.is_offered:
                return received
            self.listened = True
            if not idle.has_news():
                return received

    def _end(self, imap: imaplib.IMAP4, validity: int, last: int) -> str:
        """The position after all mails that are there: the time is that of the last one."""
        numbers = self._found(imap, f"UID {max(last, 1)}:*")
        if not numbers:
            return f"{validity}:{max(last, 0)}:0"
        try:
            _, at = self._fetched(imap, numbers[-1], "INTERNALDATE")
        except AgentError:  # what is wrong with an old mail is not asked
            at = self._channel.clock.now()
        return f"{validity}:{max(last, numbers[-1])}:{self._seconds(at) + 1}"

    def _since(self, imap: imaplib.IMAP4, validity: int, last: int, seconds: int) -> Received:
        """The next mails after a number. `seconds`: when the latest mail came, since 1970."""
        numbers = [number for number in self._found(imap, f"UID {last + 1}:*") if number > last][:_MOST_AT_ONCE]
        return self._taken(imap, validity, numbers, last, seconds)

    def _numbered_anew(self, imap: imaplib.IMAP4, validity: int, last: int, seconds: int) -> Received:
        """All mails since a time; 0 for all that there are."""
        day = datetime.fromtimestamp(max(min(seconds, _LATEST) - _DAY, 0), UTC)
        numbers = self._found(imap, f"SINCE {day.day}-{_MONTHS[day.month - 1]}-{day.year}")
        return self._taken(imap, validity, numbers, max(last, 0), seconds, since=seconds)

    def _taken(
        self, imap: imaplib.IMAP4, validity: int, numbers: Sequence[int], last: int, seconds: int, since: int = 0
    ) -> Received:
        messages: list[Incoming] = []
        unread: list[UnreadItem] = []
        for number, *next_numbers in (numbers[at : at + 2] for at in range(len(numbers))):
            self._raise_if_all_fail(imap, number, next_numbers)
            try:
                data, at = self._body(imap, number)
            except (AgentError, OSError, imaplib.IMAP4.error) as error:
                if messages or unread:  # they are taken in first; the next look meets the error again
                    break
                if not self._is_abandoned(number, next_numbers):
                    raise
                unread.append(UnreadItem(f"{validity}:{number}".encode(), reason_of(error)))
                last = max(last, number)
                continue
            self._channel.failed.pop(number, None)
            came = self._seconds(at)
            if came < since:
                continue
            last, seconds = max(last, number), max(seconds, came)
            read = partial(self._reader.read, at=at, place=f"{validity}:{number}")
            found = read_items([data] if data else [], read, bytes)
            if len(data) >= _MOST_BYTES and any(each.files for each in found.messages):  # more files may stand below
                data, _ = self._fetched(imap, number, f"INTERNALDATE BODY.PEEK[]<0.{_MOST_WHOLE}>")
                found = read_items([data], read, bytes)
            messages += found.messages
            unread += found.unread
        return Received(tuple(messages), f"{validity}:{last}:{seconds}", unread=tuple(unread))

    def _raise_if_all_fail(self, imap: imaplib.IMAP4, number: int, next_numbers: Sequence[int]) -> None:
        """Before a mail that was not given at an earlier look, ask for the one behind it: where that fails, too, the
        fault is the server's."""
        if number in self._channel.failed:
            for each in next_numbers:
                self._body(imap, each)

    def _body(self, imap: imaplib.IMAP4, number: int) -> tuple[bytes, datetime]:
        return self._fetched(imap, number, f"INTERNALDATE BODY.PEEK[]<0.{_MOST_BYTES}>")

    def _is_abandoned(self, number: int, next_numbers: Sequence[int]) -> bool:
        """Count a mail that the server does not give; True if that was so at several looks, and others wait behind."""
        failed = self._channel.failed
        failed[number] = failed.get(number, 0) + 1
        return bool(next_numbers) and failed[number] >= _MOST_LOOKS

    @staticmethod
    def _seconds(at: datetime) -> int:
        """The time in seconds since 1970, within bounds: the server may say any."""
        try:
            return min(max(int(at.timestamp()), 0), _LATEST)
        except (ValueError, OverflowError, OSError):
            return 0

    def _found(self, imap: imaplib.IMAP4, what: str) -> list[int]:
        """The numbers of mails, in order, each once."""
        answers = self._answer(imap.uid("SEARCH", what))
        numbers = [number for each in answers if isinstance(each, bytes) for number in each.split()]
        if not all(number.isdigit() and len(number) < _MOST_DIGITS for number in numbers):
            raise self._passing(_MIXED_UP)
        return sorted({int(number) for number in numbers})

    def _fetched(self, imap: imaplib.IMAP4, number: int, what: str) -> tuple[bytes, datetime]:
        """The bytes of a mail, and when it came; no bytes if it is gone. Raises `Retryable` if it cannot be right."""
        response = self._answer(imap.uid("FETCH", str(number), f"({what})"))
        data, about = b"", b""
        for each, after in zip(response, (*response[1:], b""), strict=True):
            if isinstance(each, tuple) and len(each) == 2:
                if not isinstance(after, bytes) or _END.fullmatch(after) is None or data:
                    raise self._passing(_MIXED_UP)
                about, data = each[0] + after, each[1]
            elif isinstance(each, bytes) and not about:
                about = each if b"INTERNALDATE" in each else b""
        found = _UID.search(about)
        if data and (found is None or int(found[1]) != number):
            raise self._passing(_MIXED_UP)
        return data, self._moment(about)

    def _moment(self, about: bytes) -> datetime:
        """When a mail came, as the server says; now, if that is no time."""
        try:
            when = imaplib.Internaldate2tuple(about)
            return datetime(*when[:6]).astimezone() if when else self._channel.clock.now()
        except (ValueError, OverflowError, OSError):
            return self._channel.clock.now()

    def _answer(self, answered: tuple[str, Sequence[object]]) -> Sequence[object]:
        """The server's answer to a command that it carries out; raises `Retryable` and `Permanent`."""
        kind, data = answered
        if kind == "OK":
            return data
        first = data[0] if data else b""
        raise self._not_read(first.decode("utf-8", "replace") if isinstance(first, bytes) else "")

    def _passing(self, why: str | Sentence) -> Retryable:
        return Retryable(
            "{place} cannot be reached: {why}",
            delay=_AGAIN,
            hint="check channels.mail.imap_host and channels.mail.imap_port, and your network",
            place=self._channel.place,
            why=why,
        )

    def _not_read(self, words: str) -> AgentError:
        why = self._clean(words)
        if _PASSING.search(why):
            return self._passing(why)
        return Permanent(
            "{place} does not show the mailbox: {why}",
            hint="check channels.mail.imap_host: the mailbox that is read is INBOX",
            place=self._channel.place,
            why=why,
        )

    def _clean(self, words: str) -> str:
        return clean_message(words, self._channel.password)


def _connect(channel: MailIn) -> imaplib.IMAP4:
    host, port = channel.settings.imap_host, imap_port_of(channel.settings)
    if imap_security_of(channel.settings) == "tls":
        return imaplib.IMAP4_SSL(host, port, ssl_context=ssl.create_default_context(), timeout=channel.timeout)
    return imaplib.IMAP4(host, port, timeout=channel.timeout)


def _number(answer: list[bytes | None] | None) -> int:
    found = answer[-1] if answer else None
    return int(found) if found and found.isdigit() else 0
