"""A real mail server (aiosmtpd) on loopback that wants a login, and misbehaves when it is told to."""

import asyncio
import ssl
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

from agent.attention.channels.mail import Mail
from agent.attention.channels.mail_token import ReplyToken
from agent.clock import SystemClock
from agent.config.channel_settings import MailSettings
from tests.attention.rigs.rig import Rig, Shown
from tests.attention.servers import Fault

PASSWORD = "hush-hush-mail-1234567"
SETTINGS = MailSettings(
    on=True,
    host="127.0.0.1",
    port=0,
    sender="agent@example.org",
    to="anna@example.org",
    security="auto",
    user="agent",
    password=None,  # type: ignore[arg-type]  # the channel is given its value
    imap_host="",
    imap_port=0,
    imap_security="auto",
    verified_by="",
)


@dataclass
class PostOffice:
    """What the server does with mail: keep it, or misbehave."""

    password: str = PASSWORD
    login: bool = True
    mails: list[EmailMessage] = field(default_factory=list)
    faults: deque[Fault] = field(default_factory=deque)
    calls: int = 0
    passwords: int = 0
    """How often somebody tried to log in."""

    async def handle_MAIL(
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        self.calls += 1
        if self.login and not session.authenticated:
            return "530 5.7.0 who are you?"
        if self.faults and self.faults[0] == "busy":
            self.faults.popleft()
            return "450 4.7.1 too many mails, come again"
        envelope.mail_from = address
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        fault = self.faults.popleft() if self.faults else None
        match fault:
            case "broken":
                return "451 4.3.0 out of order"
            case "silent":
                await asyncio.sleep(30)
            case "cut" | "cut after":
                if fault == "cut after":
                    self._keep(envelope)
                assert server.transport is not None
                server.transport.close()
        if fault is None:
            self._keep(envelope)
        return "250 2.0.0 OK queued"

    def authenticate(
        self, server: SMTP, session: Session, envelope: Envelope, mechanism: str, data: object
    ) -> AuthResult:
        assert isinstance(data, LoginPassword)
        self.passwords += 1
        return AuthResult(success=data.password == self.password.encode(), handled=False)

    def _keep(self, envelope: Envelope) -> None:
        mail = message_from_bytes(envelope.original_content or b"", policy=default)
        assert isinstance(mail, EmailMessage)
        self.mails.append(mail)


@contextmanager
def post_office(
    *, login: bool = True, tls: ssl.SSLContext | None = None, starttls: ssl.SSLContext | None = None
) -> Iterator[tuple[PostOffice, int]]:
    """The server and its port; with `tls` it encrypts from the first byte, with `starttls` after the first words."""
    office = PostOffice(login=login)
    loop = asyncio.new_event_loop()

    def protocol() -> SMTP:
        return SMTP(office, loop=loop, authenticator=office.authenticate, auth_require_tls=False, tls_context=starttls)

    server = loop.run_until_complete(loop.create_server(protocol, "127.0.0.1", 0, ssl=tls))
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield office, server.sockets[0].getsockname()[1]
    finally:
        asyncio.run_coroutine_threadsafe(_close(server), loop).result(60)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(5)
        loop.close()


async def _close(server: asyncio.Server) -> None:
    """Close the server, and end what its connections wait for."""
    server.close()
    mine = asyncio.current_task()
    others = [task for task in asyncio.all_tasks() if task is not mine]
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await asyncio.sleep(0)


@dataclass
class MailRig:
    channel: Mail
    office: PostOffice
    secrets: tuple[str, ...] = (PASSWORD,)
    limit: int = 20_300
    asks_to_wait: bool = False
    tells_a_wrong_key: bool = True
    faults: frozenset[Fault] = frozenset({"busy", "broken", "silent", "cut", "cut after"})

    def shown(self) -> Sequence[Shown]:
        return [Shown(f"{mail['Subject']}\n{mail.get_content()}", (), mail["Message-ID"]) for mail in self.office.mails]

    def misbehave(self, *faults: Fault) -> None:
        self.office.faults.extend(faults)

    def change_key(self) -> None:
        self.office.password = "another-password"

    def calls(self) -> int:
        return self.office.calls

    def sent_on(self) -> int:
        return 0


@contextmanager
def mail_rig() -> Iterator[Rig]:
    with post_office() as (office, port):
        now = SystemClock().now
        yield MailRig(Mail(replace(SETTINGS, port=port), PASSWORD, ReplyToken(b"k" * 32), now, "en", 0.5), office)
