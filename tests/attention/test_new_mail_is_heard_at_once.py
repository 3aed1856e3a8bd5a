"""A server that tells of new mail (IDLE) is listened to; a silent or broken one is asked again."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from agent.attention.channels.mail_in import MailIn
from agent.attention.channels.mail_token import ReplyToken
from agent.clock import SystemClock
from agent.errors import Interrupted, Retryable
from agent.llm.messages import never
from tests.attention.mailbox import PASSWORD, Mailbox, mailbox
from tests.attention.rigs.mail import SETTINGS

MAIL = b"From: anna@example.org\r\nTo: agent@example.org\r\nSubject: tea\r\n\r\nWhich?\r\n"
SOON = 2.0
"""The seconds within which a new mail is taken up."""


@pytest.fixture
def box() -> Iterator[Mailbox]:
    with mailbox() as box:
        box.idle = True
        yield box


def channel(box: Mailbox, idle: float = 60.0, wait: float = 60.0) -> MailIn:
    settings = replace(SETTINGS, imap_host="127.0.0.1", imap_port=box.port, user="anna")
    return MailIn(settings, PASSWORD, ReplyToken(b"k" * 32), SystemClock(), 1.0, wait, idle)


def test_a_new_mail_is_taken_up_within_two_seconds(box: Mailbox) -> None:
    inbound = channel(box)
    position = inbound.receive("", never).position
    with ThreadPoolExecutor() as pool:
        for round in range(1, 4):
            coming = pool.submit(inbound.receive, position, never)
            box.until("IDLE", round)
            began = time.monotonic()
            box.put(MAIL)
            received = coming.result(60)
            assert time.monotonic() - began < SOON
            assert [each.text for each in received.messages] == ["Which?"]
            position = received.position
    assert box.commands.count("DONE") == 3


def test_what_comes_between_two_looks_is_not_missed(box: Mailbox) -> None:
    inbound = channel(box)
    position = inbound.receive("", never).position
    box.put(MAIL)
    began = time.monotonic()
    assert len(inbound.receive(position, never).messages) == 1
    assert time.monotonic() - began < SOON and "IDLE" not in box.commands


def test_a_server_is_asked_anew_before_it_forgets_us(box: Mailbox) -> None:
    inbound, box.tells = channel(box, idle=0.3), False
    position = inbound.receive("", never).position
    with ThreadPoolExecutor() as pool:
        coming = pool.submit(inbound.receive, position, never)
        box.until("IDLE")
        box.put(MAIL)  # and it says nothing of it
        assert coming.result(60).messages == ()
    box.until("DONE")
    assert len(inbound.receive(position, never).messages) == 1


def test_the_time_of_listening_is_less_than_the_standard_allows() -> None:
    settings = replace(SETTINGS, imap_host="imap.example.org")
    assert MailIn(settings, "", ReplyToken(b""), SystemClock()).idle < 29 * 60


def test_without_idle_the_mailbox_is_looked_at_after_a_while(box: Mailbox) -> None:
    inbound, box.idle = channel(box, wait=0.2), False
    position = inbound.receive("", never).position
    began = time.monotonic()
    assert inbound.receive(position, never).messages == ()
    assert time.monotonic() - began >= 0.2
    box.put(MAIL)
    assert len(inbound.receive(position, never).messages) == 1
    assert "IDLE" not in box.commands


def test_a_server_that_goes_away_while_it_is_listened_to_is_asked_again(box: Mailbox) -> None:
    inbound = channel(box)
    position = inbound.receive("", never).position
    with ThreadPoolExecutor() as pool:
        coming = pool.submit(inbound.receive, position, never)
        box.until("IDLE")
        box.say_bye()
        with pytest.raises(Retryable):
            coming.result(60)
    box.put(MAIL)
    assert len(inbound.receive(position, never).messages) == 1


def test_listening_ends_when_it_is_cancelled(box: Mailbox) -> None:
    inbound = channel(box)
    position = inbound.receive("", never).position
    stop = threading.Event()
    with ThreadPoolExecutor() as pool:
        coming = pool.submit(inbound.receive, position, stop.is_set)
        box.until("IDLE")
        began = time.monotonic()
        stop.set()
        with pytest.raises(Interrupted):
            coming.result(60)
        assert time.monotonic() - began < 20
