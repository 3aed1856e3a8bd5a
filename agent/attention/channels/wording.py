"""A message as plain text: inert, shortened to what the service takes, with the replies that decide it."""

import re
from collections.abc import Callable
from typing import TypeAlias

from agent.attention.channels.channel import Choice, Message
from agent.escape import escape, escape_line
from agent.texts import Language, text

Size: TypeAlias = Callable[[str], int]
"""The length of a text as the service counts it: characters, or bytes."""
_WORD = re.compile(r"\w+")
_TITLE = 200
"""The most characters of a title."""
_NAME = 40
"""The most characters of a person's name."""


def name_of_person(name: str) -> str:
    """A person's name as one short line: they choose it themselves, and it stands beside another one's words."""
    return escape_line(" ".join(name.split()))[:_NAME]


def title_of(message: Message) -> str:
    """The title as one inert line of at most `_TITLE` characters."""
    return shortened(escape_line(" ".join(message.title.split())), _TITLE)


def body_of(
    message: Message, language: Language, most: int = 0, *, replies: bool, elsewhere: bool = False, size: Size = len
) -> str:
    """The inert text below the title, of at most `most` (0: of any length).

    The replies that decide it are named where the person can `replies` in words, unless the text says how to reply, and
    where they can only do so `elsewhere`. They, and the word that it may have been shown before, are always whole.
    """
    after = []
    if message.choices and (elsewhere or (replies and not _is_named(message))):
        each = [_reply(choice) for choice in message.choices]
        key = "channels.elsewhere" if elsewhere else "channels.reply"
        after.append(text(key, language, replies=text("channels.or", language).join(each)))
    if message.again:
        after.append(text("channels.again", language))
    body = escape(message.text).strip()
    if most:
        room = most - sum(size(line) + 2 for line in after)
        body = shortened(body, max(room, 0), size)
    return "\n\n".join(filter(None, [body, *after]))


def _is_named(message: Message) -> bool:
    """True if the text has what all replies have: the code of what is decided."""
    shared = set.intersection(*(set(choice.reply.split()) for choice in message.choices))
    return bool(shared) and shared <= set(_WORD.findall(message.text))


def _reply(choice: Choice) -> str:
    """A reply with what it stands for, unless it begins with these words."""
    is_plain = choice.reply.casefold().startswith(f"{choice.label.casefold()} ")
    return choice.reply if is_plain else f"{choice.reply} ({escape_line(choice.label)})"


def whole_of(
    message: Message, language: Language, most: int, *, replies: bool, elsewhere: bool = False, size: Size = len
) -> str:
    """Title and text together, of at most `most`; as `body_of`."""
    title = title_of(message)
    room = max(most - size(title) - 1, 1) if most else 0
    body = body_of(message, language, room, replies=replies, elsewhere=elsewhere, size=size)
    return "\n".join(filter(None, (title, body)))


def shortened(content: str, most: int, size: Size = len) -> str:
    """The beginning of a text with an ellipsis, of at most `most`; the whole text if it fits."""
    if size(content) <= most:
        return content
    low, high = 0, len(content)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if size(content[:middle] + "…") <= most else (low, middle - 1)
    return content[:low].rstrip() + "…" if most >= size("…") else ""
