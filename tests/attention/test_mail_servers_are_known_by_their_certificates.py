"""TLS of sending and reading mail: only a server with a certificate of its name is spoken to, and never in the clear
when encryption was asked for."""

import ssl
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Literal, TypeAlias

import pytest
import trustme

from agent.attention.channels.channel import Message
from agent.attention.channels.mail import Mail
from agent.attention.channels.mail_in import MailIn
from agent.attention.channels.mail_token import ReplyToken
from agent.errors import AgentError, Permanent
from agent.llm.messages import never
from tests.attention.mailbox import PASSWORD, mailbox
from tests.attention.rigs.mail import SETTINGS, post_office
from tests.fakes import FakeClock

How: TypeAlias = Literal["tls", "starttls"]
TOKEN = ReplyToken(b"k" * 32)


class Server:
    """A server for mail in one direction: an `attempt` to use it, and whether a password or a mail has `reached` it."""

    def __init__(self, attempt: Callable[[], object], reached: Callable[[], bool]) -> None:
        self.attempt, self.reached = attempt, reached


@contextmanager
def smtp(how: How, speaks: How | None, certificate: trustme.LeafCert) -> Iterator[Server]:
    """A server that encrypts in one way, or not at all (`speaks` is None), and a channel that wants it to in a way."""
    context = _context(certificate)
    tls, starttls = context if speaks == "tls" else None, context if speaks == "starttls" else None
    with post_office(tls=tls, starttls=starttls) as (office, port):
        settings = replace(SETTINGS, host="127.0.0.1", port=port, security=how)
        office.password = PASSWORD
        channel = Mail(settings, PASSWORD, TOKEN, FakeClock().now, "en", 2.0)
        yield Server(
            lambda: channel.send(Message("1", "A title"), never), lambda: bool(office.calls or office.passwords)
        )


@contextmanager
def imap(how: How, speaks: How | None, certificate: trustme.LeafCert) -> Iterator[Server]:
    context = _context(certificate)
    with mailbox(tls=context if speaks == "tls" else None) as box:
        box.starttls = context if speaks == "starttls" else None
        settings = replace(SETTINGS, imap_host="127.0.0.1", imap_port=box.port, imap_security=how)
        channel = MailIn(settings, PASSWORD, TOKEN, FakeClock(), timeout=2.0)
        yield Server(lambda: channel.receive("", never), lambda: any(each.startswith("LOGIN") for each in box.commands))


def _context(certificate: trustme.LeafCert) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate.configure_cert(context)
    return context


@pytest.fixture
def authority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> trustme.CA:
    """The one that is trusted."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "authority.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
    return authority


both = pytest.mark.parametrize("open_server", [smtp, imap])
ways = pytest.mark.parametrize("how", ["tls", "starttls"])
OpenServer: TypeAlias = Callable[[How, How | None, trustme.LeafCert], AbstractContextManager[Server]]


def refused(server: Server) -> AgentError:
    with pytest.raises(Permanent) as caught:
        server.attempt()
    assert not server.reached()
    assert PASSWORD not in f"{caught.value.message} {caught.value.hint}"
    return caught.value


@both
@ways
def test_a_certificate_of_an_authority_that_is_trusted_passes(
    authority: trustme.CA, open_server: OpenServer, how: How
) -> None:
    with open_server(how, how, authority.issue_cert("127.0.0.1")) as server:
        server.attempt()
        assert server.reached()


@both
@ways
def test_one_of_another_authority_is_refused(authority: trustme.CA, open_server: OpenServer, how: How) -> None:
    with open_server(how, how, trustme.CA().issue_cert("127.0.0.1")) as server:
        assert "SSL_CERT_FILE" in refused(server).hint


@both
@ways
def test_one_for_another_host_is_refused(authority: trustme.CA, open_server: OpenServer, how: How) -> None:
    with open_server(how, how, authority.issue_cert("mail.example.org")) as server:
        hint = refused(server).hint
    assert "another name" in hint and ("channels.mail.host" in hint or "channels.mail.imap_host" in hint)


@both
def test_a_server_that_encrypts_later_says_so(authority: trustme.CA, open_server: OpenServer) -> None:
    with open_server("tls", "starttls", authority.issue_cert("127.0.0.1")) as server:
        assert "security starttls" in refused(server).hint


@both
@ways
def test_a_server_that_does_not_encrypt_gets_nothing(authority: trustme.CA, open_server: OpenServer, how: How) -> None:
    with open_server(how, None, authority.issue_cert("127.0.0.1")) as server:
        assert "security" in refused(server).hint


def test_a_mailbox_that_claims_we_are_logged_in_is_not_read_in_the_clear(authority: trustme.CA) -> None:
    with mailbox() as box:
        box.starttls, box.greeting = _context(authority.issue_cert("127.0.0.1")), "* PREAUTH welcome"
        settings = replace(SETTINGS, imap_host="127.0.0.1", imap_port=box.port, imap_security="starttls")
        with pytest.raises(Permanent):
            MailIn(settings, PASSWORD, TOKEN, FakeClock(), timeout=2.0).receive("", never)
        assert not [each for each in box.commands if each.split()[0] not in ("CAPABILITY", "LOGOUT")]
