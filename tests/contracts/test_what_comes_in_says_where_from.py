"""Each channel that receives fills the chat, the sender and the thread of a message; a run and a skill know them."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from agent.app.channels import KINDS
from agent.attention.channels.channel import Incoming
from agent.attention.channels.desktop_in import DesktopIn
from agent.attention.channels.lark_events import parse_event
from agent.attention.channels.mail_reading import MailReader
from agent.attention.channels.mail_token import ReplyToken
from agent.attention.channels.telegram_messages import parse_message
from agent.events.runs import ChatOrigin, Speaker
from agent.llm.messages import JsonObject
from agent.loop.records import RunRequest
from agent.runs.active_skills import known_slots
from tests.attention.rigs.mail import SETTINGS
from tests.fakes import FakeClock

MAIL = b"From: bob@example.org\nTo: a@example.org\nMessage-ID: <2@x.org>\nReferences: <1@x.org>\nSubject: Tea\n\nHi\n"
LARK = (
    b'{"header": {"event_type": "im.message.receive_v1"}, "event": {"sender": {"sender_id": {"open_id": "ou_1"}},'
    b'"message": {"message_id": "om_2", "chat_id": "oc_1", "chat_type": "p2p", "message_type": "text",'
    b'"content": "{\\"text\\": \\"Hi\\"}", "thread_id": "omt_1"}}}'
)
TOPIC: JsonObject = {
    "message_id": 5,
    "date": 1_800_000_000,
    "from": {"id": 7},
    "chat": {"id": 7, "type": "private"},
    "text": "Hi",
}


def of_telegram() -> Incoming | None:
    return parse_message({**TOPIC, "message_thread_id": 3, "is_topic_message": True}, {})


def of_lark() -> Incoming | None:
    return parse_event(LARK, lambda: "ou_bot")


def of_mail() -> Incoming | None:
    return MailReader(SETTINGS, ReplyToken(b"k" * 32)).read(MAIL, datetime(2026, 11, 23, tzinfo=UTC))


def of_desktop() -> Incoming | None:
    return DesktopIn(FakeClock()).pressed(3, "vault-agent:yes 7K2")


RECEIVING: dict[str, tuple[Callable[[], Incoming | None], ChatOrigin]] = {
    "telegram": (of_telegram, ChatOrigin("7", "7", "3")),
    "lark": (of_lark, ChatOrigin("oc_1", "ou_1", "omt_1")),
    "mail": (of_mail, ChatOrigin("bob@example.org", "unproved:bob@example.org", "<1@x.org>")),
    "desktop": (of_desktop, ChatOrigin("desktop", "desktop")),  # a desktop has no threads
}


def test_each_channel_that_receives_is_here() -> None:
    assert {kind.name for kind in KINDS if kind.receive is not None} == RECEIVING.keys()


@pytest.mark.parametrize("name", RECEIVING)
def test_a_message_says_its_chat_its_sender_and_its_thread(name: str) -> None:
    receive, expected = RECEIVING[name]
    found = receive()
    assert found is not None and found.origin == expected


def test_a_skill_is_matched_by_where_a_message_came_from() -> None:
    speaker = Speaker("telegram:-5", group=True, origin=ChatOrigin("-5", "7", "3"))
    context = RunRequest("Tea?", speaker).context("r", "s.md")
    assert known_slots(context) == {"channel": "telegram", "chat_id": "-5", "sender_id": "7", "thread_id": "3"}
