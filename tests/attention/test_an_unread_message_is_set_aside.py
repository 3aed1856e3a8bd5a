"""What cannot be read is set aside once, named once, and read later if its person wants; the next message is read."""

from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

import pytest

from agent.attention.channels.channel import Incoming, UnreadItem
from agent.attention.channels.items import read_items
from agent.attention.channels.mail_in import MailIn
from agent.attention.channels.mail_token import ReplyToken
from agent.attention.set_aside import MOST, SetAside
from agent.errors import AgentError, Retryable, UserError
from agent.llm.messages import never
from tests.attention.mailbox import PASSWORD, mailbox
from tests.attention.rigs.mail import SETTINGS
from tests.fakes import FakeClock

GOOD = b"From: bob@example.org\r\nTo: agent@example.org\r\nSubject: x\r\n\r\nhello\r\n"
DEEP = b"From: bob@example.org\r\n" + b"Content-Type: message/rfc822\r\n\r\n" * 3_000


def test_an_item_that_comes_again_is_known_and_the_oldest_go_first(tmp_path: Path) -> None:
    store, now = SetAside(tmp_path), FakeClock().now()
    assert store.add("mail", UnreadItem(b"one", "why"), now)
    assert not store.add("mail", UnreadItem(b"one", "other"), now)
    assert [(each.channel, each.why, each.length) for each in store.all()] == [("mail", "why", 3)]
    assert store.data(store.all()[0]) == b"one"
    for number in range(MOST):
        store.add("mail", UnreadItem(str(number).encode(), "why"), now + timedelta(seconds=number + 1))
    assert len(store.all()) == MOST and b"one" not in [store.data(each) for each in store.all()]


@pytest.mark.parametrize(
    "damage", ["", "{", "[]", '{"at": "x"}', "[" * 100_000, '{"at": 1e999, "why": "", "length": 1}']
)
def test_a_damaged_record_of_an_item_is_left_out(tmp_path: Path, damage: str) -> None:
    store = SetAside(tmp_path)
    store.add("mail", UnreadItem(b"one", "why"), FakeClock().now())
    next(tmp_path.glob("mail/*.json")).write_text(damage)
    assert list(store.all()) == []
    with pytest.raises(UserError, match="no single item"):
        store.find("")


def test_a_service_that_fails_is_not_the_fault_of_an_item() -> None:
    def ask(item: bytes) -> Incoming | None:
        raise Retryable("the service is away", delay=1.0)

    with pytest.raises(Retryable):
        read_items([b"x"], ask, bytes)


def test_an_item_that_cannot_even_be_kept_is_named() -> None:
    def fail(item: bytes) -> bytes:
        raise RecursionError

    read = read_items([b"x"], fail, fail)  # type: ignore[arg-type]  # both fail
    assert [(each.data, each.why) for each in read.unread] == [(b"", "RecursionError:")]


@dataclass
class Refusing:
    """A mailbox whose server does not give some mails, though it says that they are there."""

    channel: MailIn
    position: str = ""
    texts: list[str] = field(default_factory=list)
    unread: list[UnreadItem] = field(default_factory=list)
    failures: int = 0

    def look(self, times: int) -> None:
        for _ in range(times):
            try:
                received = self.channel.receive(self.position, never)
            except AgentError:
                self.failures += 1
                continue
            self.position = received.position
            self.texts += [each.text or each.foreign for each in received.messages]
            self.unread += received.unread


def test_a_mail_that_the_server_does_not_give_is_passed_by_once_others_wait_behind_it() -> None:
    with mailbox() as box:
        settings = replace(SETTINGS, imap_host="127.0.0.1", imap_port=box.port, user="anna")
        post = Refusing(MailIn(settings, PASSWORD, ReplyToken(b"k" * 32), FakeClock(), timeout=0.5, wait=0.0))
        post.look(1)
        lost = box.put(GOOD)
        box.refused.add(lost)
        post.look(5)
        assert (post.texts, post.unread) == ([], [])  # nothing waits behind it
        box.put(GOOD.replace(b"hello", b"second"))
        post.look(5)
        assert post.texts == ["second"] and [each.data for each in post.unread] == [f"7:{lost}".encode()]
        box.refused |= {box.put(GOOD.replace(b"hello", text)) for text in (b"third", b"fourth")}
        post.look(8)
        assert len(post.unread) == 1, "a server that gives nothing is to blame itself"
        box.refused.clear()
        post.look(3)
        assert post.texts == ["second", "third", "fourth"]


def test_a_mail_that_nobody_can_read_is_passed_by_at_once() -> None:
    with mailbox() as box:
        settings = replace(SETTINGS, imap_host="127.0.0.1", imap_port=box.port, user="anna")
        post = Refusing(MailIn(settings, PASSWORD, ReplyToken(b"k" * 32), FakeClock(), timeout=5.0, wait=0.0))
        post.look(1)
        for mail in (DEEP, GOOD, DEEP):
            box.put(mail)
        post.look(1)
        assert (post.texts, [each.data for each in post.unread], post.failures) == (["hello"], [DEEP, DEEP], 0)
