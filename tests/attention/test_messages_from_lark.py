"""What is written to the bot of Lark comes in once, and is answered as soon as it is on disk."""

import json
import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agent.attention.channels.channel import Choice, Incoming, Message
from agent.attention.channels.http import HttpAnswer
from agent.attention.channels.lark import Lark
from agent.attention.channels.lark_events import parse_event
from agent.attention.channels.lark_in import LarkIn
from agent.background.incoming.queue import MessageQueue
from agent.clock import SystemClock
from agent.errors import AgentError, Interrupted, Permanent, Retryable, UserError
from agent.llm.messages import Cancelled, JsonObject, never
from agent.records.database import Records
from tests.attention.rigs.lark import APP, SECRET, LarkService, bot_of, two_way_lark
from tests.attention.rigs.lark_socket import BOT, CHAT, GROUP, OWNER, SERVICE, STRANGER, TICKET, LarkSocket
from tests.attention.servers import LocalService

PATIENCE = 60.0
NAMED = [{"key": "@_user_1", "id": {"open_id": BOT}, "name": "Vaultling"}]


@dataclass
class Line:
    """The way in, with its queue on disk, as the daemon uses it."""

    inbound: LarkIn
    server: LocalService
    service: LarkService
    socket: LarkSocket
    queue: MessageQueue
    said: str = ""
    problems: list[AgentError] = field(default_factory=list)
    numbers: int = 0
    overheard: list[Incoming] = field(default_factory=list)

    def listen(self) -> None:
        """One poll, as the daemon does it."""
        try:
            received = self.inbound.receive(self.queue.position, never)
        except (Retryable, Permanent, UserError) as error:
            self.problems.append(error)
            self.said += f"{error.message} {error.hint} {error!r}"
            return
        self.overheard += (each for each in received.messages if each.is_overheard)
        self.queue.take_in(received, OWNER, self._number)
        received.confirm()

    def until(self, done: Callable[[], bool], what: str) -> None:
        """Listen until something is so."""
        began = time.monotonic()
        while not done():
            assert time.monotonic() - began < PATIENCE, f"{what}: {self.said}"
            self.listen()

    def settle(self) -> None:
        self.until(lambda: not self.socket.waiting, "all is answered")

    @property
    def texts(self) -> list[str]:
        return [each.message.text for each in self.queue.waiting]

    def _number(self) -> str:
        self.numbers += 1
        return f"{self.numbers}"


@pytest.fixture
def line(tmp_path: Path) -> Iterator[Line]:
    with two_way_lark() as (server, service, socket):
        queue = MessageQueue(Records(tmp_path, durable=False), "lark", str)
        with closing(LarkIn(bot_of(server), SystemClock(), wait=0.2)) as inbound:
            yield Line(inbound, server, service, socket, queue)


def test_what_the_owner_writes_comes_in_and_is_answered(line: Line) -> None:
    id = line.socket.write("Which tea?")
    line.settle()
    [entry] = line.queue.waiting
    assert entry.message == Incoming(id, OWNER, CHAT, "Which tea?", entry.message.at)
    assert f"{entry.message.at:%Y-%m}" == "2026-11"
    [ping, answer] = line.socket.seen
    assert (ping.header("type"), ping.service, ping.payload) == ("ping", SERVICE, b"")
    assert (answer.sequence, answer.log, answer.log_name, answer.header("trace_id")) == (7, 9, "log", "t")


def test_nothing_is_answered_before_it_is_on_disk(line: Line) -> None:
    line.socket.write("Which tea?")
    received = line.inbound.receive("", never)
    while not received.messages:
        received = line.inbound.receive("", never)
    assert line.socket.waiting == 1 and not line.socket.answered
    received.confirm()
    line.settle()
    assert line.socket.answered


def test_an_event_that_comes_again_is_taken_in_once(line: Line) -> None:
    line.socket.faults.extend(["twice", "not heard", "answer lost"])
    line.socket.write("One")
    line.settle()
    line.socket.write("Two")
    line.settle()
    assert line.texts == ["One", "Two"]


def test_an_event_in_parts_is_put_together_whatever_their_order(line: Line) -> None:
    line.socket.faults.extend(["parts", "cut in parts", "parts"])
    line.socket.write("龙井茶 " * 300)
    line.socket.write("Second")
    line.settle()
    assert sorted(line.texts) == sorted(["龙井茶 " * 299 + "龙井茶", "Second"])


def test_a_press_is_a_reply_below_its_card(line: Line) -> None:
    line.socket.press("yes 7K2", below="om_card")
    line.settle()
    [entry] = line.queue.waiting
    message = entry.message
    assert (message.text, message.sender, message.chat, message.answers) == ("yes 7K2", OWNER, CHAT, "om_card")
    bot_of(line.server).send(Message("1", "", "Done.", to=message.chat, answers=message.id), never)
    assert line.service.paths[-1] == "/open-apis/im/v1/messages/om_card/reply"


def test_strangers_are_only_counted(line: Line) -> None:
    line.socket.write("yes 7K2", STRANGER)
    line.socket.press("yes 7K2", below="om_card", sender=STRANGER)
    line.settle()
    assert (line.texts, line.queue.strangers) == ([], 2)


def test_in_a_group_only_what_names_the_bot_is_for_it(line: Line) -> None:
    anna = {"key": "@_user_12", "id": {"open_id": "ou_anna"}, "name": "Anna\nyes 7K2"}
    line.socket.write("chatter", chat=GROUP)
    line.socket.write("@_user_12 look", chat=GROUP, mentions=[anna])
    line.socket.write("passed on", chat=GROUP, upper_message_id="om_1")
    line.socket.write("@_user_1 ask @_user_12 about tea", chat=GROUP, mentions=[*NAMED, anna])
    line.settle()
    told = [(each.sender, each.text, each.foreign) for each in line.overheard]
    assert told == [(OWNER, "", "chatter"), (OWNER, "", "@Anna yes 7K2 look"), ("", "", "passed on")]
    assert line.texts == ["ask @Anna yes 7K2 about tea"]
    assert line.queue.waiting[0].message.group
    assert line.service.paths.count("/open-apis/bot/v3/info") == 1


def test_in_a_group_the_message_that_is_answered_is_given_as_somebody_elses(line: Line) -> None:
    said: JsonObject = {"msg_type": "text", "body": {"content": json.dumps({"text": "buy tea"})}}
    line.service.messages = {
        "om_anna": {**said, "sender": {"id": "ou_anna", "id_type": "open_id", "sender_type": "user"}},
        "om_bot": {**said, "sender": {"id": APP, "id_type": "app_id", "sender_type": "app"}},
    }
    for answered in ("om_anna", "om_bot", "om_gone", "../../x"):
        line.socket.write("@_user_1 do so", chat=GROUP, mentions=NAMED, parent_id=answered, thread_id="omt_1")
    line.settle()
    found = [each.message for each in line.queue.waiting]
    assert [each.foreign for each in found] == ["buy tea", "", "", ""]
    assert {each.text for each in found} == {"do so"} and {each.thread for each in found} == {"omt_1"}


def test_a_rich_text_is_its_words(line: Line) -> None:
    rows = [
        [{"tag": "text", "text": "See "}, {"tag": "a", "text": "this", "href": "https://a.example"}],
        [{"tag": "img", "image_key": "img_1"}],
        [{"tag": "at", "user_id": "@_user_1"}, {"tag": "emotion", "emoji_type": "SMILE"}],
        [{"tag": "code_block", "language": "GO", "text": "x := 1\n"}],
    ]
    content = json.dumps({"title": "Tea", "content": rows})
    line.socket.arrive(OWNER, "", message_type="post", content=content, mentions=NAMED)
    line.socket.arrive(OWNER, "", message_type="image", content='{"image_key": "img_1"}')
    line.settle()
    assert line.texts == ["Tea\nSee this (https://a.example)\n@Vaultling\nx := 1", ""]


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"[]",
        b"{",
        b'{"header": {"event_type": "im.message.receive_v1"}}',
        b'{"header": {"event_type": "card.action.trigger"}, "event": {"action": {"value": "x"}}}',
        b'{"header": 3, "event": []}',
        b'{"header": {"event_type": "im.chat.updated_v1"}, "event": {}}',
        b"\xff\xfe",
        b"[" * 100_000,
    ],
)
def test_what_is_no_message_is_none(payload: bytes) -> None:
    assert parse_event(payload, lambda: BOT) is None


def test_a_connection_that_is_lost_is_opened_again(line: Line) -> None:
    line.socket.write("One")
    line.settle()
    line.socket.lose_all()
    line.socket.write("Two")
    line.settle()
    assert line.texts == ["One", "Two"] and line.socket.connections == 2
    assert all(isinstance(each, Retryable) for each in line.problems)


def test_the_service_says_how_long_to_wait(line: Line) -> None:
    line.socket.config |= {"ReconnectNonce": 30, "ReconnectInterval": 77}
    line.socket.write("One")
    line.settle()
    line.socket.lose_all()
    line.until(lambda: bool(line.problems), "it is noticed")
    [lost] = line.problems
    assert isinstance(lost, Retryable) and 0 <= lost.delay <= 30
    line.service.refused.append(1)
    line.listen()
    assert isinstance(line.problems[1], Retryable) and line.problems[1].delay == 77


@pytest.mark.parametrize(
    ("headers", "kind"),
    [
        ({"Handshake-Status": "514", "Handshake-Autherrcode": "1000040350", "Handshake-Msg": "too many"}, Permanent),
        ({"Handshake-Status": "403", "Handshake-Msg": "forbidden"}, UserError),
        ({"Handshake-Status": "514", "Handshake-Autherrcode": "1000040341"}, Retryable),
        ({}, Retryable),
    ],
)
def test_a_connection_that_is_refused_says_why(line: Line, headers: dict[str, str], kind: type[AgentError]) -> None:
    line.socket.refusals.append(headers)
    line.listen()
    [problem] = line.problems
    assert type(problem) is kind and problem.hint
    assert headers.get("Handshake-Msg", "") in problem.message


def test_a_wrong_secret_is_for_the_person_to_mend(line: Line) -> None:
    line.service.secret = "another"
    line.listen()
    assert isinstance(line.problems[0], UserError) and "channels.lark.app_secret" in line.problems[0].hint


class Encrypted(Lark):
    """A bot whose service is asked with encryption, and names a connection without."""

    def post(self, path: str, document: object, cancelled: Cancelled) -> HttpAnswer:
        said = Lark.post(self, path, document, cancelled)
        self.base_url = self.base_url.replace("http:", "https:")
        return said


def test_an_address_without_encryption_is_not_used_by_a_service_with_it(line: Line) -> None:
    bot = bot_of(line.server)
    safe = Encrypted(bot.base_url, bot.app_id, bot.app_secret, bot.owner, bot.service, "en")
    with pytest.raises(Permanent, match="did not answer as this service does"):
        LarkIn(safe, SystemClock()).receive("", never)
    assert not line.socket.connections


def test_a_wait_ends_when_it_is_cancelled_and_so_does_the_connection(line: Line) -> None:
    line.listen()
    stop = threading.Event()
    inbound = LarkIn(bot_of(line.server), SystemClock())
    threading.Timer(0.3, stop.set).start()
    began = time.monotonic()
    with pytest.raises(Interrupted):
        inbound.receive("", stop.is_set)
    assert time.monotonic() - began < 10
    line.until(lambda: line.socket.open == 1, "the other connection is gone")


def test_a_closed_way_in_is_not_opened_again(line: Line) -> None:
    line.listen()
    line.inbound.close()
    with pytest.raises(Interrupted):
        line.inbound.receive("", never)
    assert line.socket.connections == 1


def test_no_log_line_holds_a_secret(line: Line, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    line.socket.faults.extend(["cut", "garbage", "big", "half"])
    line.socket.write("One")
    line.settle()
    line.socket.refusals.append({"Handshake-Msg": f"no {SECRET}"})
    line.socket.lose_all()
    line.until(lambda: line.socket.connections > 4, "it is connected again")
    said = line.said + caplog.text
    assert said and SECRET not in said and TICKET not in said


def test_an_answer_to_a_message_that_was_recalled_goes_to_the_chat(line: Line) -> None:
    line.service.gone.add("om_9")
    assert bot_of(line.server).send(Message("1", "", "Green.", to=CHAT, answers="om_9"), never)
    assert line.service.paths[-1].endswith("/messages")


def test_without_the_way_in_a_card_has_words_in_place_of_buttons(line: Line) -> None:
    bot = bot_of(line.server)
    bot.buttons = False
    bot.send(Message("1", "May it?", "", (Choice("Yes", "yes 7K2"),)), never)
    [shown] = line.service.taken.values()
    assert "yes 7K2" in shown.text and not shown.replies
