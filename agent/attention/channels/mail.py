"""Notices as e-mail: plain text over SMTP, to the person's own address.

The Message-ID is made of the notice's id and a token that only this vault can make, so that a reply to it proves that
its writer has the notice; `mail_in` checks that. The proof is the server's line with 250, and the Message-ID.
"""

import smtplib
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime

from agent.attention.channels.channel import Message
from agent.attention.channels.mail_security import encryption_failure, no_encryption, port_of, security_of
from agent.attention.channels.mail_token import ReplyToken, message_id
from agent.attention.channels.sent_words import keep_nothing
from agent.attention.channels.waiting import awaited
from agent.attention.channels.wording import body_of, title_of
from agent.config.channel_settings import MailSettings
from agent.dataclass import dataclass
from agent.errors import AgentError, ConfigError, PerhapsDone, Permanent, Retryable, UserError
from agent.llm.failures import clean_message
from agent.llm.messages import Cancelled
from agent.texts import Language, Sentence

TIMEOUT = 30.0
"""The longest silence of a mail server in seconds: some wait before they greet, to try senders' patience."""
_MOST = 20_000
"""The most characters of a text."""
_LINE = 60
"""The characters of a text that stand for a missing title."""
_OURSELVES = "[127.0.0.1]"
"""What we call ourselves to the server: the library would ask the network for this machine's name, which is slow, and
nobody's business."""
_BUSY = 60.0
"""The pause in seconds after a server has said that it takes nothing now."""
_LOGIN_REFUSED = frozenset({530, 534, 535, 538})


class _Refused(Exception):
    """The server's answer is not the one that goes on."""

    def __init__(self, code: int, line: bytes) -> None:
        super().__init__(code)
        self.code, self.line = code, line


@dataclass(frozen=True, slots=True)
class Mail:
    """The channel; `password` is empty for none. `note_sent` is told the Message-ID and the text of each mail before it
    is sent, so that a quotation of it is recognised."""

    settings: MailSettings
    password: str
    token: ReplyToken
    now: Callable[[], datetime]
    language: Language
    timeout: float = TIMEOUT
    note_sent: Callable[[str, str], object] = keep_nothing
    name: str = "mail"

    @property
    def place(self) -> str:
        """The server for messages."""
        return f"{self.settings.host}:{port_of(self.settings)}"

    def send(self, message: Message, cancelled: Cancelled) -> str:
        """Hand it to the server; the proof is its line, and the Message-ID."""
        if not (self.settings.host and self.settings.to):
            raise ConfigError(
                "e-mail is not configured",
                hint="vault-agent channels add mail asks for what it needs",
            )
        mail, body = self._composed(message)
        if not self.password.isascii():
            raise UserError(
                "the password at channels.mail.password has letters that mail servers do not take",
                hint="copy it again: vault-agent config set channels.mail.password --prompt",
            )
        self.note_sent(str(mail["Message-ID"]), body)
        visit = _Visit(self)
        line = awaited(lambda: visit.deliver(mail), cancelled, visit.hang_up)
        return f"{line} {mail['Message-ID']}"

    def _composed(self, message: Message) -> tuple[EmailMessage, str]:
        """The mail, and its text."""
        mail = EmailMessage(policy=SMTP)
        sender = self.settings.sender or self.settings.to
        mail["From"], mail["To"] = sender, self.settings.to
        mail["Subject"] = title_of(message) or title_of(replace(message, title=message.text[:_LINE]))
        mail["Date"] = format_datetime(self.now())
        mail["Message-ID"] = self.token.message_id(message.id, sender)
        mail["Auto-Submitted"] = "auto-generated"
        answered = message.answers.partition(" ")[0]  # the Message-ID, as `mail_reading` has put it there
        if answered and message_id(answered) == answered:
            mail["In-Reply-To"] = mail["References"] = answered
        if not message.text.strip():  # a mail is opened to be read
            message = replace(message, text=message.title)
        reads = bool(self.settings.imap_host)
        body = body_of(message, self.language, _MOST, replies=reads, elsewhere=not reads)
        mail.set_content(f"{body}\n", charset="utf-8")
        return mail, body


class _Visit:
    """One connection to the server."""

    def __init__(self, channel: Mail) -> None:
        self._channel = channel
        self._smtp: smtplib.SMTP | None = None
        self._is_given = False

    def hang_up(self) -> None:
        """Shut the connection, which wakes the thread that reads from it."""
        found = self._smtp.sock if self._smtp is not None else None
        if found is not None:
            with suppress(OSError):
                socket.socket.shutdown(found, socket.SHUT_RDWR)

    def deliver(self, mail: EmailMessage) -> str:
        """Give the mail to the server; returns its last line. Raises `Retryable`, `Permanent` and `UserError`."""
        try:
            return self._deliver(mail)
        except _Refused as error:
            raise self._refusal(error.code, error.line) from None
        except smtplib.SMTPResponseException as error:
            line = error.smtp_error
            raise self._refusal(error.smtp_code, line if isinstance(line, bytes) else line.encode()) from None
        except ssl.SSLError as error:
            raise encryption_failure(error, self._channel.place, "channels.mail.host") from None
        except smtplib.SMTPNotSupportedError:
            raise no_encryption(self._channel.place, "channels.mail.security") from None
        except TimeoutError:
            silent = Retryable(
                "{place} is silent: {why}",
                hint="check channels.mail.host and channels.mail.port",
                place=self._channel.place,
                why=Sentence("not a byte for {seconds:g} s", seconds=self._channel.timeout),
            )
            raise self._lost(silent) from None
        except (OSError, smtplib.SMTPException) as error:
            why = self._clean(str(error))
            hint = "check channels.mail.host and channels.mail.port, and your network"
            gone = Retryable("{place} cannot be reached: {why}", hint=hint, place=self._channel.place, why=why)
            raise self._lost(gone) from None
        finally:
            if self._smtp is not None:
                self._smtp.close()

    def _deliver(self, mail: EmailMessage) -> str:
        settings, channel = self._channel.settings, self._channel
        host, port, security = settings.host, port_of(settings), security_of(settings)
        context = ssl.create_default_context() if security != "none" else None  # slow to make
        smtp: smtplib.SMTP = (
            smtplib.SMTP_SSL(local_hostname=_OURSELVES, timeout=channel.timeout, context=context)
            if security == "tls"
            else smtplib.SMTP(local_hostname=_OURSELVES, timeout=channel.timeout)
        )
        self._smtp = smtp
        smtp._host = host  # type: ignore[attr-defined]  # the name that a certificate is checked against
        _expect(2, smtp.connect(host, port))
        smtp.ehlo_or_helo_if_needed()
        if security == "starttls":
            smtp.starttls(context=context)
            smtp.ehlo_or_helo_if_needed()
        if settings.user:
            smtp.login(settings.user, channel.password)
        sender = settings.sender or settings.to
        _expect(2, smtp.mail(sender))
        _expect(2, smtp.rcpt(settings.to))
        self._is_given = True
        code, line = smtp.data(mail.as_bytes())
        _expect(2, (code, line))
        with suppress(smtplib.SMTPException, OSError):
            smtp.quit()
        return f"{code} {self._clean(line.decode('utf-8', 'replace'))}"

    def _lost(self, error: Retryable) -> Retryable:
        """The error for a lost connection: once the mail has been given, it may be on its way."""
        return PerhapsDone(error.message, delay=error.delay, hint=error.hint) if self._is_given else error

    def _refusal(self, code: int, line: bytes) -> AgentError:
        place = self._channel.place
        words = self._clean(line.decode("utf-8", "replace"))
        problem = Sentence("{place} answered {status}", place=place, status=code)
        problem = Sentence("{problem}: {words}", problem=problem, words=words) if words else problem
        if code in _LOGIN_REFUSED:
            hint = "check channels.mail.user and channels.mail.password; many services want a password for one program"
            return UserError(problem, hint=hint)
        if 400 <= code < 500 or code < 0:
            return Retryable(problem, delay=_BUSY, hint="the message is sent again later")
        return Permanent(problem, hint="check channels.mail.from and channels.mail.to")

    def _clean(self, words: str) -> str:
        return clean_message(words, self._channel.password) if self._channel.password else clean_message(words, "")


def _expect(first: int, answer: tuple[int, bytes]) -> None:
    if answer[0] // 100 != first:
        raise _Refused(*answer)
