"""Promise: whatever the services do, no message is lost, and none is shown twice without a word that it may be.

Each channel sends messages through a service that fails at random, in a plain loop that tries again until there is a
proof, as whoever sends in earnest does. The ledger of the test is what the service itself has shown.
"""

import logging
import random
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace

import pytest

from agent.attention.channels.channel import Choice, Message
from agent.errors import PerhapsDone, Permanent, Retryable, UserError
from agent.llm.messages import never
from tests.attention.rigs.rig import Rig
from tests.attention.servers import Fault
from tests.contracts.test_channels import RIGS

SLOW: frozenset[Fault] = frozenset({"silent", "flood"})
"""Faults that a try waits for: fewer of them."""
_MOST_TRIES = 50


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as opened:
        yield opened


def misbehaves(rig: Rig, dice: random.Random) -> bool:
    """Let the next request fail at random; true if it will."""
    if not rig.faults or dice.random() < 0.3:
        return False
    quick = sorted(rig.faults - SLOW)
    slow = sorted(rig.faults & SLOW)
    rig.misbehave(dice.choice(slow if slow and dice.random() < 0.05 else quick))
    return True


def deliver(rig: Rig, message: Message, dice: random.Random, left: int) -> tuple[int, str]:
    """Send until there is a proof; returns how many faults were met, and all that was said on the way.

    `again` is set as soon as the channel says that a try may have been shown, as the receipts of attention have it.
    """
    said, met = "", 0
    for _ in range(_MOST_TRIES):
        met += met < left and misbehaves(rig, dice)
        try:
            return met, said + rig.channel.send(message, never)
        except (Retryable, Permanent, UserError) as error:
            said += f"{error.message} {error.hint} {error!r}"
            message = replace(message, again=message.again or isinstance(error, PerhapsDone))
    raise AssertionError(f"never delivered: {said}")


def check(name: str, faults: int, stack: ExitStack, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    rig, dice = stack.enter_context(RIGS[name]()), random.Random(f"{name} 17")
    met, said, sent = 0, "", 0
    while met < faults:
        sent += 1
        choices = (Choice("Yes", f"yes {sent:04}"),)
        message = Message(f"01HZZZZZZZ{sent:016}", f"Notice {sent:04} 通知", "A line.", choices)
        more, words = deliver(rig, message, dice, faults - met)
        met, said = met + more, said + words
        if not rig.faults:
            met += 1  # a channel of this machine: only that nothing is lost or doubled
            rig.calls()  # somebody looks at the terminal
    shown = rig.shown()
    for number in range(1, sent + 1):
        first, *others = [each for each in shown if f"Notice {number:04}" in each.text]
        assert all((each.key and each.key == first.key) or "erhaps" in each.text for each in others)
    assert not [secret for secret in rig.secrets if secret in said + caplog.text]


@pytest.mark.parametrize("name", sorted(RIGS))
def test_nothing_is_lost_or_doubled_in_silence(name: str, stack: ExitStack, caplog: pytest.LogCaptureFixture) -> None:
    check(name, 20, stack, caplog)


@pytest.mark.chaos
@pytest.mark.parametrize("name", sorted(RIGS))
def test_300_faults(name: str, stack: ExitStack, caplog: pytest.LogCaptureFixture) -> None:
    check(name, 300, stack, caplog)
