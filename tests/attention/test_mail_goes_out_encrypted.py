"""A mail leaves this machine encrypted, unless its person says otherwise; nothing can be slipped into its headers."""

from dataclasses import replace

import pytest

from agent.attention.channels.channel import Choice, Message
from agent.attention.channels.mail import Mail
from agent.attention.channels.mail_security import imap_port_of, imap_security_of, port_of, security_of
from agent.attention.channels.mail_token import ReplyToken
from agent.config.channel_settings import MailSettings
from agent.errors import Permanent
from agent.llm.messages import never
from tests.attention.rigs.mail import PASSWORD, SETTINGS, post_office
from tests.fakes import FakeClock

TOKEN = ReplyToken(b"k" * 32)


@pytest.mark.parametrize(
    ("changes", "security", "port"),
    [
        ({"host": "smtp.example.org"}, "starttls", 587),
        ({"host": "smtp.example.org", "port": 25}, "starttls", 25),
        ({"host": "smtp.example.org", "port": 465}, "tls", 465),
        ({"host": "smtp.example.org", "security": "tls"}, "tls", 465),
        ({"host": "smtp.example.org", "security": "none", "port": 25}, "none", 25),
        ({"host": "127.0.0.1", "port": 1025}, "none", 1025),
        ({"host": "::1", "port": 1025}, "none", 1025),
        ({"host": "localhost", "port": 465}, "tls", 465),
        ({"host": "127.0.0.1.example.org", "port": 1025}, "starttls", 1025),
    ],
)
def test_only_this_machine_is_spoken_to_in_the_clear(changes: dict[str, object], security: str, port: int) -> None:
    settings: MailSettings = replace(SETTINGS, **changes)  # type: ignore[arg-type]
    assert (security_of(settings), port_of(settings)) == (security, port)


@pytest.mark.parametrize(
    ("changes", "security", "port"),
    [
        ({"imap_host": "imap.example.org"}, "tls", 993),
        ({"imap_host": "imap.example.org", "imap_port": 143}, "starttls", 143),
        ({"imap_host": "imap.example.org", "imap_security": "starttls"}, "starttls", 143),
        ({"imap_host": "imap.example.org", "imap_port": 1143}, "tls", 1143),
        ({"imap_host": "127.0.0.1", "imap_port": 1143}, "none", 1143),
        ({"imap_host": "127.0.0.1"}, "tls", 993),
        ({"imap_host": "127.0.0.1", "imap_port": 1143, "imap_security": "starttls"}, "starttls", 1143),
    ],
)
def test_only_this_machine_is_read_in_the_clear(changes: dict[str, object], security: str, port: int) -> None:
    settings: MailSettings = replace(SETTINGS, **changes)  # type: ignore[arg-type]
    assert (imap_security_of(settings), imap_port_of(settings)) == (security, port)


def test_a_server_without_encryption_gets_neither_password_nor_mail() -> None:
    with post_office() as (office, port):
        channel = Mail(replace(SETTINGS, port=port, security="starttls"), PASSWORD, TOKEN, FakeClock().now, "en", 2.0)
        with pytest.raises(Permanent) as caught:
            channel.send(Message("1", "A title"), never)
    assert "channels.mail.security" in caught.value.hint
    assert (office.calls, office.mails) == (0, [])


def test_a_title_cannot_add_a_header() -> None:
    with post_office() as (office, port):
        channel = Mail(replace(SETTINGS, port=port), PASSWORD, TOKEN, FakeClock().now, "en", 2.0)
        title = "Hello\r\nBcc: mallory@evil.example\r\n\r\nx"
        channel.send(Message("1", title, answers="<a@b>\r\nBcc: m@e.org"), never)
    [mail] = office.mails
    assert mail["Bcc"] is None and mail["In-Reply-To"] is None
    assert mail["Subject"].startswith("Hello Bcc: mallory")


def test_a_notice_without_lines_says_in_its_body_what_it_is_about() -> None:
    with post_office() as (office, port):
        channel = Mail(replace(SETTINGS, port=port), PASSWORD, TOKEN, FakeClock().now, "en", 2.0)
        channel.send(Message("1", "The parcel has come"), never)
        channel.send(Message("2", "May it?", "", (Choice("Yes", "yes 7K2"),)), never)
    parcel, asked = (mail.get_content().strip() for mail in office.mails)
    assert parcel == "The parcel has come"
    assert asked.splitlines()[:2] == ["May it?", ""] and "yes 7K2" in asked


def test_how_to_reply_is_said_once() -> None:
    choices = (Choice("green", "7K2 1"), Choice("black", "7K2 2"))
    with post_office() as (office, port):
        settings = replace(SETTINGS, port=port, imap_host="imap.example.org")
        channel = Mail(settings, PASSWORD, TOKEN, FakeClock().now, "en", 2.0)
        channel.send(Message("1", "", "Which?\n1. green\n2. black\n\nReply 7K2 and a number", choices), never)
        channel.send(Message("2", "Which?", "Take 7 or 2", choices), never)
    said, unsaid = (mail.get_content() for mail in office.mails)
    assert said.count("7K2") == 1
    assert "7K2 1 (green)" in unsaid


def test_an_answer_has_a_subject_and_names_what_it_answers() -> None:
    with post_office() as (office, port):
        channel = Mail(replace(SETTINGS, port=port), PASSWORD, TOKEN, FakeClock().now, "en", 2.0)
        channel.send(Message("1", "", "在图书馆。\nIn the library.", answers="<q@example.org> 0123456789abcdef"), never)
    [mail] = office.mails
    assert (mail["In-Reply-To"], mail["Auto-Submitted"]) == ("<q@example.org>", "auto-generated")
    assert mail["References"] == "<q@example.org>"
    assert mail["Subject"].startswith("在图书馆")
    assert "In the library." in mail.get_content()
