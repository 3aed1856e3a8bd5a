"""In messengers, only what the sender has typed beyond doubt is theirs; the list is one of the good."""

import json
import random
from typing import Any

import pytest

from agent.attention.channels.channel import Incoming
from agent.attention.channels.lark_events import parse_event
from agent.attention.channels.telegram_messages import parse_message

OWNER, BOT = {"id": 7, "is_bot": False}, {"id": 99, "is_bot": True, "username": "vault_bot"}
BOB = {"id": 8, "is_bot": False}
PRIVATE, GROUP = {"id": 7, "type": "private"}, {"id": -5, "type": "supergroup"}
WORDS = "yes 7K2"


def telegram(me: Any = None, **fields: Any) -> Incoming:
    said = {"message_id": 5, "date": 1_800_000_000, "chat": PRIVATE, "from": OWNER, "text": WORDS, **fields}
    found = parse_message(said, me or {})
    assert found is not None
    return found


FOREIGN: dict[str, dict[str, Any]] = {
    "sent through another bot": {"via_bot": {"id": 11, "is_bot": True}},
    "passed on": {"forward_origin": {"type": "user", "sender_user": BOB}},
    "passed on, as earlier versions say it": {"forward_from": BOB, "forward_date": 1},
    "passed on by itself": {"is_automatic_forward": True},
    "in the name of a channel": {"sender_chat": {"id": -9, "type": "channel"}},
    "by a bot of a business account": {"sender_business_bot": {"id": 12, "is_bot": True}},
    "of a connected business": {"business_connection_id": "x"},
    "with the name of an author": {"author_signature": "Bob"},
    "with a story": {"story": {"id": 1}},
    "in a field that is not known yet": {"brand_new_field": True},
    "by a bot": {"from": {**OWNER, "is_bot": True}},
    "a quotation in it": {"entities": [{"type": "blockquote", "offset": 0, "length": 7}]},
    "a folded quotation in it": {"entities": [{"type": "expandable_blockquote", "offset": 0, "length": 7}]},
    "a part of a kind that is not known": {"entities": [{"type": "brand_new", "offset": 0, "length": 7}]},
}


@pytest.mark.parametrize("what", sorted(FOREIGN))
def test_what_the_owner_has_not_typed_in_telegram_is_not_theirs(what: str) -> None:
    found = telegram(**FOREIGN[what])
    assert (found.text, found.foreign) == ("", WORDS)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"entities": [{"type": "bold", "offset": 0, "length": 3}, {"type": "text_link", "offset": 0, "length": 3}]},
        {"text": "", "caption": WORDS, "photo": [{}], "has_media_spoiler": True},
        {"message_thread_id": 3, "is_topic_message": True, "edit_date": 1_800_000_001, "link_preview_options": {}},
        {"reply_to_message": {"message_id": 4, "from": BOT, "chat": PRIVATE, "text": "May it?", "reply_markup": {}}},
        {"reply_to_message": {"message_id": 4, "from": OWNER, "chat": PRIVATE, "text": "earlier"}},
        {"reply_to_message": {"message_id": 4, "from": BOT, "chat": PRIVATE, "text": "May it?"},
         "quote": {"text": "May", "position": 0}},
    ],
)  # fmt: skip
def test_what_the_owner_has_typed_in_telegram_is_theirs_alone(fields: dict[str, Any]) -> None:
    found = telegram(**fields)
    assert (found.text, found.foreign) == (WORDS, "")


@pytest.mark.parametrize(
    ("fields", "foreign"),
    [
        ({"quote": {"text": "pay"}, "external_reply": {"origin": {"type": "channel"}}}, "pay"),
        ({"reply_to_message": {"message_id": 4, "from": BOB, "chat": GROUP, "text": "obey"}}, "obey"),
        ({"reply_to_message": {"message_id": 4, "from": OWNER, "text": "obey", "via_bot": {"id": 1}}}, "obey"),
        ({"reply_to_message": {"message_id": 4, "from": OWNER, "caption": "obey", "forward_origin": {}}}, "obey"),
        ({"text": f"{WORDS} 😀 obey", "entities": [{"type": "blockquote", "offset": 11, "length": 4}]}, "obey"),
    ],
)
def test_what_stands_beside_the_owners_words_is_somebody_elses(fields: dict[str, Any], foreign: str) -> None:
    found = telegram(**fields)
    assert found.text.startswith(WORDS) and "obey" not in found.text
    assert found.foreign == foreign


def test_in_a_group_the_words_of_others_that_are_answered_are_theirs() -> None:
    by_bot = {"message_id": 4, "from": BOT, "chat": GROUP, "text": "May it?"}
    found = telegram(BOT, chat=GROUP, reply_to_message=by_bot)
    assert (found.text, found.foreign) == (WORDS, "")
    called = [{"type": "mention", "offset": 0, "length": 10}]
    by_bob = {**by_bot, "from": BOB, "text": "obey"}
    found = telegram(BOT, chat=GROUP, text=f"@vault_bot {WORDS}", entities=called, reply_to_message=by_bob)
    assert (found.text, found.foreign) == (WORDS, "obey")


def lark(kind: str = "text", content: object = None, sender: str = "user", **fields: object) -> Incoming:
    body = json.dumps({"text": WORDS} if content is None else content)
    message = {"message_id": "om_1", "chat_id": "oc_1", "chat_type": "p2p", "message_type": kind, "content": body}
    event = {"sender": {"sender_id": {"open_id": "ou_1"}, "sender_type": sender}, "message": {**message, **fields}}
    document = {"header": {"event_type": "im.message.receive_v1"}, "event": event}
    found = parse_event(json.dumps(document).encode(), lambda: "ou_bot")
    assert found is not None
    return found


def test_what_the_owner_has_typed_in_lark_is_theirs() -> None:
    known = {"root_id": "om_0", "parent_id": "om_0", "thread_id": "t", "create_time": "1", "user_agent": "x"}
    assert (lark(**known).text, lark(**known).foreign) == (WORDS, "")


@pytest.mark.parametrize(
    ("kind", "content", "fields"),
    [
        ("text", None, {"upper_message_id": "om_9"}),
        ("text", None, {"sender": "app"}),
        ("interactive", {"title": WORDS, "elements": [[{"tag": "img"}]]}, {}),
        ("interactive", {"elements": [[{"tag": "div", "text": {"content": WORDS}}]]}, {}),
        ("post", {"content": [[{"tag": "quote", "text": WORDS}]]}, {}),
    ],
)
def test_cards_quotations_and_what_is_passed_on_in_lark_are_not_theirs(
    kind: str, content: object, fields: dict[str, Any]
) -> None:
    found = lark(kind, content, **fields)
    assert (found.text, found.foreign) == ("", WORDS)


@pytest.mark.parametrize("count", [200, pytest.param(2_000, marks=pytest.mark.chaos)])
def test_no_combination_of_fields_makes_a_strangers_words_the_owners(count: int) -> None:
    for number in range(count):
        chance = random.Random(f"message {number}")
        secret = f"vault{chance.randrange(10**9)}"
        fields: dict[str, Any] = {}
        for each in chance.sample(sorted(FOREIGN), chance.randrange(1, 4)):
            fields |= FOREIGN[each]
        if "entities" in fields:
            fields["entities"] = [{**fields["entities"][0], "length": 500, "offset": chance.choice([0, 0, -3])}]
        beside = {"message_id": 1, "from": chance.choice([BOB, OWNER]), "text": secret, "forward_origin": {}}
        found = telegram(text=f"{secret} {WORDS}", reply_to_message=beside, **fields)
        assert secret not in found.text and secret in found.foreign, (number, fields)
