"""Promise: whatever the server of the mailbox does, and whenever the program is stopped, each mail of the owner is
taken in once, and nothing that others write is.

The ledger of the test is what was put into the mailbox, and what came out of the queue.
"""

import logging
import random
from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import get_args

import pytest

from agent.attention.channels.mail_in import MailIn
from agent.attention.channels.mail_token import ReplyToken
from agent.background.incoming.queue import MessageQueue
from agent.clock import SystemClock
from agent.errors import AgentError
from agent.llm.messages import never
from agent.records.database import Records
from tests.attention.mailbox import PASSWORD, Mailbox, Trouble, mailbox
from tests.attention.rigs.mail import SETTINGS

TROUBLES: tuple[Trouble, ...] = get_args(Trouble)
SLOW: frozenset[Trouble] = frozenset({"silent"})
"""Faults that a look waits for: fewer of them."""


@dataclass
class Reader:
    """The side of the program: a mailbox that is read, and a queue on disk that is worked on."""

    box: Mailbox
    path: Path
    dice: random.Random
    taken: Counter[str] = field(default_factory=Counter)
    said: str = ""
    faults: int = 0
    _ids: "count[int]" = field(default_factory=count)

    def __post_init__(self) -> None:
        self.start()

    def start(self) -> None:
        """The program begins, perhaps after it was killed."""
        settings = replace(
            SETTINGS, imap_host="127.0.0.1", imap_port=self.box.port, user="anna", verified_by="mx.example.org"
        )
        idle = 0.05 if self.box.idle else 0.0
        self.inbound = MailIn(settings, PASSWORD, ReplyToken(b"k" * 32), SystemClock(), 0.3, 0.0, idle)
        self.queue = MessageQueue(Records(self.path, durable=False), "mail", str)
        self.queue.load()

    def look(self) -> None:
        """One look into the mailbox; now and then the program is killed after it."""
        try:
            received = self.inbound.receive(self.queue.position, never)
        except AgentError as error:
            self.said += f"{error.message} {error.hint} {error!r}"
            return
        if self.dice.random() < 0.1:  # killed between the mails and the note of them
            self.faults += 1
            self.start()
            return
        self.queue.take_in(received, self.inbound.owner, lambda: str(next(self._ids)))
        if self.dice.random() < 0.1:  # killed after it
            self.faults += 1
            self.start()

    def work(self) -> None:
        """Have what has come in worked on."""
        for entry in list(self.queue.waiting):
            self.taken[entry.message.text] += 1
            self.queue.done(entry)


def mail(number: int, sender: str = "anna@example.org", results: str = "dmarc=pass") -> bytes:
    return (
        f"Authentication-Results: mx.example.org; {results} header.from=example.org\r\n"
        f"From: {sender}\r\nTo: agent@example.org\r\nMessage-ID: <{number}@example.org>\r\n\r\n"
        f"mail {number} {'x' * (number % 300)}\r\n"
    ).encode()


def happens(reader: Reader, number: int) -> None:
    """What may happen in a mailbox between two looks."""
    box, dice = reader.box, reader.dice
    box.at += timedelta(seconds=dice.choice([0, 0, 1, 60]))
    box.put(mail(number))
    match dice.randrange(12):
        case 0:
            box.put(mail(number))  # it has come by two ways
        case 1:
            box.put(mail(number, results="dmarc=fail"))
        case 2:
            box.put(mail(-number, "mallory@example.org"))
        case 3:
            box.number_anew()
            reader.faults += 1
        case 4:
            for each in [each for each, data in box.mails.items() if reader.taken[text_of(data)]][-1:]:
                box.remove(each)
    if dice.random() < 0.8:
        slow = dice.random() < 0.03
        box.troubles.append(dice.choice([each for each in TROUBLES if (each in SLOW) == slow]))
        reader.faults += 1


def text_of(data: bytes) -> str:
    return data.decode().partition("\r\n\r\n")[2].strip()


def check(folder: Path, faults: int, caplog: pytest.LogCaptureFixture, seed: int = 17) -> None:
    caplog.set_level(logging.DEBUG)
    dice = random.Random(seed)
    with mailbox() as box:
        box.put(mail(1_000_000))  # from before the program was there
        box.at += timedelta(seconds=1)
        reader = Reader(box, folder / "mail.json", dice)
        while not reader.queue.position:
            reader.look()
        number = 0
        while reader.faults < faults:
            number += 1
            happens(reader, number)
            box.idle = dice.random() < 0.5
            reader.inbound = replace(reader.inbound, idle=0.05)
            for _ in range(dice.randrange(1, 3)):
                reader.look()
            if dice.random() < 0.7:
                reader.work()
        box.troubles.clear()
        reader.dice = random.Random(3)
        for _ in range(200):
            reader.look()
            reader.work()
            if len(reader.taken) == number:
                break
    assert reader.taken == Counter(text_of(mail(each)) for each in range(1, number + 1))
    assert PASSWORD not in reader.said + caplog.text + str(reader.queue.records.rows("SELECT value FROM record"))


def test_each_mail_is_taken_in_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    check(tmp_path, 40, caplog)


@pytest.mark.chaos
@pytest.mark.parametrize("seed", range(3))
def test_300_faults(tmp_path: Path, caplog: pytest.LogCaptureFixture, seed: int) -> None:
    check(tmp_path, 300, caplog, seed)
