"""Updates of Telegram as messages: what their sender has typed, and what is somebody else's.

The list is one of the good (https://core.telegram.org/bots/api#message): the fields of a message that say nothing of
another author. A message with any other field was not typed by its sender beyond doubt, such as one that was sent
through another bot (`via_bot`), passed on, or written in the name of a chat.
"""

from collections.abc import Collection, Iterator
from itertools import pairwise

from agent.attention.channels.channel import FileKind, Incoming, SentFile
from agent.attention.channels.wording import name_of_person
from agent.llm.messages import JsonObject, items, mapping, moment, number, text

_FIELDS = (
    "message_id message_thread_id from chat date edit_date text caption entities caption_entities link_preview_options "
    "has_protected_content is_topic_message media_group_id effect_id show_caption_above_media has_media_spoiler "
    "photo video voice audio document animation video_note sticker location contact venue dice sender_boost_count "
    "paid_star_count is_from_offline sender_tag direct_messages_topic"
)
_TYPED = frozenset(_FIELDS.split())
"""The fields of a message whose text its sender has typed."""
_BESIDE = frozenset({"reply_to_message", "quote", "external_reply", "reply_to_story", "reply_to_checklist_task_id"})
"""The fields that stand beside typed text, with a message that it answers: the text of that is not the sender's."""
_KINDS = (
    "mention hashtag cashtag bot_command url email phone_number bold italic underline strikethrough spoiler code pre "
    "text_link text_mention custom_emoji date_time"
)
_MARKED_UP = frozenset(_KINDS.split())
"""The kinds of marked parts of a text that are typed; others are quotations, or not known."""


def is_group(message: JsonObject) -> bool:
    """True for a message in a chat of several people."""
    return text(mapping(message.get("chat")).get("type")) != "private"


def account_id(account: JsonObject) -> str:
    """The number of an account or a chat, which may be below zero; empty without one."""
    value = account.get("id")
    is_number = isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 62
    return str(value) if is_number else ""


def parse_press(pressed: JsonObject) -> Incoming | None:
    """The message that a pressed button stands for; None for a press without a chat."""
    below = mapping(pressed.get("message"))
    chat, message_id = account_id(mapping(below.get("chat"))), number(below.get("message_id"))
    sender, data = account_id(mapping(pressed.get("from"))), text(pressed.get("data"))
    if not (chat and sender):
        return None
    id, at = f"{chat}:{message_id}:{text(pressed.get('id'))}", moment(number(below.get("date")))
    return Incoming(id, sender, chat, data, at, is_group(below), f"{chat}:{message_id}", thread=_topic(below))


def parse_message(message: JsonObject, me: JsonObject) -> Incoming | None:
    """The message; in a group it is to the bot `me` if it names the bot or answers it."""
    chat, message_id = account_id(mapping(message.get("chat"))), number(message.get("message_id"))
    sender = account_id(mapping(message.get("from")))
    before = mapping(message.get("reply_to_message"))
    own, foreign = _typed(message)
    author = mapping(before.get("from"))
    is_answer = author.get("is_bot") is True  # in a private chat, there is no other bot
    if is_group(message):
        name = f"@{text(me.get('username'))}"
        is_answer = bool(account_id(me)) and account_id(author) == account_id(me)
        named = [each for each in _mentions(message) if each.casefold() == name.casefold()]
        if not is_answer and not named:
            return _overheard(message, chat, sender)
        for each in named:
            own = own.replace(each, "").strip()
    if not chat or not sender:
        return None
    answers = f"{chat}:{number(before.get('message_id'))}" if before else ""
    ours = account_id(author) if is_answer else ""
    foreign = "\n\n".join(filter(None, (foreign, _beside(message, before, {sender, ours}))))
    at = moment(number(message.get("date")))
    details = (own.strip(), at, is_group(message), answers, foreign)
    files, name = tuple(_files(message, message_id)), _author(message)
    return Incoming(f"{chat}:{message_id}", sender, chat, *details, thread=_topic(message), author=name, files=files)


def _files(message: JsonObject, message_id: int) -> Iterator[SentFile]:
    """The voice message, picture or file of a message; of a picture, its largest size.

    A recording from the files of a phone (`audio`) may be anybody's: what is said in it is not its sender's own.
    """
    is_own = message.keys() <= _TYPED | _BESIDE and mapping(message.get("from")).get("is_bot") is not True
    sizes = [mapping(each) for each in items(message.get("photo"))]
    picture = max(sizes, key=lambda each: number(each.get("file_size")), default={})
    found: tuple[tuple[FileKind, JsonObject, str], ...] = (
        ("voice", mapping(message.get("voice")), f"voice {message_id}.ogg"),
        ("voice", mapping(message.get("audio")), f"audio {message_id}.mp3"),
        ("picture", picture, f"picture {message_id}.jpg"),
        ("file", mapping(message.get("document")), f"file {message_id}"),
    )
    for kind, each, name in found:
        if id := text(each.get("file_id")):
            size, is_spoken = number(each.get("file_size")), "audio" not in message
            yield SentFile(kind, text(each.get("file_name")) or name, id, size, is_own and is_spoken)


def _overheard(message: JsonObject, chat: str, sender: str) -> Incoming | None:
    """What somebody says in a group, not to the bot; None without words."""
    if not (chat and sender and _text(message).strip()):
        return None
    id, at = f"{chat}:{number(message.get('message_id'))}", moment(number(message.get("date")))
    sender, author = (sender, _author(message)) if _typed(message)[0] else ("", "")
    what = (at, True, "", _text(message).strip())
    return Incoming(id, sender, chat, "", *what, thread=_topic(message), is_overheard=True, author=author)


def _author(message: JsonObject) -> str:
    account = mapping(message.get("from"))
    return name_of_person(f"{text(account.get('first_name'))} {text(account.get('last_name'))}")


def _topic(message: JsonObject) -> str:
    """The number of the topic or of the thread of answers that a message of a group belongs to."""
    return str(number(message.get("message_thread_id")) or "")


def _text(message: JsonObject) -> str:
    return text(message.get("text")) or text(message.get("caption"))


def _typed(message: JsonObject) -> tuple[str, str]:
    """The text of a message that its sender has typed, and the rest of it."""
    content = _text(message)
    if not message.keys() <= _TYPED | _BESIDE or mapping(message.get("from")).get("is_bot") is True:
        return "", content
    units = content.encode("utf-16-le", "surrogatepass")
    length = len(units) // 2
    spans = [
        (start, min(start + count, length))
        for kind, start, count in _entities(message)
        if kind not in _MARKED_UP and start < length
    ]
    parts: tuple[list[bytes], list[bytes]] = [], []
    for begin, end in pairwise(sorted({0, length, *(at for span in spans for at in span)})):
        parts[any(start <= begin and end <= stop for start, stop in spans)].append(units[2 * begin : 2 * end])
    return _joined(parts[0]), _joined(parts[1])


def _joined(parts: list[bytes]) -> str:
    return "\n".join(filter(None, (part.decode("utf-16-le", "replace").strip() for part in parts)))


def _beside(message: JsonObject, before: JsonObject, known: Collection[str]) -> str:
    """The text of others that a message answers; none, if it is of the `known` accounts: ours, and its sender's."""
    is_known = account_id(mapping(before.get("from"))) in known and before.keys() <= _TYPED | {"reply_markup"}
    if before and is_known and "external_reply" not in message:
        return ""
    quoted = [_text(before), text(mapping(message.get("quote")).get("text"))]
    return "\n".join(dict.fromkeys(filter(None, map(str.strip, quoted))))


def _entities(message: JsonObject) -> Iterator[tuple[str, int, int]]:
    """The kind, the place and the length of each marked part; Telegram counts places in UTF-16 units."""
    for each in (*items(message.get("entities")), *items(message.get("caption_entities"))):
        entity = mapping(each)
        yield text(entity.get("type")), number(entity.get("offset")), number(entity.get("length"))


def _mentions(message: JsonObject) -> Iterator[str]:
    """The names with an @ in a text."""
    units = _text(message).encode("utf-16-le", "surrogatepass")
    for kind, start, length in _entities(message):
        if kind == "mention":
            yield units[2 * start : 2 * (start + length)].decode("utf-16-le", "replace")
