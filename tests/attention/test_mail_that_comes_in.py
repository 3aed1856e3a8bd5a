"""A reply to our mail counts as the owner's; nothing else does, and the mailbox stays as it was."""

import logging
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from email.message import EmailMessage
from email.policy import SMTP
from itertools import count
from pathlib import Path
from typing import cast

import pytest

from agent.attention.channels.channel import FileSource, Incoming
from agent.attention.channels.mail_in import MailIn
from agent.attention.channels.mail_token import ReplyToken, load_token
from agent.attention.channels.sent_words import NOTHING_SENT, SentWords, sent_words
from agent.background.incoming.queue import MessageQueue
from agent.errors import AgentError, Interrupted, Permanent, Retryable, UserError
from agent.llm.messages import never
from agent.records.database import Records
from tests.attention.mailbox import PASSWORD, Mailbox, Trouble, mailbox
from tests.attention.rigs.mail import SETTINGS
from tests.fakes import FakeClock

TOKEN = ReplyToken(b"k" * 32)
OURS = TOKEN.message_id("01HZZZZZZZ0000000000000001", "agent@example.org")


def sent(id: str) -> SentWords:
    """What we have sent in our mail."""
    return sent_words("May it?") if id == OURS else NOTHING_SENT


@dataclass
class Post:
    box: Mailbox
    channel: MailIn

    def start(self) -> str:
        return self.channel.receive("", never).position

    def arrives(self, mail: EmailMessage | bytes) -> list[Incoming]:
        """What a look finds after this mail has come."""
        position = self.start()
        self.box.put(mail if isinstance(mail, bytes) else mail.as_bytes())
        return list(self.channel.receive(position, never).messages)


@pytest.fixture
def post() -> Iterator[Post]:
    with mailbox() as box:
        settings = replace(SETTINGS, imap_host="127.0.0.1", imap_port=box.port, user="anna")
        yield Post(box, MailIn(settings, PASSWORD, TOKEN, FakeClock(), timeout=0.5, sent=sent))


def written(text: str = "yes 7K2", sender: str = "anna@example.org", **headers: str) -> EmailMessage:
    mail = EmailMessage(policy=SMTP)
    mail["From"], mail["To"], mail["Subject"] = sender, "agent@example.org", "May it?"
    mail["Message-ID"] = "<1@example.org>"
    for name, value in headers.items():
        del mail[name.replace("_", "-")]
        mail[name.replace("_", "-")] = value
    mail.set_content(text)
    return mail


def test_a_reply_to_our_mail_is_the_owners(post: Post) -> None:
    for header in ("In_Reply_To", "References"):
        [message] = post.arrives(written("好的 yes 7K2\n\n> May it?\n", **{header: f"<0@x.org> {OURS}"}))
        assert message.sender == post.channel.owner
        assert (message.text, message.answers, message.group) == ("好的 yes 7K2", OURS, False)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"In_Reply_To": "<01HZZZZZZZ0000000000000001@example.org>"},
        {"In_Reply_To": OURS.replace(OURS.split(".")[1], "a" * 26)},
        {"In_Reply_To": OURS.replace("000001", "000002")},
        {"References": ReplyToken(b"x" * 32).message_id("01HZZZZZZZ0000000000000001", "agent@example.org")},
    ],
)
def test_without_a_right_token_the_owners_name_proves_nothing(post: Post, headers: dict[str, str]) -> None:
    [message] = post.arrives(written(**headers))
    assert message.sender != post.channel.owner
    assert message.answers == ""


@pytest.mark.parametrize(
    "sender", ["mallory@example.org", "anna@example.org, mallory@example.org", '"anna@example.org" <m@evil.example>']
)
def test_a_stranger_with_the_token_is_not_the_owner(post: Post, sender: str) -> None:
    assert [m for m in post.arrives(written(sender=sender, In_Reply_To=OURS)) if m.sender == post.channel.owner] == []


@pytest.mark.parametrize("header", [("Auto_Submitted", "auto-replied"), ("Precedence", "bulk"), ("X_Autoreply", "yes")])
def test_what_machines_answer_is_left_out(post: Post, header: tuple[str, str]) -> None:
    assert post.arrives(written(**{header[0]: header[1]}, In_Reply_To=OURS)) == []


def test_files_of_the_owners_mail_are_fetched_each_by_itself(post: Post) -> None:
    mail = written("yes", In_Reply_To=OURS)
    mail.add_alternative("<p>yes<img src=cid:x></p>", subtype="html")
    page = cast(EmailMessage, cast(list[object], mail.get_payload())[1])
    page.add_related(b"logo", "image", "png", cid="<x>", filename="logo.png")
    mail.add_attachment(b"\x89PNG" + bytes(500_000), "image", "png", filename="屋顶.png")
    mail.add_attachment(b"%PDF", "application", "pdf", filename="offer.pdf", cte="quoted-printable")
    [message] = post.arrives(mail)

    picture, paper = message.files
    assert [(each.kind, each.name, each.is_own) for each in message.files] == [
        ("picture", "屋顶.png", False), ("file", "offer.pdf", False),
    ]  # fmt: skip
    assert isinstance(post.channel, FileSource)
    assert post.channel.fetch(picture, 600_000, never) == b"\x89PNG" + bytes(500_000)
    assert post.channel.fetch(paper, 4, never) == b"%PDF"
    for most in (400_000, 500_003):
        with pytest.raises(UserError, match="larger"):
            post.channel.fetch(picture, most, never)
    post.box.validity += 1
    with pytest.raises(UserError, match="not in the mailbox any more"):
        post.channel.fetch(paper, 4, never)


def test_a_file_within_the_page_of_a_mail_is_fetched_as_apple_mail_sends_it(post: Post) -> None:
    mail, page = written("yes", In_Reply_To=OURS), EmailMessage()
    page.set_content("<p>yes</p>", subtype="html")
    page.add_attachment(b"%PDF", "application", "pdf", filename="offer.pdf", disposition="inline")
    mail.make_alternative()
    mail.attach(page)
    [message] = post.arrives(mail)
    [paper] = message.files
    assert isinstance(post.channel, FileSource)
    assert paper.name == "offer.pdf" and post.channel.fetch(paper, 4, never) == b"%PDF"


def test_a_strangers_mail_brings_no_files(post: Post) -> None:
    mail = written("hello", sender="eve@example.org")
    mail.add_attachment(b"%PDF", "application", "pdf", filename="offer.pdf")
    assert [each.files for each in post.arrives(mail)] == [()]


def test_others_who_read_along_make_it_a_group(post: Post) -> None:
    [message] = post.arrives(written(In_Reply_To=OURS, Cc="bob@example.org"))
    assert message.group


def test_each_mail_comes_once_and_in_order_also_after_a_restart(post: Post) -> None:
    position = post.start()
    for number in range(45):
        post.box.put(written(f"mail {number}").as_bytes())
    texts: list[str] = []
    for _ in range(4):
        channel = replace(post.channel)
        received = channel.receive(position, never)
        texts += [message.text for message in received.messages]
        position = received.position
    assert texts == [f"mail {number}" for number in range(45)]


def test_mail_from_before_the_first_look_is_left_alone(post: Post) -> None:
    post.box.put(written("old").as_bytes())
    position = post.start()
    assert list(post.channel.receive(position, never).messages) == []


def test_a_mailbox_that_is_numbered_anew_loses_and_repeats_nothing(post: Post, tmp_path: Path) -> None:
    post.box.put(written("from before", Message_ID="<b@x.org>").as_bytes())
    queue = MessageQueue(Records(tmp_path, durable=False), "mail", str)
    ids = map(str, count())

    def look() -> None:
        queue.take_in(post.channel.receive(queue.position, never), post.channel.owner, lambda: next(ids))

    look()
    post.box.at += timedelta(minutes=5)
    post.box.put(written("first", In_Reply_To=OURS, Message_ID="<f@x.org>").as_bytes())
    look()
    post.box.put(written("second", In_Reply_To=OURS, Message_ID="<s@x.org>").as_bytes())
    post.box.number_anew()
    look()
    look()
    assert [each.message.text for each in queue.waiting] == ["first", "second"]
    assert queue.position.startswith("8:")


def test_nothing_in_the_mailbox_is_changed(post: Post) -> None:
    post.arrives(written())
    commands = " ".join(post.box.commands).upper()
    assert "EXAMINE" in commands and "BODY.PEEK" in commands
    assert not [word for word in ("SELECT", "STORE", "EXPUNGE", "COPY", "MOVE", "APPEND") if word in commands]


@pytest.mark.parametrize(
    "mail",
    [
        b"",
        b"\xff\xfe\x00",
        b"From: anna@example.org\r\nContent-Type: text/plain; charset=no-such\r\n\r\n\xff\xfe",
        b"From: \r\n\r\nx",
        b"From: =?utf-8?b?!!!?= <anna@example.org>\r\nTo: ;;;,,,<>\r\nReferences: <<<>>>\r\n\r\nhello",
        b"From: anna@example.org\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\n",
    ],
)
def test_a_broken_mail_does_not_stop_the_next(post: Post, mail: bytes) -> None:
    position = post.start()
    post.box.put(mail)
    post.box.put(written("after it").as_bytes())
    assert post.channel.receive(position, never).messages[-1].text == "after it"


def test_only_a_page_is_read_without_what_it_hides(post: Post) -> None:
    mail = written(In_Reply_To=OURS)
    page = "<head><style>p {}</style></head><p>yes 7K2<br>&amp; thanks</p><blockquote>no 7K2</blockquote>"
    mail.set_content(page, subtype="html")
    [message] = post.arrives(mail)
    assert message.text == "yes 7K2\n& thanks"


@pytest.mark.parametrize("trouble", ["cut", "silent", "garbage"])
def test_a_passing_fault_loses_nothing(post: Post, trouble: Trouble) -> None:
    position = post.start()
    post.box.put(written("here").as_bytes())
    post.box.troubles.append(trouble)
    with pytest.raises(Retryable):
        post.channel.receive(position, never)
    assert [message.text for message in post.channel.receive(position, never).messages] == ["here"]


def test_a_wrong_password_is_for_the_person_to_mend(post: Post, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    post.box.password = "another"
    with pytest.raises(UserError) as caught:
        post.channel.receive("", never)
    _keeps_secret(caught.value, caplog.text)
    assert "channels.mail.password" in caught.value.hint


def test_a_mailbox_that_is_not_opened_is_for_the_person_to_mend(post: Post) -> None:
    post.box.troubles.append("refused")
    with pytest.raises(Permanent):
        post.channel.receive("", never)


def test_a_wait_ends_when_it_is_cancelled(post: Post) -> None:
    post.box.put(written().as_bytes())
    post.box.troubles.append("silent")
    looks = iter([False] * 3)
    with pytest.raises(Interrupted):
        post.channel.receive("7:100", lambda: next(looks, True))


def _keeps_secret(error: AgentError, log: str) -> None:
    assert PASSWORD not in f"{error.message} {error.hint} {log}"


def test_the_key_of_tokens_stays_and_a_damaged_one_is_made_anew(tmp_path: Path) -> None:
    first = load_token(tmp_path)
    assert load_token(tmp_path) == first
    path = tmp_path / "mail-token.key"
    assert path.stat().st_mode & 0o077 == 0
    path.write_text("zz")
    assert load_token(tmp_path) != first
    assert load_token(tmp_path).proved(first.message_id("1", "a@b.org")) == ""
