"""Events of Lark as messages: what a person writes to the bot, and the buttons of cards that they press.

Lark may give an event twice, also with another `event_id`: a message is known by its `message_id`, as its
documentation says, and a press by the event.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime

from agent.attention.channels.channel import Incoming
from agent.attention.channels.lark import REPLY
from agent.escape import escape_line
from agent.llm.fields import items, mapping, parsed, text
from agent.llm.messages import Json, JsonObject

_NAME = 40
"""The most characters of a person's name."""


def parse_event(payload: bytes, own_id: Callable[[], str]) -> Incoming | None:
    """The message to the bot that an event stands for; None for any other event. `own_id` returns the bot's `open_id`,
    and is asked for messages in a group, where only those count that name the bot."""
    try:
        document = mapping(parsed(payload))
    except ValueError:
        return None
    header, event = mapping(document.get("header")), mapping(document.get("event"))
    match text(header.get("event_type")):
        case "im.message.receive_v1":
            return _message(event, own_id)
        case "card.action.trigger":
            return _press(header, event)
    return None


def _press(header: JsonObject, event: JsonObject) -> Incoming | None:
    place = mapping(event.get("context"))
    sender = text(mapping(event.get("operator")).get("open_id"))
    below, chat = text(place.get("open_message_id")), text(place.get("open_chat_id"))
    reply = text(mapping(mapping(event.get("action")).get("value")).get(REPLY))
    number = text(header.get("event_id"))
    if not (sender and below and chat and reply and number):
        return None
    return Incoming(f"{below}:{number}", sender, chat, reply, _moment(header), answers=below)


def _message(event: JsonObject, own_id: Callable[[], str]) -> Incoming | None:
    said = mapping(event.get("message"))
    sender = text(mapping(mapping(event.get("sender")).get("sender_id")).get("open_id"))
    id, chat = text(said.get("message_id")), text(said.get("chat_id"))
    if not (sender and id and chat):
        return None
    people = [mapping(each) for each in items(said.get("mentions"))]
    is_group = text(said.get("chat_type")) != "p2p"
    names = {text(each.get("key")): _name(each) for each in people if text(each.get("key"))}
    if is_group:
        own = own_id()
        called = {text(each.get("key")) for each in people if text(mapping(each.get("id")).get("open_id")) == own}
        if not called:
            return None
        names |= dict.fromkeys(called, "")
    told = _with_names(_told(text(said.get("message_type")), text(said.get("content"))), names)
    return Incoming(id, sender, chat, told, _moment(said), is_group, text(said.get("parent_id")))


def _told(kind: str, content: str) -> str:
    """The text of a message; empty for a kind that has none, such as a picture."""
    try:
        document = mapping(parsed(content.encode()))
    except ValueError:
        return ""
    if kind == "text":
        return text(document.get("text"))
    if kind == "post":
        lines = ["".join(_parts(items(row))) for row in items(document.get("content"))]
        return "\n".join(filter(None, [text(document.get("title")), *lines]))
    return ""


def _parts(row: Sequence[Json]) -> Iterator[str]:
    """The texts of one line of a rich text: words, links with their address, names, code."""
    for each in map(mapping, row):
        told, address = text(each.get("text")), text(each.get("href"))
        match text(each.get("tag")):
            case "a":
                yield f"{told} ({address})" if address and address != told else told
            case "at":
                yield text(each.get("user_id"))
            case "text" | "code_block":
                yield told


def _with_names(told: str, names: dict[str, str]) -> str:
    """The text with people's names in place of their numbers (`@_user_1`), the longest number first."""
    for key in sorted(names, key=len, reverse=True):
        told = told.replace(key, names[key])
    return told.strip().encode("utf-8", "replace").decode()


def _name(person: JsonObject) -> str:
    """A person's name as one short line: they choose it themselves, and it stands in another one's words."""
    return f"@{escape_line(' '.join(text(person.get('name')).split()))[:_NAME]}"


def _moment(fields: JsonObject) -> datetime:
    """The time of an event, whose first ten digits are the seconds, whatever fractions follow."""
    digits = text(fields.get("create_time"))[:10]
    return datetime.fromtimestamp(int(digits) if digits.isascii() and digits.isdigit() else 0, UTC)
