"""Events of Lark as messages: what a person writes to the bot, and the buttons of cards that they press.

Lark may give an event twice, also with another `event_id`: a message is known by its `message_id`, as its
documentation says, and a press by the event. Only texts, and the parts of rich texts of which typed ones are made, are
their sender's; what is passed on, cards, and whatever else there may be is somebody else's.
"""

from collections.abc import Callable, Iterator
from datetime import datetime

from agent.attention.channels.channel import FileKind, Incoming, SentFile
from agent.attention.channels.lark import REPLY
from agent.attention.channels.wording import name_of_person
from agent.llm.messages import JsonObject, items, mapping, moment, parsed, text

_FIELDS = (
    "message_id root_id parent_id thread_id create_time update_time chat_id chat_type message_type content mentions "
    "user_agent"
)
_TYPED = frozenset(_FIELDS.split())
"""The fields of a message whose text its sender has typed."""
_PARTS = frozenset({"text", "a", "at", "code_block", "emotion", "img", "media", "hr"})
"""The parts of rich texts that are typed, or have no text."""
_TEXT_KEYS = frozenset({"text", "content", "title", "name", "value", "plain_text"})
_MOST_TEXTS = 200


def parse_event(payload: bytes, own_id: Callable[[], str]) -> Incoming | None:
    """The message that an event stands for; None for any other event. `own_id` returns the bot's `open_id`, and is
    asked for messages in a group, where those that do not name the bot are only overheard."""
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
    message = mapping(event.get("message"))
    sender = text(mapping(mapping(event.get("sender")).get("sender_id")).get("open_id"))
    id, chat = text(message.get("message_id")), text(message.get("chat_id"))
    if not (sender and id and chat):
        return None
    people = [mapping(each) for each in items(message.get("mentions"))]
    is_group = text(message.get("chat_type")) != "p2p"
    names = {text(each.get("key")): _name(each) for each in people if text(each.get("key"))}
    if is_group:
        own = own_id()
        called = {text(each.get("key")) for each in people if text(mapping(each.get("id")).get("open_id")) == own}
        if not called:
            return _overheard(message, sender if _is_typed(event, message) else "", names)
        names |= dict.fromkeys(called, "")
    own, foreign = _typed_and_quoted(text(message.get("message_type")), text(message.get("content")))
    if not _is_typed(event, message):
        own, foreign = "", "\n".join(filter(None, (own, foreign)))
    own, answers = _with_names(own, names), text(message.get("parent_id"))
    details = (own, _moment(message), is_group, answers, _with_names(foreign, names))
    return Incoming(id, sender, chat, *details, thread=_thread(message), files=tuple(_files(event, message, id)))


def _files(event: JsonObject, message: JsonObject, id: str) -> Iterator[SentFile]:
    """The voice message, picture or file that a message is; its reference names the message, too."""
    try:
        content = mapping(parsed(text(message.get("content")).encode("utf-8", "replace")))
    except ValueError:
        return
    kind, short = text(message.get("message_type")), id[-8:]
    found: dict[str, tuple[FileKind, str, str]] = {
        "image": ("picture", "image_key", f"picture {short}.png"),
        "audio": ("voice", "file_key", f"voice {short}.opus"),
        "file": ("file", "file_key", text(content.get("file_name")) or f"file {short}"),
    }
    if kind in found and (key := text(content.get(found[kind][1]))):
        file_kind, _, name = found[kind]
        yield SentFile(file_kind, name, f"{id}/{key}", is_own=_is_typed(event, message))


def _is_typed(event: JsonObject, message: JsonObject) -> bool:
    """True for a message that a person has typed, rather than passed on."""
    return text(mapping(event.get("sender")).get("sender_type")) in ("user", "") and message.keys() <= _TYPED


def _overheard(message: JsonObject, sender: str, names: dict[str, str]) -> Incoming | None:
    """What somebody says in a group, not to the bot; None without words."""
    kind, content = text(message.get("message_type")), text(message.get("content"))
    words, sender = _with_names(_all_words(kind, content), names), sender if _typed_and_quoted(kind, content)[0] else ""
    id, chat = text(message.get("message_id")), text(message.get("chat_id"))
    what = (_moment(message), True, "", words)
    return Incoming(id, sender, chat, "", *what, thread=_thread(message), is_overheard=True) if words else None


def quoted_text(found: JsonObject, app_id: str) -> str:
    """The text of a message as the service gives it for its id; empty for one of the app's own."""
    sender = mapping(found.get("sender"))
    if text(sender.get("sender_type")) == "app" and text(sender.get("id")) == app_id:
        return ""
    people = [mapping(each) for each in items(found.get("mentions"))]
    names = {text(each.get("key")): _name(each) for each in people if text(each.get("key"))}
    return _with_names(_all_words(text(found.get("msg_type")), text(mapping(found.get("body")).get("content"))), names)


def _thread(message: JsonObject) -> str:
    """The id of the topic, else of the first message of the row of answers that a message belongs to."""
    return text(message.get("thread_id")) or text(message.get("root_id"))


def _all_words(kind: str, content: str) -> str:
    """All words of a message, whoever has typed them."""
    return "\n".join(filter(None, _typed_and_quoted(kind, content)))


def _typed_and_quoted(kind: str, content: str) -> tuple[str, str]:
    """The text that the sender of a message has typed, and the text of others; both are empty for a kind that has no
    text, such as a picture."""
    try:
        document = mapping(parsed(content.encode("utf-8", "replace")))
    except ValueError:
        return "", ""
    if kind == "text":
        return text(document.get("text")), ""
    if kind != "post":
        return "", "\n".join(_all_texts(document)) if kind == "interactive" else ""
    rows = [[*map(mapping, items(row))] for row in items(document.get("content"))]
    lines = ["".join(map(_part, row)) for row in rows]
    others = [
        words for row in rows for each in row if text(each.get("tag")) not in _PARTS for words in _all_texts(each)
    ]
    return "\n".join(filter(None, [text(document.get("title")), *lines])), "\n".join(others)


def _part(each: JsonObject) -> str:
    """The typed text of a part of a rich text: words, links with their address, names, code."""
    words, address = text(each.get("text")), text(each.get("href"))
    match text(each.get("tag")):
        case "a":
            return f"{words} ({address})" if address and address != words else words
        case "at":
            return text(each.get("user_id"))
        case "text" | "code_block":
            return words
    return ""


def _all_texts(document: JsonObject) -> list[str]:
    """The texts in a document of a form that is not known, such as a card."""
    found, waiting = list[str](), [*document.items()][::-1]
    while waiting and len(found) < _MOST_TEXTS:
        key, value = waiting.pop()
        if isinstance(value, str) and key in _TEXT_KEYS:
            found.append(text(value))
        waiting += [*mapping(value).items()][::-1]
        waiting += [(key, each) for each in items(value)][::-1]
    return [each for each in found if each.strip()]


def _with_names(words: str, names: dict[str, str]) -> str:
    """The text with people's names in place of their numbers (`@_user_1`), the longest number first."""
    for key in sorted(names, key=len, reverse=True):
        words = words.replace(key, names[key])
    return words.strip().encode("utf-8", "replace").decode()


def _name(person: JsonObject) -> str:
    return f"@{name_of_person(text(person.get('name')))}"


def _moment(fields: JsonObject) -> datetime:
    """The time of an event, whose first ten digits are the seconds, whatever fractions follow."""
    digits = text(fields.get("create_time"))[:10]
    return moment(int(digits) if digits.isascii() and digits.isdigit() else 0)
