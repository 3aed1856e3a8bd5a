"""Promise: whatever the long connection does, each message of the owner's comes in, and none twice.

People write and press while the service fails at random: its addresses, its connections, its frames. The ledger of the
test is what they wrote; the program's is the queue on disk, which is loaded anew now and then, as after a kill.
"""

import logging
import random
from contextlib import closing
from pathlib import Path

import pytest

from agent.attention.channels.lark_in import LarkIn
from agent.background.incoming.queue import MessageQueue
from agent.clock import SystemClock
from agent.records.database import Records
from tests.attention.rigs.lark import SECRET, bot_of, two_way_lark
from tests.attention.rigs.lark_socket import FAULTS, STRANGER, TICKET, LarkSocket
from tests.attention.servers import Fault, LocalService
from tests.attention.test_messages_from_lark import Line

ADDRESS_FAULTS: tuple[Fault, ...] = ("busy", "broken", "cut", "cut after", "moved", "page", "wrong")


def _fail(dice: random.Random, server: LocalService, socket: LarkSocket) -> int:
    """Let something fail; returns how many faults that are."""
    kind = dice.random()
    if kind < 0.7:
        socket.faults.append(dice.choice(FAULTS))
    elif kind < 0.9:
        server.faults.append(dice.choice(ADDRESS_FAULTS))
        socket.lose_all()
    else:
        socket.refusals.append({"Handshake-Status": "514", "Handshake-Msg": f"again {SECRET}"})
        socket.lose_all()
    return 1


def check(faults: int, folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    dice, met, written = random.Random("lark in 17"), 0, list[str]()
    with two_way_lark() as (server, service, socket):
        socket.again = 0.03
        queue = MessageQueue(Records(folder, durable=False), "lark", str)
        with closing(LarkIn(bot_of(server, 0.8), SystemClock(), wait=0.02)) as inbound:
            line = Line(inbound, server, service, socket, queue)
            while met < faults:
                met += _fail(dice, server, socket)
                words = f"message {len(written):04} 消息" + " 长" * dice.choice((0, 0, 2_000))
                if dice.random() < 0.2:
                    socket.press(words, below="om_card")
                else:
                    socket.write(words)
                written.append(words)
                if dice.random() < 0.2:
                    socket.write("yes 7K2", STRANGER)
                line.listen()
                if dice.random() < 0.1:
                    line.settle()
                    _work_off(line.queue)
                    line.queue = MessageQueue(Records(folder, durable=False), "lark", str)
                    line.queue.load()
            line.settle()
            assert len(socket.faults) + len(server.faults) + len(socket.refusals) < 5, "they were met"
            assert sorted(_done(folder) + line.texts) == sorted(written)
    said = line.said + caplog.text
    assert SECRET not in said and TICKET not in said
    assert all(each.hint for each in line.problems)


def _work_off(queue: MessageQueue) -> None:
    """Answer what waits, and note it for the test."""
    ledger = queue.records.path.with_name("done.txt")
    with ledger.open("a", encoding="utf-8") as file:
        for each in list(queue.waiting):
            file.write(f"{each.message.text}\n")
            queue.done(each)


def _done(folder: Path) -> list[str]:
    ledger = folder / "done.txt"
    return ledger.read_text("utf-8").splitlines() if ledger.exists() else []


def test_every_message_comes_in_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    check(25, tmp_path, caplog)


@pytest.mark.chaos
def test_300_faults(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    check(300, tmp_path, caplog)
