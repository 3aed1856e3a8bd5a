"""What every channel promises, whatever the service does: run against local servers that speak the real protocols.

Every channel that the program knows takes part; one without a rig in `tests/attention/rigs` fails here.
"""

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from agent.app.channels import KINDS
from agent.attention.channels.channel import Choice, Message
from agent.errors import AgentError, Interrupted, PerhapsDone, Permanent, Retryable, UserError
from agent.llm.messages import never
from tests.attention.rigs import rig_of
from tests.attention.rigs.rig import OpenRig, Rig
from tests.attention.servers import ASKED_WAIT, Fault

RIGS: dict[str, OpenRig] = {kind.name: rig_of(kind.name) for kind in KINDS}

HELLO = Message("01HZZZZZZZ0000000000000001", "Two notes changed", "People/Anna.md and Home.md\n第二行:你好")
CHOICES = (Choice("Yes", "yes 7K2"), Choice("No", "no 7K2"))
HOSTILE = (
    "**bold** _it_ `code` [link](https://evil.example) <b>b</b> <@U123> <!channel> @everyone & &amp; "
    "\x1b[31mred\x1b[0m \x9b31m \u202egnp.exe \u2066x\u2069 ~~no~~ > quote # head | cell {{x}} *star*"
)
_INVISIBLE = ("\x1b", "\x9b", "\u202e", "\u2066", "\u2069")
NO_ANSWERS: frozenset[Fault] = frozenset({"page", "wrong", "flood"})
WAITS: frozenset[Fault] = frozenset({"silent", "flood"})
PAUSE = 0.5
"""The longest time in seconds between a cancellation and its effect."""


@pytest.fixture(params=sorted(RIGS))
def rig(request: pytest.FixtureRequest) -> Iterator[Rig]:
    with ExitStack() as stack:
        yield stack.enter_context(RIGS[request.param]())


def _needs(rig: Rig, fault: Fault) -> None:
    if fault not in rig.faults:
        pytest.skip(f"{rig.channel.name} cannot have it")


def _failure(rig: Rig, message: Message = HELLO) -> AgentError:
    with pytest.raises(AgentError) as caught:
        rig.channel.send(message, never)
    _keeps_secrets(rig, f"{caught.value.message} {caught.value.hint} {caught.value!r}")
    return caught.value


def _keeps_secrets(rig: Rig, text: str) -> None:
    assert not [secret for secret in rig.secrets if secret in text], text


def test_what_is_sent_is_shown_whole_and_proved(rig: Rig) -> None:
    proof = rig.channel.send(HELLO, never)
    [shown] = rig.shown()
    assert proof and "\n" not in proof
    assert all(part in shown.text for part in ("Two notes changed", "People/Anna.md and Home.md", "第二行:你好"))
    _keeps_secrets(rig, proof)


def test_two_messages_have_two_proofs(rig: Rig) -> None:
    other = Message("01HZZZZZZZ0000000000000002", "Another")
    assert rig.channel.send(HELLO, never) != rig.channel.send(other, never)
    assert len(rig.shown()) == 2


def test_choices_are_buttons_or_words_to_reply(rig: Rig) -> None:
    rig.channel.send(Message(HELLO.id, "May it?", "It would delete a note.", CHOICES), never)
    [shown] = rig.shown()
    for choice in CHOICES:
        assert choice.reply in shown.replies or choice.reply in shown.text


def test_a_message_that_may_have_been_shown_says_so(rig: Rig) -> None:
    rig.channel.send(Message(HELLO.id, HELLO.title, HELLO.text, again=True), never)
    [shown] = rig.shown()
    assert "perhaps" in shown.text.lower() or shown.key


def test_long_text_is_shortened_within_the_limit(rig: Rig) -> None:
    rig.channel.send(Message(HELLO.id, "长" * 3_000, "多字。" * 30_000), never)
    [shown] = rig.shown()
    assert shown.text.count("长") >= 20
    if rig.limit:
        assert len(shown.text) <= rig.limit
        assert "…" in shown.text


def test_any_text_stays_text(rig: Rig) -> None:
    rig.channel.send(Message(HELLO.id, "Title " + HOSTILE, HOSTILE), never)
    [shown] = rig.shown()
    assert "link" in shown.text and "https://evil.example" in shown.text
    assert not [sign for sign in _INVISIBLE if sign in shown.text]


def test_a_busy_service_is_left_alone_as_long_as_it_asks(rig: Rig) -> None:
    _needs(rig, "busy")
    rig.misbehave("busy")
    failure = _failure(rig)
    assert isinstance(failure, Retryable)
    assert not rig.asks_to_wait or failure.delay == ASKED_WAIT
    assert not rig.shown()


@pytest.mark.parametrize("fault", ["broken", "cut", "silent"])
def test_a_passing_fault_can_be_tried_again(rig: Rig, fault: Fault) -> None:
    _needs(rig, fault)
    rig.misbehave(fault)
    assert isinstance(_failure(rig), Retryable)
    assert not rig.shown()
    assert rig.channel.send(HELLO, never)
    assert len(rig.shown()) == 1


def test_two_tries_of_one_message_can_be_told_or_are_said(rig: Rig) -> None:
    _needs(rig, "cut after")
    rig.misbehave("cut after")
    assert isinstance(_failure(rig), PerhapsDone)
    again = Message(HELLO.id, HELLO.title, HELLO.text, again=True)
    assert rig.channel.send(again, never)
    first, *more = rig.shown()
    assert len(more) <= 1
    assert all("perhaps" in each.text.lower() or (each.key and each.key == first.key) for each in more)


def test_an_answer_that_is_not_the_services_is_no_proof(rig: Rig) -> None:
    for fault in NO_ANSWERS & rig.faults:
        rig.misbehave(fault)
        failure = _failure(rig)
        assert isinstance(failure, Permanent | Retryable), fault


def test_a_wrong_key_is_for_the_person_to_mend(rig: Rig) -> None:
    if not rig.secrets:
        pytest.skip(f"{rig.channel.name} has no key")
    rig.change_key()
    failure = _failure(rig)
    assert failure.hint and (isinstance(failure, Permanent | UserError) or not rig.tells_a_wrong_key)
    assert not rig.shown()


def test_the_key_is_not_sent_on(rig: Rig) -> None:
    _needs(rig, "moved")
    rig.misbehave("moved")
    failure = _failure(rig)
    assert isinstance(failure, Permanent | UserError) and failure.hint
    assert rig.sent_on() == 0


def test_a_wait_ends_when_it_is_cancelled(rig: Rig) -> None:
    _needs(rig, "silent")
    rig.misbehave("silent")
    stop = threading.Event()
    threading.Timer(0.2, stop.set).start()
    began = time.monotonic()
    with pytest.raises(Interrupted):
        rig.channel.send(HELLO, stop.is_set)
    assert time.monotonic() - began < 0.2 + PAUSE + 10


def test_no_log_line_holds_a_secret(rig: Rig, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    rig.channel.send(HELLO, never)
    for fault in rig.faults - WAITS:
        rig.misbehave(fault)
        _failure(rig)
    _keeps_secrets(rig, caplog.text)
