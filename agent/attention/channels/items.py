"""The edge between a channel and what others have sent to it: an item that cannot be read stops nothing."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from agent.attention.channels.channel import Incoming, UnreadItem
from agent.dataclass import dataclass
from agent.errors import AgentError

_Item = TypeVar("_Item")
_MOST_REASON = 200


@dataclass(frozen=True, slots=True)
class ReadItems:
    """The messages in some items, in order, and the items that could not be read."""

    messages: Sequence[Incoming]
    unread: Sequence[UnreadItem]


def read_items(
    items: Iterable[_Item], parse: Callable[[_Item], Incoming | None], data: Callable[[_Item], bytes]
) -> ReadItems:
    """Parse each item; raises only `AgentError`. `data` returns the bytes that an unreadable one is kept as."""
    messages: list[Incoming] = []
    unread: list[UnreadItem] = []
    for each in items:
        try:
            message = parse(each)
        except AgentError:  # the service, which was asked for something, not the item
            raise
        except Exception as error:  # noqa: BLE001 - strangers choose every byte: none may end the channel
            unread.append(UnreadItem(_bytes_of(each, data), reason_of(error)))
            continue
        if message is not None:
            messages.append(message)
    return ReadItems(messages, unread)


def _bytes_of(item: _Item, data: Callable[[_Item], bytes]) -> bytes:
    try:
        return data(item)
    except (ValueError, RecursionError, MemoryError):
        return b""


def reason_of(error: Exception) -> str:
    """Why something cannot be read, in one short line."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:_MOST_REASON]
